"""The Beam graph that counts the words and bigrams of published pairs.

    pair files ─▶ counts of a file, packed ─▶ parts by hash ─▶ summed, rare ones dropped, sorted
                                                                       │
                                     words.tsv, bigrams.tsv ◀── merged ┘

No element is a word: a file goes in as one, and out come as many blocks of `token TAB count` rows
as there are parts. A token is in one part, so that its sum is whole there; the last stage holds
nothing but a line of each part.
"""

import heapq
import logging
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO, NamedTuple

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList, TaggedOutput

from data_pipeline.card.statistics import COUNTS
from data_pipeline.execution.blocks import (
    Block,
    BlockFile,
    Transport,
    read_blocks,
)
from data_pipeline.execution.job import describe_input
from data_pipeline.execution.report import TALLY, UNREADABLE, add_report
from data_pipeline.files.inputs import Dump, Tap, UnreadableDumpError
from data_pipeline.files.output_folder import open_stored, write_file
from data_pipeline.pairs.reader import read_texts
from data_pipeline.pairs.shards import ShardFile
from data_pipeline.vocabulary.tokenizer import BEGIN, END, tokenize

WORDS = "words"
BIGRAMS = "bigrams"
KINDS = (WORDS, BIGRAMS)
INPUTS = "inputs"
SUFFIX = ".tsv"
_MOST_BIGRAMS = 1_000_000
"""A worker holds no more different ones at once: some 150 MB."""
_MERGED_BYTES = 1 << 20
_LOG = logging.getLogger(__name__)

Part = tuple[str, int]
"""One of `KINDS`, and the index of the part."""


class Plan(NamedTuple):
    """All that the graph depends on."""

    files: list[Dump]
    folder: str
    """Where everything is written, aside from the published files."""
    parts: int
    """How many parts each kind has; a worker holds one in memory. The output is the same."""
    blocks_at_hand: bool
    """See `blocks`."""
    min_counts: dict[str, int]
    """By kind: what occurs less often is dropped."""


class CountFile(beam.DoFn):
    """A file of pairs -> ((kind, part), block of counts) elements, and what was counted."""

    def __init__(self, plan: Plan):
        self._parts = plan.parts
        self._transport = Transport(plan.folder, at_hand=plan.blocks_at_hand)

    def process(self, file: Dump) -> Iterator[Any]:
        """Counts a file; one that cannot be read becomes its error."""
        tap = Tap()
        tokens: dict[str, Counter] = {kind: Counter() for kind in KINDS}
        counts = Counter(records=0, texts=0)
        try:
            for texts in read_texts(file, tap):
                counts.update(records=1, texts=len(texts))
                for text in texts:
                    count(text, tokens)
                if len(tokens[BIGRAMS]) >= _MOST_BIGRAMS:
                    yield from self._flush(tokens)
        except UnreadableDumpError as error:
            yield TaggedOutput(UNREADABLE, str(error))
            return
        yield from self._flush(tokens)
        yield TaggedOutput(TALLY, {COUNTS: counts})
        yield TaggedOutput(INPUTS, describe_input(file, tap))
        _LOG.info("counted %s: %s pairs", file.path, f"{counts['records']:,}")

    def _flush(self, tokens: dict[str, Counter]) -> list[tuple[Part, Block]]:
        packed: list[tuple[Part, Block]] = []
        with self._transport.open() as blocks:
            for kind, counter in tokens.items():
                rows: dict[int, bytearray] = defaultdict(bytearray)
                for token, times in counter.items():
                    rows[zlib.crc32(token) % self._parts] += b"%b\t%d\n" % (token, times)
                packed += [
                    ((kind, part), blocks.append_rows(joined)) for part, joined in rows.items()
                ]
                counter.clear()
        return packed


def count(text: str | bytes, tokens: dict[str, Counter]) -> None:
    """Adds the words and bigrams of a text, marks included, as `model.text` makes ids of them.

    A text has as many bigrams as words: the words are its tokens and the end mark, the bigrams
    go from (begin mark, first token) to (last token, end mark).
    """
    words = [*tokenize(text), END]
    tokens[WORDS].update(words)
    before = (BEGIN, *words)
    tokens[BIGRAMS].update([b"%b %b" % pair for pair in zip(before, words, strict=False)])


class SumPart(beam.DoFn):
    """((kind, part), blocks of counts) -> (kind, file of the kept rows in their order)."""

    def __init__(self, plan: Plan):
        self._plan = plan

    def process(self, element: tuple[Part, Iterable[Block | None]]) -> Iterator[Any]:
        """Sums a part; tried twice it writes the same file twice."""
        (kind, part), blocks = element
        total: Counter = Counter()
        for rows in read_blocks(block for block in blocks if block is not None):
            for row in rows.splitlines():
                token, _, times = row.rpartition(b"\t")
                total[token] += int(times)
        least = self._plan.min_counts[kind]
        kept = sorted((-times, token) for token, times in total.items() if times >= least)
        path = FileSystems.join(self._plan.folder, f"{kind}-{part:05d}")
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


class Merge(beam.DoFn):
    """(kind, files of its parts) -> one file, by falling count and then by token."""

    def __init__(self, folder: str):
        self._folder = folder

    def process(self, element: tuple[str, Iterable[str]]) -> Iterator[ShardFile]:
        """Merges the parts of one kind; yields what is in the file."""
        kind, paths = element
        name = f"{kind}{SUFFIX}"
        records = 0
        with ExitStack() as stack:
            file = stack.enter_context(BlockFile(FileSystems.join(self._folder, name)))
            parts = [stack.enter_context(open_stored(path)) for path in sorted(set(paths))]
            waiting = bytearray()
            for times, token in heapq.merge(*map(_rows, parts)):
                waiting += b"%b\t%d\n" % (token, -times)
                records += 1
                if len(waiting) >= _MERGED_BYTES:
                    file.append(bytes(waiting))
                    waiting.clear()
            file.append(bytes(waiting))
        yield ShardFile(name, "", file.size, file.crc32c, records)


def _rows(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for row in stream:
        token, _, times = row.rpartition(b"\t")
        yield -int(times), token


def build(pipeline: beam.Pipeline, plan: Plan) -> None:
    """Adds the whole job to a pipeline; its report tells what came of it."""
    counts, read_tally, inputs, unreadable = (
        pipeline
        | "List the pair files" >> beam.Create(sorted(plan.files, key=lambda file: -file.size))
        | "Spread the files over the workers" >> beam.Reshuffle()
        | "Count the words of each file"
        >> beam.ParDo(CountFile(plan)).with_outputs(TALLY, INPUTS, UNREADABLE, main="counts")
    )
    nothing = [((kind, part), None) for kind in KINDS for part in range(plan.parts)]
    every_part = pipeline | "List the parts" >> beam.Create(nothing)
    sorted_parts, sum_tally = (
        (counts, every_part)
        | "Take counts and empty parts" >> beam.Flatten()
        | "Bring each part together" >> beam.GroupByKey()
        | "Sum and sort each part" >> beam.ParDo(SumPart(plan)).with_outputs(TALLY, main="parts")
    )
    files = (
        sorted_parts
        | "Bring the parts of a kind together" >> beam.GroupByKey()
        | "Merge them" >> beam.ParDo(Merge(plan.folder))
    )
    add_report(
        pipeline,
        plan.folder,
        tallies=[read_tally, sum_tally],
        unreadable=unreadable,
        files=files,
        inputs=AsList(inputs),
    )
