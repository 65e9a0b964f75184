"""The Beam job: Reddit comment dumps -> TFRecord input-response pairs.

    python -m data_pipeline reddit --input 'dumps/RC_2015-*.zst' --output pairs/

The graph, in reading order:

    dump files ─▶ lines ─▶ comments, filtered ─▶ buckets of ids ─▶ pairs
                     │                                               │
                     └─▶ dead letters ─▶ shards ◀── train or test ◀──┘

Elements are batches, not comments: see `pairing`. A file that cannot be read to its end is
reported instead of raised, so that no runner tries it again and all bad files are named.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
import orjson
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics
from apache_beam.pvalue import AsList, AsSingleton, TaggedOutput

from data_pipeline.comments import MalformedLineError, parse_comment
from data_pipeline.dumps import Dump, LineBatch, UnreadableDumpError, read_line_batches
from data_pipeline.filters import rule_that_drops
from data_pipeline.output import write_file
from data_pipeline.pairing import BatchPacker, PackedBatch, pair_bucket
from data_pipeline.shards import DEAD_LETTERS, Shard, Sharding, WriteShard, dead_letter
from data_pipeline.statistics import add_up

UNREADABLE = "unreadable"
COUNTS = "counts"
CHUNKS = "chunks"
LINES_BETWEEN_SIGNS = 1_000_000
"""A sign of life in the log, whatever runs the job, after this many lines of a file."""

_LOG = logging.getLogger(__name__)


class Plan(NamedTuple):
    """All that the graph depends on."""

    dumps: list[Dump]
    folder: str
    """Where shards and the report are written, aside from the published files."""
    sharding: Sharding
    buckets: int
    """How many buckets of comment ids the join has; one is held in memory at a time."""


class ReadLines(beam.DoFn):
    """A dump -> its lines in batches; a file that cannot be read -> its error."""

    def process(self, dump: Dump) -> Iterator[Any]:
        """Yields `LineBatch`es."""
        lines = 0
        try:
            for batch in read_line_batches(dump):
                before, lines = lines, lines + len(batch.lines)
                if before // LINES_BETWEEN_SIGNS < lines // LINES_BETWEEN_SIGNS:
                    _LOG.info("reading %s: %s lines so far", dump.path, f"{lines:,}")
                yield batch
        except UnreadableDumpError as error:
            yield TaggedOutput(UNREADABLE, str(error))
            return
        _LOG.info("read %s: %s lines, %.1f MB", dump.path, f"{lines:,}", dump.size / 1e6)


class ParseAndFilter(beam.DoFn):
    """A batch of lines -> its comments packed by bucket, dead letters and counts."""

    def __init__(self, buckets: int):
        self._buckets = buckets

    def process(self, batch: LineBatch) -> Iterator[Any]:
        """Yields (bucket, packed batch) elements."""
        packer, letters = BatchPacker(self._buckets), bytearray()
        counts = Counter(lines=len(batch.lines))
        for number, line in enumerate(batch.lines, start=batch.first_line):
            try:
                comment = parse_comment(line)
            except MalformedLineError as error:
                counts["malformed"] += 1
                letters += dead_letter(
                    path=batch.path, line_number=number, reason=str(error), line=line
                )
                continue
            packer.add(comment, rule_that_drops(comment))
        yield from packer.packed(path=batch.path, first_line=batch.first_line)
        yield TaggedOutput(COUNTS, counts)
        if letters:
            yield TaggedOutput(CHUNKS, ((DEAD_LETTERS, 0), bytes(letters)))


class JoinAndEncode(beam.DoFn):
    """The packed batches of one bucket -> framed records by shard, and counts."""

    def __init__(self, sharding: Sharding):
        self._sharding = sharding

    def process(self, element: tuple[int, Iterable[PackedBatch]]) -> Iterator[Any]:
        """Yields (shard, framed records) elements."""
        _, batches = element
        pairs, counts = pair_bucket(batches)
        frames_by_shard, split_counts = self._sharding.encode(pairs)
        yield from frames_by_shard.items()
        yield TaggedOutput(COUNTS, counts + split_counts)


class CountInRunnerMetrics(beam.DoFn):
    """Passes counts on, and shows them in the runner's own metrics while the job runs."""

    def process(self, counts: Counter) -> Iterator[Counter]:
        """Yields what it is given."""
        for name, count in counts.items():
            Metrics.counter("reddit", name).inc(count)
        yield counts


def build(pipeline: beam.Pipeline, plan: Plan) -> None:
    """Adds the whole job to a pipeline; `report_path` tells what came of it."""
    lines, unreadable = (
        pipeline
        | "List the dump files" >> beam.Create(plan.dumps)
        | "Spread the files over the workers" >> beam.Reshuffle()
        | "Read lines" >> beam.ParDo(ReadLines()).with_outputs(UNREADABLE, main="lines")
    )
    comments, read_counts, dead_letters = lines | "Parse and filter comments" >> beam.ParDo(
        ParseAndFilter(plan.buckets)
    ).with_outputs(COUNTS, CHUNKS, main="comments")
    records, join_counts = (
        comments
        | "Bring parents and replies together" >> beam.GroupByKey()
        | "Join replies to their parents"
        >> beam.ParDo(JoinAndEncode(plan.sharding)).with_outputs(COUNTS, main="records")
    )
    every_shard = pipeline | "List the shards" >> beam.Create(
        [(shard, b"") for shard in plan.sharding.all_shards()]
    )
    written = (
        (records, dead_letters, every_shard)
        | "Take records, dead letters and empty shards" >> beam.Flatten()
        | "Bring each shard together" >> beam.GroupByKey()
        | "Write the shards" >> beam.ParDo(WriteShard(plan.folder, plan.sharding))
    )
    counts = (
        (read_counts, join_counts)
        | "Take the counts of reading and joining" >> beam.Flatten()
        | "Show the counts while running" >> beam.ParDo(CountInRunnerMetrics())
        | "Add up the counts" >> beam.CombineGlobally(add_up)
    )
    _ = (
        pipeline
        | "Begin the report" >> beam.Create([report_path(plan.folder)])
        | "Write the report"
        >> beam.Map(
            _write_report,
            counts=AsSingleton(counts),
            unreadable=AsList(unreadable),
            written=AsList(written),
        )
    )


def report_path(folder: str) -> str:
    """The file in which the job says what it counted and what it could not read."""
    return FileSystems.join(folder, "report.json")


def _write_report(
    path: str, *, counts: Counter, unreadable: list[str], written: list[Shard]
) -> None:
    """`written` is empty; taking it makes the report wait for the shards."""
    del written
    write_file(path, orjson.dumps({"counts": counts, "unreadable": sorted(unreadable)}))
