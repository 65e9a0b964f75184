"""The Beam graph that counts the words and bigrams of published pairs.

    pair files ─▶ counts of a file ─▶ partitions by hash ─▶ summed, rare ones dropped
                                                                      │
                                     words.tsv, bigrams.tsv ◀── sorted ┘

All counts of a token are in one partition. The last stage holds all kept rows of a list, as whoever
reads the list does.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList, TaggedOutput

from data_pipeline.execution.columns import content_of, crc32_of
from data_pipeline.execution.exchange import Block, Exchange, received
from data_pipeline.execution.report import (
    COUNTS,
    INPUTS,
    TALLY,
    UNREADABLE,
    ShardFile,
    add_report,
)
from data_pipeline.pairs.reader import read_texts
from data_pipeline.storage.filesystem import Tap, write_file
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.vocabulary.tokenizer import BEGIN, END, tokenize

WORDS = "words"
BIGRAMS = "bigrams"
KINDS = (WORDS, BIGRAMS)
SUFFIX = ".tsv"
_MOST_BIGRAMS = 1_000_000
"""A worker holds no more distinct ones at once: some 150 MB."""
_LOG = logging.getLogger(__name__)

TOKENS = pa.schema(
    [
        pa.field("kind", pa.int8()),
        pa.field("token", pa.large_binary()),
        pa.field("count", pa.int64()),
        pa.field("responses", pa.int64()),
    ]
)
"""A counted token: the index of its kind in `KINDS`, and how often it and how many responses that
hold it occur in some texts."""


def count_file(file: InputFile) -> Iterator[Any]:
    """A file of pairs -> batches of `TOKENS`; an unreadable file -> its error."""
    tap = Tap()
    counters: list[tuple[Counter, Counter]] = [(Counter(), Counter()) for _ in KINDS]
    pairs = 0
    try:
        for texts in read_texts(file, tap):
            pairs += 1
            for is_response, text in enumerate(texts):
                for (times, responses), tokens in zip(counters, tokens_of(text), strict=True):
                    times.update(tokens)
                    if is_response:
                        responses.update(set(tokens))
            if len(counters[-1][0]) >= _MOST_BIGRAMS:
                yield from _take(counters)
    except UnreadableFileError as error:
        yield TaggedOutput(UNREADABLE, str(error))
        return
    yield from _take(counters)
    yield TaggedOutput(TALLY, {COUNTS: Counter(records=pairs, texts=2 * pairs)})
    yield TaggedOutput(INPUTS, file.describe(tap))
    _LOG.info("counted %s: %s pairs", file.path, f"{pairs:,}")


def tokens_of(text: str | bytes) -> tuple[list[bytes], list[bytes]]:
    """The words and bigrams of a text, with marks, as `model.text` makes ids of them.

    A text has as many bigrams as words: the words are its tokens and the end mark, the bigrams
    go from (begin mark, first token) to (last token, end mark).
    """
    words = [*tokenize(text), END]
    return words, [b"%b %b" % pair for pair in pairwise((BEGIN, *words))]


def _take(counters: list[tuple[Counter, Counter]]) -> Iterator[pa.RecordBatch]:
    """The counts, which are empty afterwards."""
    for kind, (times, responses) in enumerate(counters):
        columns = {
            "kind": [kind] * len(times),
            "token": list(times),
            "count": list(times.values()),
            "responses": [responses[token] for token in times],
        }
        yield pa.RecordBatch.from_pydict(columns, schema=TOKENS)
        times.clear()
        responses.clear()


def by_token(counts: pa.RecordBatch, *, partitions: int) -> tuple[pa.RecordBatch, np.ndarray]:
    """The counts, and their keys: a partition of a kind."""
    partition = crc32_of(counts.column("token")).astype(np.int64) % partitions
    return counts, partition * len(KINDS) + counts.column("kind").to_numpy()


def by_kind(counts: pa.RecordBatch) -> tuple[pa.RecordBatch, np.ndarray]:
    """The counts, and their keys: the index of their kind."""
    return counts, counts.column("kind").to_numpy().astype(np.int64)


def sum_partition(
    element: tuple[int, Iterable[Block]], *, min_count: int, min_responses: int
) -> Iterator[Any]:
    """(key, blocks of counts) -> a batch of the kept ones, summed; tagged, their tally."""
    key, blocks = element
    kind = key % len(KINDS)
    counts = pa.Table.from_batches([received(blocks, TOKENS)])
    total = counts.group_by("token").aggregate([("count", "sum"), ("responses", "sum")])
    total = total.select(["token", "count_sum", "responses_sum"]).rename_columns(TOKENS.names[1:])
    total = total.add_column(0, TOKENS.field("kind"), [pa.array([kind] * len(total), pa.int8())])
    is_kept = (pc.field("count") >= min_count) & (pc.field("responses") >= min_responses)
    kept = total.filter(is_kept).combine_chunks()
    yield from kept.to_batches()
    about = {
        "distinct": total.num_rows,
        "kept": kept.num_rows,
        "occurrences": pc.sum(total["count"], min_count=0).as_py(),
        "occurrences_of_kept": pc.sum(kept["count"], min_count=0).as_py(),
    }
    counter = Counter({f"{KINDS[kind]}/{name}": number for name, number in about.items()})
    yield TaggedOutput(TALLY, {COUNTS: counter})


def write_list(element: tuple[int, Iterable[Block | None]], *, folder: str) -> ShardFile:
    """(kind, blocks of kept counts) -> a file of `token TAB count`, by descending count."""
    kind, blocks = element
    name = f"{KINDS[kind]}{SUFFIX}"
    rows = received(blocks, TOKENS).sort_by([("count", "descending"), ("token", "ascending")])
    tab, line_feed, nothing = (pa.scalar(part, pa.large_binary()) for part in (b"\t", b"\n", b""))
    counts = rows.column("count").cast(pa.large_string()).cast(pa.large_binary())
    lines = pc.binary_join_element_wise(rows.column("token"), tab, counts, line_feed, nothing)
    file = write_file(FileSystems.join(folder, name), content_of(lines))
    return ShardFile(name, "", file.size, file.crc32c, len(lines))


def build(
    pipeline: beam.Pipeline,
    files: list[InputFile],
    *,
    exchange: Exchange,
    partitions: int,
    min_count: int,
    min_responses: int,
) -> None:
    """Adds the whole job to a pipeline; its last step writes the report.

    Args:
      pipeline: to add the job to.
      files: of pairs.
      exchange: how rows travel; everything is written into its folder.
      partitions: of each kind; a worker holds one in memory. The output does not depend on it.
      min_count: least count to keep.
      min_responses: least number of responses that hold a kept token.
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
    nothing = [(kind, None) for kind in range(len(KINDS))]
    every_kind = pipeline | "List the kinds" >> beam.Create(nothing, reshuffle=False)
    written = (
        (sent, every_kind)
        | "Add empty lists" >> beam.Flatten()
        | "Group counts by kind" >> beam.GroupByKey()
        | "Write each list" >> beam.Map(write_list, folder=exchange.folder)
    )
    add_report(
        pipeline,
        exchange.folder,
        tallies=[read_tally, sum_tally],
        unreadable=AsList(unreadable),
        files=AsList(written),
        inputs=AsList(inputs),
    )
