"""The Beam graph that counts the words and bigrams of published pairs.

    pair files ─▶ counts of a file ─▶ partitions by hash ─▶ summed, rare ones dropped, sorted
                                                                       │
                                     words.tsv, bigrams.tsv ◀── merged ┘

Elements are not words but blocks of `token TAB count TAB responses` rows, one for each file and
partition; `responses` are those that hold the token. All counts of a token are in one partition;
the last stage merges sorted files of `token TAB count`, and holds one line of each.
"""

import heapq
import logging
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList, TaggedOutput

from data_pipeline.card.statistics import COUNTS, TALLY
from data_pipeline.execution.report import UNREADABLE, add_report
from data_pipeline.execution.shuffle import Block, Transport, pack, read_blocks
from data_pipeline.pairs.reader import read_texts
from data_pipeline.pairs.shards import ShardFile
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

Partition = tuple[str, int]
"""One of `KINDS`, and the index of the partition."""


def count_file(file: InputFile, *, transport: Transport, partitions: int) -> Iterator[Any]:
    """A file of pairs -> ((kind, partition), block of counts); an unreadable file -> its error."""
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
                yield from pack(_take(tokens, in_responses, partitions), transport)
    except UnreadableFileError as error:
        yield TaggedOutput(UNREADABLE, str(error))
        return
    yield from pack(_take(tokens, in_responses, partitions), transport)
    yield TaggedOutput(TALLY, {COUNTS: counts})
    yield TaggedOutput(INPUTS, file.describe(tap))
    _LOG.info("counted %s: %s pairs", file.path, f"{counts['records']:,}")


def _take(
    tokens: dict[str, Counter], in_responses: dict[str, Counter], partitions: int
) -> dict[Partition, list[bytes]]:
    """The rows of the counters, which are empty afterwards."""
    rows: dict[Partition, bytearray] = defaultdict(bytearray)
    for kind, counter in tokens.items():
        for token, times in counter.items():
            row = b"%b\t%d\t%d\n" % (token, times, in_responses[kind][token])
            rows[kind, zlib.crc32(token) % partitions] += row
        counter.clear()
        in_responses[kind].clear()
    return {partition: [bytes(some)] for partition, some in rows.items()}


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
    element: tuple[Partition, Iterable[Block | None]],
    *,
    folder: str,
    min_counts: dict[str, int],
    min_responses: int,
) -> Iterator[Any]:
    """((kind, partition), blocks of counts) -> (kind, file of the kept rows, sorted).

    A second try writes the same file.
    """
    (kind, partition), blocks = element
    total: Counter = Counter()
    in_responses: Counter = Counter()
    for rows in read_blocks(block for block in blocks if block is not None):
        for row in bytes(rows).splitlines():
            token, times, responses = row.rsplit(b"\t", 2)
            total[token] += int(times)
            in_responses[token] += int(responses)
    least = min_counts[kind]
    kept = sorted(
        (-times, token)
        for token, times in total.items()
        if times >= least and in_responses[token] >= min_responses
    )
    path = FileSystems.join(folder, f"{kind}-{partition:05d}")
    write_file(path, b"".join(b"%b\t%d\n" % (token, -times) for times, token in kept))
    yield kind, path
    counts = {
        "distinct": len(total),
        "kept": len(kept),
        "occurrences": total.total(),
        "occurrences_of_kept": -sum(times for times, _ in kept),
    }
    tally = Counter({f"{kind}/{name}": number for name, number in counts.items()})
    yield TaggedOutput(TALLY, {COUNTS: tally})


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
    transport: Transport,
    partitions: int,
    min_counts: dict[str, int],
    min_responses: int,
) -> None:
    """Adds the whole job to a pipeline; its last step writes the report.

    Args:
      pipeline: to add the job to.
      files: of pairs.
      transport: how blocks travel; everything is written into its folder.
      partitions: of each kind; a worker holds one in memory. The output does not depend on it.
      min_counts: kind -> least count to keep.
      min_responses: least number of responses that hold a kept token.
    """
    folder = transport.folder
    counts, read_tally, inputs, unreadable = (
        pipeline
        | "List the pair files"
        >> beam.Create(sorted(files, key=lambda file: -file.size), reshuffle=False)
        | "Distribute the files over the workers" >> beam.Reshuffle()
        | "Count the words of each file"
        >> beam.FlatMap(
            count_file,
            transport=transport,
            partitions=partitions,
        ).with_outputs(TALLY, INPUTS, UNREADABLE, main="counts")
    )
    nothing = [((kind, partition), None) for kind in KINDS for partition in range(partitions)]
    every_partition = pipeline | "List the partitions" >> beam.Create(nothing, reshuffle=False)
    sorted_files, sum_tally = (
        (counts, every_partition)
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
