"""The Beam graph: files of messages -> input-response pairs.

    python -m data_pipeline reddit --input 'dumps/RC_2015-*.zst' --output pairs/

In reading order:

    files ─▶ messages, judged by the rules ─▶ partitions of message ids ─▶ pairs
                                                                             │
         shard files ◀── split by hash ◀── decontaminated, deduplicated ◀── context turns

Elements are Arrow batches of many messages or pairs, or blocks of them (`exchange`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import AsList, AsSingleton, TaggedOutput

from data_pipeline.card.statistics import a_few, describe, some_of
from data_pipeline.execution.exchange import Block, Exchange
from data_pipeline.execution.progress import JOINING, Note
from data_pipeline.execution.report import COUNTS, TALLY, UNREADABLE, add_report
from data_pipeline.job import join, turns
from data_pipeline.job.context import AddContextTurn
from data_pipeline.job.read import INPUTS, LETTERS, ReadShare, count, dead_letter_lines
from data_pipeline.job.rows import pairs_of_rows
from data_pipeline.job.settings import Settings
from data_pipeline.job.threads import add_threads
from data_pipeline.pairs.decontamination import EXCLUDED as EXCLUDED_PAIRS
from data_pipeline.pairs.decontamination import decontaminate
from data_pipeline.pairs.deduplication import cap_copies, count_copies
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.pairs.shards import Sharding, WriteLines, write_shard
from data_pipeline.sources.source import Layout, Source
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.output_folder import DEAD_LETTERS, EXCLUDED


class Plan(NamedTuple):
    """Everything that the graph depends on."""

    inputs: list[InputFile]
    """Files, and parts of large ones, in reading order."""
    shares: list[list[InputFile]]
    """The same, by who reads them: each worker's share, or each for itself."""
    source: Source
    exchange: Exchange
    """Shards, notes and the report are written into its folder, too."""
    settings: Settings

    @property
    def folder(self) -> str:
        """Where the job writes, apart from the published files."""
        return self.exchange.folder


def build(pipeline: beam.Pipeline, plan: Plan) -> None:
    """Adds the whole job to a pipeline; its last step writes the report."""
    settings = plan.settings
    messages, read_tally, inputs, letters, unreadable = (
        pipeline
        | "List the input files" >> beam.Create(_numbered_shares(plan), reshuffle=False)
        | "Distribute the files over the workers" >> beam.Reshuffle()
        | "Read each file"
        >> beam.ParDo(
            ReadShare(plan.source, plan.folder, max_dead_letters=settings.limits.max_dead_letters)
        )
        .with_output_types(pa.RecordBatch)
        .with_outputs(TALLY, INPUTS, LETTERS, UNREADABLE, main="messages")
    )
    pairs, join_tally = _pair(messages, plan)
    selected = _select(pairs, plan)
    pairs = selected.pairs
    shards = _write_shards(pipeline, pairs, plan)
    tallies = [
        read_tally,
        join_tally,
        *selected.tallies,
        pairs | "Count lengths, subreddits and months" >> beam.Map(describe),
        count_copies(pairs, plan.exchange, partitions=settings.partitions),
    ]
    dead_letters = letters | "Write the dead letters" >> WriteLines(
        plan.folder, DEAD_LETTERS, read=dead_letter_lines, most=settings.limits.max_dead_letters
    )
    files = (shards, dead_letters, *selected.files) | "List the files written" >> beam.Flatten()
    some = pairs | "Pick pairs of each batch" >> beam.Map(some_of)
    few = some | "Pick example pairs" >> beam.CombineGlobally(a_few).without_defaults()
    add_report(
        pipeline,
        plan.folder,
        tallies=tallies,
        unreadable=unreadable,
        files=files,
        inputs=AsList(inputs),
        examples=AsSingleton(few, default_value=[]),
    )


def _numbered_shares(plan: Plan) -> list[list[tuple[int, InputFile]]]:
    positions = {file: position for position, file in enumerate(plan.inputs)}
    # Largest first: runners that deal out the shares in turn give each worker about as much.
    in_order = sorted(plan.shares, key=lambda share: -sum(file.stored_bytes for file in share))
    return [[(positions[file], file) for file in share] for share in in_order]


def _pair(messages: beam.PCollection, plan: Plan) -> tuple[beam.PCollection, beam.PCollection]:
    """Batches of messages -> batches of pairs, and their counts."""
    exchange, source, partitions = plan.exchange, plan.source, plan.settings.partitions
    rule_names, context_turns = list(source.rule_names), plan.settings.sharding.context_turns
    if source.layout is Layout.ROWS:
        return messages | "Make pairs of rows" >> (
            beam.FlatMap(pairs_of_rows, rule_names=rule_names)
            .with_output_types(pa.RecordBatch)
            .with_outputs(TALLY, main="pairs")
        )
    if source.layout is Layout.TURNS:
        by_thread = partial(turns.by_thread, partitions=partitions)
        messages = (
            messages
            | "Send turns by thread" >> exchange.send(by_thread)
            | "Group turns by thread" >> beam.GroupByKey()
            | "Link each turn to the one before"
            >> beam.FlatMap(turns.link).with_output_types(pa.RecordBatch)
        )
    own = messages | "Send messages by id" >> exchange.send(
        partial(join.by_id, partitions=partitions), columns=join.OWN_SCHEMA.names
    )
    replies = messages | "Send replies by parent" >> exchange.send(
        partial(join.by_parent, partitions=partitions), columns=join.REPLIES_SCHEMA.names
    )
    pairs, tally = (
        {join.OWN_MESSAGES: own, join.REPLIES: replies}
        | "Group messages by partition" >> beam.CoGroupByKey()
        | "Join replies to their parents"
        >> beam.FlatMap(
            join_partition,
            folder=plan.folder,
            rule_names=rule_names,
            context_turns=context_turns,
        )
        .with_output_types(pa.RecordBatch)
        .with_outputs(TALLY, main="pairs")
    )
    for turn in range(context_turns):
        add_turn = AddContextTurn(exchange, turn=turn, turns=context_turns, partitions=partitions)
        pairs = (pairs, own) | f"Add context turn {turn}" >> add_turn
    if source.layout is Layout.LINKED_THREADS:
        pairs = add_threads(pairs, messages)
    return pairs, tally


def join_partition(
    element: tuple[int, dict[str, Iterable[Block]]],
    *,
    folder: str,
    rule_names: Sequence[str],
    context_turns: int,
) -> Iterator[Any]:
    """(partition, its messages and replies) -> batches of pairs; tagged, their counts."""
    partition, blocks = element
    for pairs, counts in join.pair_partition(
        blocks, rule_names=rule_names, context_turns=context_turns
    ):
        count(counts)
        yield pairs
        yield TaggedOutput(TALLY, {COUNTS: counts})
    Note(folder, JOINING, f"{partition:05d}").write(done=1, finished=True)


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
        pairs, tally = cap_copies(
            pairs,
            settings.max_copies_of_pair,
            plan.exchange,
            partitions=settings.partitions,
            schema=pairs_schema(settings.sharding.context_turns),
        )
        tallies.append(tally)
    return _Selected(pairs, tallies, files)


def _write_shards(pipeline: beam.Pipeline, pairs: beam.PCollection, plan: Plan) -> beam.PCollection:
    """Writes the shard files, also the empty ones."""
    sharding = plan.settings.sharding
    rows = pairs | "Split pairs and send them to their shards" >> plan.exchange.send(
        partial(_rows_by_shard, sharding=sharding)
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
    count(counts)
    return rows, shards
