"""The Beam graph that counts the words and bigrams of published pairs.

    pair files ─▶ counts of a file ─▶ partitions by hash ─▶ summed, rare ones dropped, sorted
                                                                       │
                                     words.tsv, bigrams.tsv ◀── merged ┘

All counts of a token are in one partition; the last stage merges sorted files of
`token TAB count`, and holds one line of each.
"""

import heapq
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any, BinaryIO

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList, TaggedOutput

from data_pipeline.execution.columns import crc32_of
from data_pipeline.execution.exchange import Block, Exchange, received
from data_pipeline.execution.report import COUNTS, TALLY, UNREADABLE, ShardFile, add_report
from data_pipeline.pairs.reader import read_texts
from data_pipeline.storage.filesystem import NewFile, Tap, open_stored, write_file
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.vocabulary.tokenizer import BEGIN, END, tokenize

WORDS = "words"
BIGRAMS = "bigrams"
KINDS = (WORDS, BIGRAMS)
INPUTS = "inputs"
SUFFIX = ".tsv"
_MOST_BIGRAMS = 1_000_000
"""A worker holds no more distinct ones at once: some 150 MB."""
_MERGED_BYTES = 1 << 20
_LOG = logging.getLogger(__name__)

TOKENS = pa.schema(
    [
        pa.field("kind", pa.int8()),
        pa.field("token", pa.binary()),
        pa.field("count", pa.int64()),
        pa.field("responses", pa.int64()),
    ]
)
"""A counted token: the index of its kind in `KINDS`, and how often it and how many responses that
hold it occur in some texts."""


def count_file(file: InputFile) -> Iterator[Any]:
    """A file of pairs -> batches of `TOKENS`; an unreadable file -> its error."""
    tap = Tap()
    tokens: dict[str, Counter] = {kind: Counter() for kind in KINDS}
    in_responses: dict[str, Counter] = {kind: Counter() for kind in KINDS}
    counts = Counter(records=0, texts=0)
    try:
        for texts in read_texts(file, tap):
            counts.update(records=1, texts=len(texts))
            for is_response, text in enumerate(texts):
                for kind, some in tokens_of(text).items():
                    tokens[kind].update(some)
                    if is_response:
                        in_responses[kind].update(set(some))
            if len(tokens[BIGRAMS]) >= _MOST_BIGRAMS:
                yield from _take(tokens, in_responses)
    except UnreadableFileError as error:
        yield TaggedOutput(UNREADABLE, str(error))
        return
    yield from _take(tokens, in_responses)
    yield TaggedOutput(TALLY, {COUNTS: counts})
    yield TaggedOutput(INPUTS, file.describe(tap))
    _LOG.info("counted %s: %s pairs", file.path, f"{counts['records']:,}")


def _take(tokens: dict[str, Counter], in_responses: dict[str, Counter]) -> Iterator[pa.RecordBatch]:
    """The counts, which are empty afterwards."""
    for kind, (name, counter) in enumerate(tokens.items()):
        responses = [in_responses[name][token] for token in counter]
        columns = [[kind] * len(counter), list(counter), list(counter.values()), responses]
        arrays = [
            pa.array(column, field.type) for column, field in zip(columns, TOKENS, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, schema=TOKENS)
        counter.clear()
        in_responses[name].clear()


def by_token(counts: pa.RecordBatch, *, partitions: int) -> tuple[pa.RecordBatch, np.ndarray]:
    """The counts, and their keys: a partition of a kind."""
    partition = crc32_of(counts.column("token")).astype(np.int64) % partitions
    return counts, partition * len(KINDS) + counts.column("kind").to_numpy()


def tokens_of(text: str | bytes) -> dict[str, list[bytes]]:
    """The words and bigrams of a text, with marks, as `model.text` makes ids of them.

    A text has as many bigrams as words: the words are its tokens and the end mark, the bigrams
    go from (begin mark, first token) to (last token, end mark).
    """
    words = [*tokenize(text), END]
    before = (BEGIN, *words)
    bigrams = [b"%b %b" % pair for pair in zip(before, words, strict=False)]
    return {WORDS: words, BIGRAMS: bigrams}


def sum_partition(
    element: tuple[int, Iterable[Block | None]],
    *,
    folder: str,
    min_counts: dict[str, int],
    min_responses: int,
) -> Iterator[Any]:
    """(key, blocks of counts) -> (kind, file of the kept rows, sorted).

    A second try writes the same file.
    """
    key, blocks = element
    partition, index = divmod(key, len(KINDS))
    kind = KINDS[index]
    counts = pa.Table.from_batches([received(blocks, TOKENS)])
    total = counts.group_by("token").aggregate([("count", "sum"), ("responses", "sum")])
    kept = total.filter(
        (pc.field("count_sum") >= min_counts[kind]) & (pc.field("responses_sum") >= min_responses)
    ).sort_by([("count_sum", "descending"), ("token", "ascending")])
    tokens, times = kept["token"].to_pylist(), kept["count_sum"].to_pylist()
    path = FileSystems.join(folder, f"{kind}-{partition:05d}")
    write_file(path, b"".join(map(b"%b\t%d\n".__mod__, zip(tokens, times, strict=True))))
    yield kind, path
    about = {
        "distinct": total.num_rows,
        "kept": kept.num_rows,
        "occurrences": pc.sum(total["count_sum"], min_count=0).as_py(),
        "occurrences_of_kept": sum(times),
    }
    yield TaggedOutput(
        TALLY, {COUNTS: Counter({f"{kind}/{name}": number for name, number in about.items()})}
    )


def merge(element: tuple[str, Iterable[str]], *, folder: str) -> ShardFile:
    """(kind, files of its partitions) -> one file, by descending count, then by token."""
    kind, paths = element
    name = f"{kind}{SUFFIX}"
    records = 0
    with ExitStack() as stack:
        file = stack.enter_context(NewFile(FileSystems.join(folder, name)))
        parts = [stack.enter_context(open_stored(path)) for path in sorted(set(paths))]
        waiting = bytearray()
        for times, token in heapq.merge(*map(_rows, parts)):
            waiting += b"%b\t%d\n" % (token, -times)
            records += 1
            if len(waiting) >= _MERGED_BYTES:
                file.write(bytes(waiting))
                waiting.clear()
        file.write(bytes(waiting))
    return ShardFile(name, "", file.size, file.crc32c, records)


def _rows(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for row in stream:
        token, _, times = row.rpartition(b"\t")
        yield -int(times), token


def build(
    pipeline: beam.Pipeline,
    files: list[InputFile],
    *,
    exchange: Exchange,
    partitions: int,
    min_counts: dict[str, int],
    min_responses: int,
) -> None:
    """Adds the whole job to a pipeline; its last step writes the report.

    Args:
      pipeline: to add the job to.
      files: of pairs.
      exchange: how rows travel; everything is written into its folder.
      partitions: of each kind; a worker holds one in memory. The output does not depend on it.
      min_counts: kind -> least count to keep.
      min_responses: least number of responses that hold a kept token.
    """
    folder = exchange.folder
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
    sent = counts | "Send counts by token" >> exchange.send(
        partial(by_token, partitions=partitions)
    )
    nothing = [(key, None) for key in range(partitions * len(KINDS))]
    every_partition = pipeline | "List the partitions" >> beam.Create(nothing, reshuffle=False)
    sorted_files, sum_tally = (
        (sent, every_partition)
        | "Add empty partitions" >> beam.Flatten()
        | "Group counts by partition" >> beam.GroupByKey()
        | "Sum and sort each partition"
        >> beam.FlatMap(
            sum_partition, folder=folder, min_counts=min_counts, min_responses=min_responses
        ).with_outputs(TALLY, main="files")
    )
    written = (
        sorted_files
        | "Group files by kind" >> beam.GroupByKey()
        | "Merge them" >> beam.Map(merge, folder=folder)
    )
    add_report(
        pipeline,
        folder,
        tallies=[read_tally, sum_tally],
        unreadable=unreadable,
        files=written,
        inputs=AsList(inputs),
    )
