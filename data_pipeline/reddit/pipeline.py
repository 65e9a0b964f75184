"""The Beam graph: Reddit comment dumps -> input-response pairs.

    python -m data_pipeline reddit --input 'dumps/RC_2015-*.zst' --output pairs/

In reading order:

    dumps ─▶ comments, parsed, filtered and packed ─▶ partitions of comment ids ─▶ pairs
                                                                                     │
               shard files ◀── split by hash ◀── decontaminated, deduplicated ◀── context turns

Elements are blocks of many comments (`shuffle`) or batches of pairs. A file that cannot be read
to its end is reported instead of raised, so that no runner tries it again and all bad files are
named.
"""

import gc
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.pvalue import AsSingleton, TaggedOutput

from data_pipeline.cache.cached_input import CachedInput
from data_pipeline.cache.input_cache import InputCache
from data_pipeline.card.statistics import COUNTS, TALLY, a_few, describe
from data_pipeline.execution.progress import JOINING, READING, Note
from data_pipeline.execution.report import UNREADABLE, add_report
from data_pipeline.execution.shuffle import Block, PackRows, Pair, RowsByKey, Transport
from data_pipeline.files.inputs import InputFile, UnreadableFileError
from data_pipeline.files.output_folder import DEAD_LETTERS, EXCLUDED
from data_pipeline.pairs.decontamination import EXCLUDED as EXCLUDED_PAIRS
from data_pipeline.pairs.decontamination import Decontaminate
from data_pipeline.pairs.deduplication import CapCopies, CountCopies
from data_pipeline.pairs.shards import Sharding, WriteLines, WriteShard
from data_pipeline.reddit.context import AddContextTurn
from data_pipeline.reddit.filters import Rules
from data_pipeline.reddit.join import pair_partition
from data_pipeline.reddit.options import Settings

_LOG = logging.getLogger(__name__)


class Plan(NamedTuple):
    """Everything that the graph depends on."""

    inputs: list[InputFile]
    cache: InputCache
    folder: str
    """Where shards, notes and the report are written, apart from the published files."""
    inline: bool
    """Whether blocks hold their bytes, or stay in files (`shuffle`)."""
    settings: Settings

    def transport(self) -> Transport:
        """How blocks of pairs travel."""
        return Transport(self.folder, inline=self.inline)


_Read = tuple[int, CachedInput]
"""Position of a file among the inputs, and its cached input."""


class ReadInput(beam.DoFn):
    """(position, input file) -> (position, cached input); an unreadable file -> its error."""

    def __init__(self, plan: Plan):
        self._cache = plan.cache
        self._folder = plan.folder

    def setup(self) -> None:
        """Called once in each worker."""
        _collect_garbage_rarely()

    def process(self, element: tuple[int, InputFile]) -> Iterator[Any]:
        """Reads a file unless it is cached."""
        position, file = element
        note = Note(self._folder, READING, f"{position:06d}")
        cached = self._cache.find(file)
        if cached is None:
            try:
                cached = self._read(file, note)
            except UnreadableFileError as error:
                yield TaggedOutput(UNREADABLE, str(error))
                return
            lines = cached.about["counts"]["lines"]
            _LOG.info("read %s: %s lines, %.1f MB", file.path, f"{lines:,}", file.size / 1e6)
        else:
            _count(Counter(cached.about["counts"]))
            lines = 0
            _LOG.info("%s is cached", file.path)
        note.write(done=file.size, lines=lines, finished=True)
        yield TaggedOutput(TALLY, {COUNTS: Counter(cached.about["counts"])})
        yield position, cached

    def _read(self, file: InputFile, note: Note) -> CachedInput:
        lines = 0

        def watch(stored_bytes: int, counts: Counter) -> None:
            nonlocal lines
            lines += counts["lines"]
            _count(counts)
            note.write(done=stored_bytes, lines=lines)

        return self._cache.read(file, watch)


def _collect_garbage_rarely() -> None:
    """Makes Python look for reference cycles less often; called once in each worker.

    By default it looks after every few hundred new objects. A join holds hundreds of thousands
    of rows and no cycles, and would spend a tenth of its time on it.
    """
    gc.set_threshold(100_000, 50, 100)


class ReadBlocks(beam.DoFn):
    """(position, cached input) -> (partition, block of comments) elements."""

    def __init__(self, plan: Plan):
        self._partitions = plan.settings.partitions
        self._inline = plan.inline

    def process(self, element: _Read) -> Iterator[tuple[int, Block]]:
        """Yields a block for each pack and partition."""
        position, cached = element
        yield from cached.blocks(
            position=position, partitions=self._partitions, inline=self._inline
        )


class Join(beam.DoFn):
    """The blocks of one partition -> batches of pairs, and their counts."""

    def __init__(self, plan: Plan):
        self._folder = plan.folder
        self._rule_names = Rules(plan.settings.selection).names
        self._with_parents = plan.settings.sharding.context_turns > 0

    def setup(self) -> None:
        """Called once in each worker."""
        _collect_garbage_rarely()

    def process(self, element: tuple[int, Iterable[Block]]) -> Iterator[Any]:
        """Yields lists of pairs."""
        partition, blocks = element
        for pairs, counts in pair_partition(
            blocks, rule_names=self._rule_names, with_parents=self._with_parents
        ):
            _count(counts)
            yield pairs
            yield TaggedOutput(TALLY, {COUNTS: counts})
        Note(self._folder, JOINING, f"{partition:05d}").write(done=1, finished=True)


def _count(counts: Counter) -> None:
    """Adds counts to the runner's own metrics, to watch the job by."""
    for name, count in counts.items():
        Metrics.counter("reddit", name).inc(count)


def build(pipeline: beam.Pipeline, plan: Plan) -> None:
    """Adds the whole job to a pipeline; its last step writes the report."""
    settings = plan.settings
    cached, read_tally, unreadable = (
        pipeline
        | "List the input files" >> beam.Create(sorted(enumerate(plan.inputs), key=_largest_first))
        | "Distribute the files over the workers" >> beam.Reshuffle()
        | "Read each file"
        >> beam.ParDo(ReadInput(plan)).with_outputs(TALLY, UNREADABLE, main="cached")
    )
    comments = cached | "Send comments to their partitions" >> beam.ParDo(ReadBlocks(plan))
    pairs, join_tally = (
        comments
        | "Group comments by partition" >> beam.GroupByKey()
        | "Join replies to their parents"
        >> beam.ParDo(Join(plan)).with_outputs(TALLY, main="pairs")
    )
    tallies = [read_tally, join_tally]
    for turn in range(settings.sharding.context_turns):
        add_turn = AddContextTurn(plan.transport(), partitions=settings.partitions)
        pairs = (pairs, comments) | f"Add context turn {turn}" >> add_turn
    selected = _select(pairs, plan)
    pairs = selected.pairs
    shards = _write_shards(pipeline, pairs, plan)
    tallies += [*selected.tallies, *_describe(pairs, plan)]
    letters = cached | "Write the dead letters" >> WriteLines(
        plan.folder, DEAD_LETTERS, read=_dead_letters, most=settings.limits.max_dead_letters
    )
    files = (shards, letters, *selected.files) | "List the files written" >> beam.Flatten()
    few = pairs | "Pick example pairs" >> beam.CombineGlobally(a_few)
    add_report(
        pipeline,
        plan.folder,
        tallies=tallies,
        unreadable=unreadable,
        files=files,
        examples=AsSingleton(few),
    )


def _largest_first(element: tuple[int, InputFile]) -> int:
    """Runners that deal out the files in turn give each worker about as much."""
    return -element[1].size


def _dead_letters(element: _Read) -> Iterator[bytes]:
    return element[1].dead_letters()


class _Selected(NamedTuple):
    pairs: beam.PCollection
    tallies: list[beam.PCollection]
    files: list[beam.PCollection]


def _select(pairs: beam.PCollection, plan: Plan) -> _Selected:
    """Removes pairs of evaluation sets and surplus copies, where that is asked for."""
    settings, tallies, files = plan.settings, [], []
    if settings.excluded is not None:
        pairs, lines, tally = pairs | "Remove pairs of evaluation sets" >> beam.ParDo(
            Decontaminate(settings.excluded)
        ).with_outputs(EXCLUDED_PAIRS, TALLY, main="pairs")
        files.append(lines | "Write the removed pairs" >> WriteLines(plan.folder, EXCLUDED))
        tallies.append(tally)
    if settings.max_copies_of_pair is not None:
        cap = CapCopies(
            settings.max_copies_of_pair, plan.transport(), partitions=settings.partitions
        )
        pairs, tally = pairs | "Remove surplus copies" >> cap
        tallies.append(tally)
    return _Selected(pairs, tallies, files)


def _describe(pairs: beam.PCollection, plan: Plan) -> list[beam.PCollection]:
    """Tallies of the pairs for the data card."""
    count = CountCopies(plan.transport(), partitions=plan.settings.partitions)
    return [
        pairs | "Count lengths, subreddits and months" >> beam.Map(describe),
        pairs | "Count copies" >> count,
    ]


def _write_shards(pipeline: beam.Pipeline, pairs: beam.PCollection, plan: Plan) -> beam.PCollection:
    """Writes the shard files, also the empty ones."""
    sharding = plan.settings.sharding
    rows = pairs | "Split and pack pairs by shard" >> beam.ParDo(
        PackRows(plan.transport(), _RowsByShard(sharding))
    )
    nothing = [(shard, None) for shard in sharding.all_shards()]
    every_shard = pipeline | "List the shards" >> beam.Create(nothing)
    return (
        (rows, every_shard)
        | "Add empty shards" >> beam.Flatten()
        | "Group pairs by shard" >> beam.GroupByKey()
        | "Write the shards" >> beam.ParDo(WriteShard(plan.folder, sharding))
    )


class _RowsByShard:
    def __init__(self, sharding: Sharding):
        self._sharding = sharding

    def __call__(self, pairs: list[Pair]) -> RowsByKey:
        rows, counts = self._sharding.rows_by_shard(pairs)
        _count(counts)
        return rows
