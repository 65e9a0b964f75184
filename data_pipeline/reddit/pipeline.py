"""The Beam job: Reddit comment dumps -> input-response pairs.

    python -m data_pipeline reddit --input 'dumps/RC_2015-*.zst' --output pairs/

The graph, in reading order:

    dump files ─▶ months: comments, filtered and packed ─▶ buckets of ids ─▶ pairs
                                                                              │
              shard files ◀── split by hash ◀── without copies, excluded ◀── earlier turns

Elements are blocks of many comments, or batches of pairs: see `pairing`. A file that cannot be
read to its end is reported instead of raised, so that no runner tries it again and all bad files
are named.
"""

import gc
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.pvalue import AsSingleton, TaggedOutput

from data_pipeline.cache.cached_input import CachedInput, blocks_by_bucket, dead_letters
from data_pipeline.cache.input_cache import Months
from data_pipeline.card.statistics import COUNTS, a_few, describe
from data_pipeline.execution.acceptance import Limits
from data_pipeline.execution.blocks import Block, Transport
from data_pipeline.execution.packing import PackRows, RowsByKey
from data_pipeline.execution.progress import JOINING, READING, Note
from data_pipeline.execution.report import TALLY, UNREADABLE, add_report
from data_pipeline.files.inputs import Dump, UnreadableDumpError
from data_pipeline.files.output_folder import DEAD_LETTERS, EXCLUDED
from data_pipeline.pairs.decontamination import EXCLUDED as EXCLUDED_PAIRS
from data_pipeline.pairs.decontamination import Excluded, TakeOut
from data_pipeline.pairs.deduplication import CapCopies, CountCopies
from data_pipeline.pairs.shards import Sharding, WriteLines, WriteShard
from data_pipeline.reddit.context import EarlierTurn
from data_pipeline.reddit.filters import Rules
from data_pipeline.reddit.join import Pair, pair_bucket

_LOG = logging.getLogger(__name__)


class Plan(NamedTuple):
    """All that the graph depends on."""

    dumps: list[Dump]
    months: Months
    folder: str
    """Where shards, notes and the report are written, aside from the published files."""
    sharding: Sharding
    buckets: int
    """How many buckets of comment ids the join has; each worker holds one in memory."""
    blocks_at_hand: bool
    """Whether rows go through the runner's own shuffle, or stay in files and only their places
    go through it (`blocks`)."""
    max_copies_of_pair: int | None = None
    excluded: Excluded | None = None
    limits: Limits = Limits()

    def transport(self) -> Transport:
        """How blocks of pairs travel."""
        return Transport(self.folder, at_hand=self.blocks_at_hand)


_Read = tuple[int, CachedInput]
"""Position of a dump among the inputs, and what was read of it."""


class ReadMonth(beam.DoFn):
    """(position, dump) -> (position, month); a file that cannot be read -> its error."""

    def __init__(self, plan: Plan):
        self._months = plan.months
        self._folder = plan.folder

    def setup(self) -> None:
        """Called once in each worker."""
        _collect_garbage_rarely()

    def process(self, element: tuple[int, Dump]) -> Iterator[Any]:
        """Reads a dump unless its month is done."""
        position, dump = element
        note = Note(self._folder, READING, f"{position:06d}")
        month = self._months.find(dump)
        if month is None:
            try:
                month = self._read(dump, note)
            except UnreadableDumpError as error:
                yield TaggedOutput(UNREADABLE, str(error))
                return
            lines = month.about["counts"]["lines"]
            _LOG.info("read %s: %s lines, %.1f MB", dump.path, f"{lines:,}", dump.size / 1e6)
        else:
            _count(Counter(month.about["counts"]))
            lines = 0
            _LOG.info("%s was read before", dump.path)
        note.write(done=dump.size, lines=lines, finished=True)
        yield TaggedOutput(TALLY, {COUNTS: Counter(month.about["counts"])})
        yield position, month

    def _read(self, dump: Dump, note: Note) -> CachedInput:
        lines = 0

        def watch(stored_bytes: int, counts: Counter) -> None:
            nonlocal lines
            lines += counts["lines"]
            _count(counts)
            note.write(done=stored_bytes, lines=lines)

        return self._months.read(dump, watch)


def _collect_garbage_rarely() -> None:
    """Lets Python look for cycles less often; a worker calls it once.

    It looks each time that some hundreds of objects more are alive than before. Here are
    hundreds of thousands of rows, and no cycles: a tenth of the time of a join.
    """
    gc.set_threshold(100_000, 50, 100)


class HandOut(beam.DoFn):
    """(position, month) -> (bucket, block of comments) elements."""

    def __init__(self, plan: Plan):
        self._buckets = plan.buckets
        self._at_hand = plan.blocks_at_hand

    def process(self, element: _Read) -> Iterator[tuple[int, Block]]:
        """Yields a block for each bucket and each pack of the month."""
        position, month = element
        yield from blocks_by_bucket(
            month, position=position, buckets=self._buckets, at_hand=self._at_hand
        )


class Join(beam.DoFn):
    """The blocks of one bucket -> batches of pairs, and what was counted."""

    def __init__(self, plan: Plan):
        self._folder = plan.folder
        self._rule_names = Rules(plan.months.selection).names
        self._with_parents = plan.sharding.context_turns > 0

    def setup(self) -> None:
        """Called once in each worker."""
        _collect_garbage_rarely()

    def process(self, element: tuple[int, Iterable[Block]]) -> Iterator[Any]:
        """Yields lists of pairs."""
        bucket, blocks = element
        for pairs, counts in pair_bucket(
            blocks, rule_names=self._rule_names, with_parents=self._with_parents
        ):
            _count(counts)
            yield pairs
            yield TaggedOutput(TALLY, {COUNTS: counts})
        Note(self._folder, JOINING, f"{bucket:05d}").write(done=1, finished=True)


def _count(counts: Counter) -> None:
    """Shows counts in the runner's own metrics while it runs."""
    for name, count in counts.items():
        Metrics.counter("reddit", name).inc(count)


def build(pipeline: beam.Pipeline, plan: Plan) -> None:
    """Adds the whole job to a pipeline; its report tells what came of it."""
    months, read_tally, unreadable = (
        pipeline
        | "List the dump files" >> beam.Create(sorted(enumerate(plan.dumps), key=_largest_first))
        | "Spread the files over the workers" >> beam.Reshuffle()
        | "Read each month"
        >> beam.ParDo(ReadMonth(plan)).with_outputs(TALLY, UNREADABLE, main="months")
    )
    comments = months | "Hand out the comments" >> beam.ParDo(HandOut(plan))
    pairs, join_tally = (
        comments
        | "Bring parents and replies together" >> beam.GroupByKey()
        | "Join replies to their parents"
        >> beam.ParDo(Join(plan)).with_outputs(TALLY, main="pairs")
    )
    tallies = [read_tally, join_tally]
    for turn in range(plan.sharding.context_turns):
        earlier = EarlierTurn(plan.transport(), buckets=plan.buckets)
        pairs = (pairs, comments) | f"Turn {turn} before the input" >> earlier
    selected = _select(pairs, plan)
    pairs = selected.pairs
    shards = _write_shards(pipeline, pairs, plan)
    tallies += [*selected.tallies, *_describe(pairs, plan)]
    letters = months | "Write the dead letters" >> WriteLines(
        plan.folder, DEAD_LETTERS, read=_dead_letters, most=plan.limits.max_dead_letters
    )
    files = (shards, letters, *selected.files) | "List what was written" >> beam.Flatten()
    few = pairs | "Pick examples" >> beam.CombineGlobally(a_few)
    add_report(
        pipeline,
        plan.folder,
        tallies=tallies,
        unreadable=unreadable,
        files=files,
        examples=AsSingleton(few),
    )


def _largest_first(element: tuple[int, Dump]) -> int:
    """Runners that deal the files out in turn give each worker about as much."""
    return -element[1].size


def _dead_letters(element: _Read) -> Iterator[bytes]:
    return dead_letters(element[1])


class _Selected(NamedTuple):
    pairs: beam.PCollection
    tallies: list[beam.PCollection]
    files: list[beam.PCollection]


def _select(pairs: beam.PCollection, plan: Plan) -> _Selected:
    """Takes out copies and what stands in evaluation sets, where that is asked for."""
    tallies, files = [], []
    if plan.excluded is not None:
        pairs, lines, tally = pairs | "Take out what evaluation sets say" >> beam.ParDo(
            TakeOut(plan.excluded)
        ).with_outputs(EXCLUDED_PAIRS, TALLY, main="pairs")
        files.append(lines | "Write what was taken out" >> WriteLines(plan.folder, EXCLUDED))
        tallies.append(tally)
    if plan.max_copies_of_pair is not None:
        cap = CapCopies(plan.max_copies_of_pair, plan.transport(), buckets=plan.buckets)
        pairs, tally = pairs | "Cap the copies" >> cap
        tallies.append(tally)
    return _Selected(pairs, tallies, files)


def _describe(pairs: beam.PCollection, plan: Plan) -> list[beam.PCollection]:
    """What the data card says of the pairs."""
    return [
        pairs | "Describe the pairs" >> beam.Map(describe),
        pairs | "Look for copies" >> CountCopies(plan.transport(), buckets=plan.buckets),
    ]


def _write_shards(pipeline: beam.Pipeline, pairs: beam.PCollection, plan: Plan) -> beam.PCollection:
    """Shard files, the empty ones included."""
    rows = pairs | "Split and pack the pairs by shard" >> beam.ParDo(
        PackRows(plan.transport(), _RowsByShard(plan.sharding))
    )
    nothing = [(shard, None) for shard in plan.sharding.all_shards()]
    every_shard = pipeline | "List the shards" >> beam.Create(nothing)
    return (
        (rows, every_shard)
        | "Take rows and empty shards" >> beam.Flatten()
        | "Bring each shard together" >> beam.GroupByKey()
        | "Write the shards" >> beam.ParDo(WriteShard(plan.folder, plan.sharding))
    )


class _RowsByShard:
    def __init__(self, sharding: Sharding):
        self._sharding = sharding

    def __call__(self, pairs: list[Pair]) -> RowsByKey:
        rows, counts = self._sharding.rows_by_shard(pairs)
        _count(counts)
        return rows
