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

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.metrics import Metrics
from apache_beam.pvalue import AsSingleton, TaggedOutput

from data_pipeline.cache.cached_input import CachedInput
from data_pipeline.cache.input_cache import InputCache
from data_pipeline.cache.parts import dead_letters_of
from data_pipeline.card.statistics import COUNTS, TALLY, a_few, describe, some_of
from data_pipeline.execution.progress import JOINING, READING, Note
from data_pipeline.execution.report import UNREADABLE, add_report
from data_pipeline.execution.shuffle import Block, PackBatches, Transport
from data_pipeline.job.context import AddContextTurn
from data_pipeline.job.join import pair_partition
from data_pipeline.job.rows import pairs_of_rows
from data_pipeline.job.settings import Settings
from data_pipeline.job.threads import add_threads
from data_pipeline.job.turns import LinkTurns
from data_pipeline.pairs.decontamination import EXCLUDED as EXCLUDED_PAIRS
from data_pipeline.pairs.decontamination import decontaminate
from data_pipeline.pairs.deduplication import cap_copies, count_copies
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.pairs.shards import Sharding, WriteLines, write_shard
from data_pipeline.sources.source import Layout
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.output_folder import DEAD_LETTERS, EXCLUDED

_LOG = logging.getLogger(__name__)


class Plan(NamedTuple):
    """Everything that the graph depends on."""

    inputs: list[InputFile]
    """Files, and parts of large ones, in reading order."""
    shares: list[list[InputFile]]
    """The same, by who reads them: each worker's share, or each for itself."""
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


def read_share(
    share: list[tuple[int, InputFile]], *, cache: InputCache, folder: str
) -> Iterator[Any]:
    """(position, input file) of each -> (position, cached input); an unreadable file -> its error.

    The position is the file's among all inputs.
    """
    for position, file in share:
        try:
            cached = _read_input(file, cache, Note(folder, READING, f"{position:06d}"))
        except UnreadableFileError as error:
            yield TaggedOutput(UNREADABLE, str(error))
            continue
        yield TaggedOutput(TALLY, {COUNTS: Counter(cached.about["counts"])})
        yield position, cached


def _read_input(file: InputFile, cache: InputCache, note: Note) -> CachedInput:
    lines = 0

    def watch(stored_bytes: int, counts: Counter) -> None:
        nonlocal lines
        lines += counts["lines"]
        _count(counts)
        note.write(done=stored_bytes, lines=lines)

    cached = cache.find(file)
    if cached is None:
        cached = cache.read(file, watch)
        _LOG.info("read %s: %s lines, %.1f MB", file.shown, f"{lines:,}", file.stored_bytes / 1e6)
    else:
        _count(Counter(cached.about["counts"]))
        _LOG.info("%s is cached", file.shown)
    note.write(done=file.stored_bytes, lines=lines, finished=True)
    return cached


def partition_comments(
    element: _Read, *, partitions: int, inline: bool
) -> Iterator[tuple[int, Block]]:
    """(position, cached input) -> a (partition, block of comments) for each pack and partition."""
    position, cached = element
    yield from cached.blocks(position=position, partitions=partitions, inline=inline)


def join(
    element: tuple[int, Iterable[Block]],
    *,
    folder: str,
    rule_names: list[str],
    context_turns: int,
) -> Iterator[Any]:
    """The blocks of one partition -> batches of pairs; tagged, their counts."""
    partition, blocks = element
    for pairs, counts in pair_partition(blocks, rule_names=rule_names, context_turns=context_turns):
        _count(counts)
        yield pairs
        yield TaggedOutput(TALLY, {COUNTS: counts})
    Note(folder, JOINING, f"{partition:05d}").write(done=1, finished=True)


def _count(counts: Counter) -> None:
    """Adds counts to the runner's own metrics, to watch the job by."""
    for name, count in counts.items():
        Metrics.counter("pairs", name).inc(count)


def build(pipeline: beam.Pipeline, plan: Plan) -> None:
    """Adds the whole job to a pipeline; its last step writes the report."""
    settings = plan.settings
    cached, read_tally, unreadable = (
        pipeline
        | "List the input files" >> beam.Create(_numbered_shares(plan), reshuffle=False)
        | "Distribute the files over the workers" >> beam.Reshuffle()
        | "Read each file"
        >> beam.FlatMap(read_share, cache=plan.cache, folder=plan.folder).with_outputs(
            TALLY, UNREADABLE, main="cached"
        )
    )
    comments = cached | "Send comments to their partitions" >> beam.FlatMap(
        partition_comments, partitions=settings.partitions, inline=plan.inline
    )
    pairs, join_tally = _pair(comments, plan)
    tallies = [read_tally, join_tally]
    selected = _select(pairs, plan)
    pairs = selected.pairs
    shards = _write_shards(pipeline, pairs, plan)
    tallies += [
        *selected.tallies,
        pairs | "Count lengths, subreddits and months" >> beam.Map(describe),
        count_copies(pairs, plan.transport(), partitions=settings.partitions),
    ]
    letters = cached | "Write the dead letters" >> WriteLines(
        plan.folder,
        DEAD_LETTERS,
        read=lambda elements: dead_letters_of(cached for _, cached in elements),
        most=settings.limits.max_dead_letters,
    )
    files = (shards, letters, *selected.files) | "List the files written" >> beam.Flatten()
    some = pairs | "Pick pairs of each batch" >> beam.Map(some_of)
    few = some | "Pick example pairs" >> beam.CombineGlobally(a_few).without_defaults()
    add_report(
        pipeline,
        plan.folder,
        tallies=tallies,
        unreadable=unreadable,
        files=files,
        examples=AsSingleton(few, default_value=[]),
    )


def _numbered_shares(plan: Plan) -> list[list[tuple[int, InputFile]]]:
    positions = {file: position for position, file in enumerate(plan.inputs)}
    # Largest first: runners that deal out the shares in turn give each worker about as much.
    in_order = sorted(plan.shares, key=lambda share: -sum(file.stored_bytes for file in share))
    return [[(positions[file], file) for file in share] for share in in_order]


def _pair(messages: beam.PCollection, plan: Plan) -> tuple[beam.PCollection, beam.PCollection]:
    """(partition, block of messages) -> batches of pairs, and their counts."""
    settings, source = plan.settings, plan.cache.source
    rule_names, turns = list(source.rule_names), settings.sharding.context_turns
    if source.layout is Layout.ROWS:
        make_pairs = beam.FlatMap(pairs_of_rows, rule_names=rule_names)
        pairs, tally = messages | "Make pairs of rows" >> (
            make_pairs.with_output_types(pa.RecordBatch).with_outputs(TALLY, main="pairs")
        )
        return pairs, tally
    if source.layout is Layout.TURNS:
        link = LinkTurns(plan.transport(), partitions=settings.partitions)
        messages = messages | "Link the turns" >> link
    pairs, tally = (
        messages
        | "Group comments by partition" >> beam.GroupByKey()
        | "Join replies to their parents"
        >> beam.FlatMap(
            join,
            folder=plan.folder,
            rule_names=rule_names,
            context_turns=turns,
        )
        .with_output_types(pa.RecordBatch)
        .with_outputs(TALLY, main="pairs")
    )
    for turn in range(turns):
        add_turn = AddContextTurn(
            plan.transport(), turn=turn, turns=turns, partitions=settings.partitions
        )
        pairs = (pairs, messages) | f"Add context turn {turn}" >> add_turn
    if source.layout is Layout.LINKED_THREADS:
        pairs = add_threads(pairs, messages)
    return pairs, tally


class _Selected(NamedTuple):
    pairs: beam.PCollection
    tallies: list[beam.PCollection]
    files: list[beam.PCollection]


def _select(pairs: beam.PCollection, plan: Plan) -> _Selected:
    """Removes pairs of evaluation sets and surplus copies, where that is asked for."""
    settings, tallies, files = plan.settings, [], []
    if settings.excluded is not None:
        pairs, lines, tally = pairs | "Remove pairs of evaluation sets" >> beam.FlatMap(
            decontaminate, excluded=settings.excluded
        ).with_outputs(EXCLUDED_PAIRS, TALLY, main="pairs")
        files.append(lines | "Write the removed pairs" >> WriteLines(plan.folder, EXCLUDED))
        tallies.append(tally)
    if settings.max_copies_of_pair is not None:
        most, partitions = settings.max_copies_of_pair, settings.partitions
        pairs, tally = cap_copies(
            pairs,
            most,
            plan.transport(),
            partitions=partitions,
            schema=pairs_schema(settings.sharding.context_turns),
        )
        tallies.append(tally)
    return _Selected(pairs, tallies, files)


def _write_shards(pipeline: beam.Pipeline, pairs: beam.PCollection, plan: Plan) -> beam.PCollection:
    """Writes the shard files, also the empty ones."""
    sharding = plan.settings.sharding
    rows = pairs | "Split and pack pairs by shard" >> beam.ParDo(
        PackBatches(plan.transport(), partial(_rows_by_shard, sharding=sharding))
    )
    nothing = [(shard, None) for shard in range(len(sharding.all_shards()))]
    every_shard = pipeline | "List the shards" >> beam.Create(nothing, reshuffle=False)
    return (
        (rows, every_shard)
        | "Add empty shards" >> beam.Flatten()
        | "Group pairs by shard" >> beam.GroupByKey()
        | "Write the shards" >> beam.FlatMap(write_shard, folder=plan.folder, sharding=sharding)
    )


def _rows_by_shard(
    pairs: pa.RecordBatch, *, sharding: Sharding
) -> tuple[pa.RecordBatch, np.ndarray]:
    rows, shards = sharding.rows(pairs)
    by_shard = np.bincount(shards, minlength=len(sharding.all_shards())).tolist()
    counts: Counter = Counter()
    for (split, _), pairs_of_shard in zip(sharding.all_shards(), by_shard, strict=True):
        counts[f"{split}_pairs"] += pairs_of_shard
    _count(counts)
    return rows, shards
