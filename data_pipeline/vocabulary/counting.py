"""The Beam graph that counts the words and bigrams of published pairs.

    pair files ─▶ counts of a file ─▶ partitions by hash ─▶ summed, rare ones dropped
                                                                      │
                                     words.tsv, bigrams.tsv ◀── sorted ┘

All counts of a token are in one partition. The last stage holds all kept rows of a list, as whoever
reads the list does.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import AsList, TaggedOutput

from data_pipeline.execution.columns import content_of, crc32_of
from data_pipeline.execution.exchange import Block, Exchange, group_all, received
from data_pipeline.execution.report import COUNTS, INPUTS, TALLY, UNREADABLE, add_report
from data_pipeline.pairs.reader import read_texts
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.output_folder import ShardFile, write_aside
from data_pipeline.vocabulary.tokenizer import BEGIN, END, tokenize

WORDS = "words"
BIGRAMS = "bigrams"
KINDS = (WORDS, BIGRAMS)
_MOST_TOKENS = 1_500_000
"""A worker holds no more distinct ones at once: some 200 MB."""

TOKENS = pa.schema({"token": pa.large_binary(), "count": pa.int64(), "responses": pa.int64()})
"""A word, or a bigram, which has a space: how often it and how many responses that hold it occur
in some texts."""


def count_file(file: InputFile) -> Iterator[Any]:
    """A file of pairs -> batches of `TOKENS`; an unreadable file -> its error."""
    tap = Tap()
    times, responses = Counter[bytes](), Counter[bytes]()
    pairs = 0
    try:
        for text, response in read_texts(file, tap):
            pairs += 1
            tokens = tokens_of(response)
            times.update(tokens_of(text))
            times.update(tokens)
            responses.update(set(tokens))
            if len(times) >= _MOST_TOKENS:
                yield _counted(times, responses)
                times.clear()
                responses.clear()
    except UnreadableFileError as error:
        yield TaggedOutput(UNREADABLE, str(error))
        return
    yield _counted(times, responses)
    yield TaggedOutput(TALLY, {COUNTS: Counter(records=pairs, texts=2 * pairs)})
    yield TaggedOutput(INPUTS, file.describe(tap))


def tokens_of(text: str | bytes) -> list[bytes]:
    """The words and bigrams of a text, with marks, as `model.text` makes ids of them.

    A text has as many bigrams as words: the words are its tokens and the end mark, the bigrams
    go from (begin mark, first token) to (last token, end mark).
    """
    words = [*tokenize(text), END]
    return [*words, *(b"%b %b" % pair for pair in pairwise((BEGIN, *words)))]


def _counted(times: Counter, responses: Counter) -> pa.RecordBatch:
    columns = list(times), list(times.values()), [responses[token] for token in times]
    return pa.RecordBatch.from_pydict(dict(zip(TOKENS.names, columns, strict=True)), schema=TOKENS)


def by_token(counts: pa.RecordBatch, *, partitions: int) -> tuple[pa.RecordBatch, np.ndarray]:
    """The counts, and their partitions."""
    return counts, crc32_of(counts.column("token")).astype(np.int64) % partitions


def by_kind(counts: Any) -> tuple[Any, np.ndarray]:
    """The counts, and their keys: the index of their kind in `KINDS`."""
    is_bigram = pc.match_substring(counts["token"], " ")
    return counts, is_bigram.to_numpy(zero_copy_only=False).astype(int)


def sum_partition(
    element: tuple[int, Iterable[Block]], *, min_count: int, min_responses: int
) -> Iterator[Any]:
    """(partition, blocks of counts) -> a batch of the kept ones, summed; tagged, their tally."""
    counts = pa.Table.from_batches([received(element[1], TOKENS)])
    total = counts.group_by("token").aggregate([("count", "sum"), ("responses", "sum")])
    total = total.rename_columns(TOKENS.names).cast(TOKENS)
    is_kept = (pc.field("count") >= min_count) & (pc.field("responses") >= min_responses)
    kept = total.filter(is_kept).combine_chunks()
    yield from kept.to_batches()
    tally: Counter = Counter()
    of_all, of_kept = (total, "distinct", "occurrences"), (kept, "kept", "occurrences_of_kept")
    for tokens, number, times in (of_all, of_kept):
        kinds = by_kind(tokens)[1]
        for index, kind in enumerate(KINDS):
            tally[f"{kind}/{number}"] = int(np.sum(kinds == index))
            tally[f"{kind}/{times}"] = int(tokens["count"].to_numpy()[kinds == index].sum())
    yield TaggedOutput(TALLY, {COUNTS: tally})


def write_list(element: tuple[int, Iterable[Block | None]], *, folder: str) -> ShardFile:
    """(kind, blocks of kept counts) -> a file of `token TAB count`, by descending count."""
    kind, blocks = element
    name = f"{KINDS[kind]}.tsv"
    rows = received(blocks, TOKENS).sort_by([("count", "descending"), ("token", "ascending")])
    tab, line_feed, nothing = (pa.scalar(part, pa.large_binary()) for part in (b"\t", b"\n", b""))
    counts = rows.column("count").cast(pa.large_string()).cast(pa.large_binary())
    lines = pc.binary_join_element_wise(rows.column("token"), tab, counts, line_feed, nothing)
    return write_aside(folder, name, content_of(lines), records=len(lines))


def build(
    pipeline: beam.Pipeline,
    exchange: Exchange,
    *,
    files: list[InputFile],
    partitions: int,
    min_count: int,
    min_responses: int,
) -> None:
    """Adds the whole job to a pipeline; its last step writes the report.

    A worker holds one of the partitions in memory; the output does not depend on their number.
    """
    counts, read_tally, inputs, unreadable = (
        pipeline
        | "List the pair files"
        >> beam.Create(sorted(files, key=lambda file: -file.size), reshuffle=False)
        | "Distribute the files over the workers" >> beam.Reshuffle()
        | "Count the words of each file"
        >> beam.FlatMap(count_file)
        .with_output_types(pa.RecordBatch)
        .with_outputs(TALLY, INPUTS, UNREADABLE, main="counts")
    )
    kept, sum_tally = (
        counts
        | "Send counts by token" >> exchange.send(partial(by_token, partitions=partitions))
        | "Group counts by partition" >> beam.GroupByKey()
        | "Sum each partition"
        >> beam.FlatMap(sum_partition, min_count=min_count, min_responses=min_responses)
        .with_output_types(pa.RecordBatch)
        .with_outputs(TALLY, main="kept")
    )
    sent = kept | "Send kept counts by kind" >> exchange.send(by_kind)
    written = group_all(sent, keys=len(KINDS)) | "Write each list" >> beam.Map(
        write_list, folder=exchange.folder
    )
    add_report(
        pipeline,
        exchange.folder,
        tallies=[read_tally, sum_tally],
        unreadable=AsList(unreadable),
        files=AsList(written),
        inputs=AsList(inputs),
    )
