"""What a job will do, and its Beam graph: files of messages -> input-response pairs.

    files ─▶ messages, judged by the rules ─▶ partitions of message ids ─▶ pairs
                                                                             │
         shard files ◀── split by hash ◀── decontaminated, deduplicated ◀── context turns

Elements are Arrow batches of many messages or pairs, or blocks of them (`exchange`).
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import AsList, AsSingleton

from data_pipeline.card.data_card import describe
from data_pipeline.execution.exchange import Exchange, group_all
from data_pipeline.execution.report import add_report, add_up, read_each, tallied
from data_pipeline.job import join, turns
from data_pipeline.job.read import read_file
from data_pipeline.job.threads import add_threads
from data_pipeline.pairs.copies import cap_copies, count_in_train
from data_pipeline.pairs.decontamination import REMOVED, Excluded, decontaminate, write_removed
from data_pipeline.pairs.options import ALL, HALVES, PairOptions
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.pairs.shards import Shards, shards_of, write_shard
from data_pipeline.pairs.splits import add_splits
from data_pipeline.sources.halves import Halves
from data_pipeline.sources.source import Layout, Source
from data_pipeline.storage.inputs import InputFile

_INPUT_BYTES_A_PARTITION = 32 << 20
"""Compressed input for one partition of the join; some 300 MB of text."""
_MIN_PARTITIONS = 16
_MOST_PARTITIONS = 1024
_OF_ALL_SOURCES = (
    *("pairs_of", "split_by", "test_fraction", "validation_fraction", "format", "gzip"),
    *("records_per_file", "context_turns", "max_copies_of_pair"),
)
"""Options of all sources that change what is written, beside the shards."""


class Plan(NamedTuple):
    """What the graph and the published folder depend on."""

    options: PairOptions
    source: Source
    shards: Shards
    stored_bytes: int  # of the input; 0 for a sample of it
    partitions: int  # of the join; each worker holds one in memory
    excluded: Excluded | None = None  # the texts of `--exclude_texts`

    def describe(self) -> dict[str, Any]:
        """What of the options, the source's included, makes two jobs the same, as JSON."""
        return {
            **{name: getattr(self.options, name) for name in _OF_ALL_SOURCES},
            **{f"{split}_shards": number for split, number in self.shards.by_split.items()},
            **self.options.describe(),
            "exclude_texts": self.excluded and self.excluded.describe(),
        }


def plan_of(options: PairOptions, files: list[InputFile]) -> Plan:
    """The plan of a job; raises an InputError for files that do not fit or cannot be read."""
    source: Source = options.source(files)
    if options.pairs_of == HALVES:
        source = Halves(source)
    stored_bytes = sum(file.size for file in files) if options.sample is None else 0
    partitions = max(_MIN_PARTITIONS, stored_bytes // _INPUT_BYTES_A_PARTITION)
    excluded = None
    if options.exclude_texts:
        excluded = Excluded(options.exclude_texts, are_halves=options.pairs_of == HALVES)
    return Plan(
        options,
        source,
        shards_of(options, stored_bytes=stored_bytes),
        stored_bytes,
        min(partitions, _MOST_PARTITIONS),
        excluded,
    )


def build(
    pipeline: beam.Pipeline, exchange: Exchange, *, plan: Plan, shares: list[list[InputFile]]
) -> None:
    """Adds the job to a pipeline; all is written into the exchange's folder, the report at last."""
    folder, options, partitions = exchange.folder, plan.options, plan.partitions
    read = partial(read_file, source=plan.source, folder=folder, first=options.sample)
    messages, read_tally, found = read_each(pipeline, shares, read)
    paths = {file.position: file.path for share in shares for file in share}
    pairs, join_tallies = _pair(messages, read_tally, plan, exchange, paths)
    tallies, files = [read_tally, *join_tallies], []
    if plan.excluded is not None:
        pairs, tally, lines = pairs | "Remove pairs of evaluation sets" >> tallied(
            decontaminate, REMOVED, excluded=plan.excluded
        )
        tallies.append(tally)
        removed = lines | "Collect the removed pairs" >> beam.combiners.ToList()
        files.append(removed | "List the removed pairs" >> beam.Map(write_removed, folder))
    if (most := options.max_copies_of_pair) is not None:
        schema = pairs_schema(options.context_turns)
        pairs, tally = cap_copies(pairs, most, exchange, partitions=partitions, schema=schema)
        tallies.append(tally)
    pairs, of_splits = add_splits(pairs, options)
    rows = pairs | "Send pairs to their shards" >> exchange.send(plan.shards.rows)
    files.append(
        group_all(rows, keys=len(plan.shards.listed()))
        | "Write the shards" >> beam.FlatMap(write_shard, folder=folder, shards=plan.shards)
    )
    described = pairs | "Count lengths, subreddits and months" >> beam.Map(describe)
    in_train = count_in_train(pairs, exchange, partitions=partitions)
    add_report(
        pipeline,
        folder,
        tallies=[*tallies, *of_splits, described, in_train],
        files=AsList(files | "List the files written" >> beam.Flatten()),
        **found,
    )


def _pair(
    messages: beam.PCollection,
    read_tally: beam.PCollection,
    plan: Plan,
    exchange: Exchange,
    files: Mapping[int, str],
) -> tuple[beam.PCollection, list[beam.PCollection]]:
    """Messages, their counts, paths of the files by their positions -> pairs, their counts."""
    tallies, source, partitions = [], plan.source, plan.partitions
    rule_names, context_turns = list(source.rule_names), plan.options.context_turns
    by_partition = partial(join.by_partition, partitions=partitions)
    if source.layout is Layout.ROWS:
        of_rows = tallied(join.pairs_of_rows, rule_names=rule_names)
        pairs, tally = messages | "Make pairs of rows" >> of_rows
        return pairs | "Publish ids as they were" >> beam.Map(join.with_published_ids), [tally]
    if source.layout is Layout.ORDERED:
        total = read_tally | "Sum the counts of files" >> beam.CombineGlobally(add_up)
        messages, tally = (
            messages
            | "Send messages by thread" >> exchange.send(partial(by_partition, ids="thread"))
            | "Group messages by thread" >> beam.GroupByKey()
            | "Link messages to those before"
            >> tallied(turns.link, tally=AsSingleton(total), files=files, flow=source.flow)
        )
        tallies.append(tally)
    own = messages | "Send messages by id" >> exchange.send(
        partial(by_partition, ids="id"), columns=join.OWN_SCHEMA.names
    )
    replies = messages | "Send replies by parent" >> exchange.send(
        partial(by_partition, ids="parent"), columns=join.REPLIES_SCHEMA.names
    )
    pairs, tally = (
        {join.OWN_MESSAGES: own, join.REPLIES: replies}
        | "Group messages by partition" >> beam.CoGroupByKey()
        | "Join replies to their parents"
        >> tallied(
            join.pair_partition,
            folder=exchange.folder,
            rule_names=rule_names,
            context_turns=context_turns,
            files=None if source.ids_within == ALL else files,
        )
    )
    more = {"turns": context_turns, "partitions": partitions}
    pairs = join.add_context_turns(pairs, own, exchange, **more)
    if source.layout is Layout.LINKED_THREADS or source.flow.gap is not None:
        pairs = add_threads(pairs, messages)
    pairs = pairs | "Publish ids as they were" >> beam.Map(join.with_published_ids)
    return pairs, [*tallies, tally]
