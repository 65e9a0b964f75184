"""The same pair again and again, and the same reply everywhere: counted, and capped if asked.

An exact copy of a pair has its input and its response word for word. Copypasta is a response of
some length that stands in several pairs: people paste it.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any
from zlib import crc32

import apache_beam as beam
import google_crc32c
import numpy as np
from apache_beam.pvalue import TaggedOutput
from apache_beam.typehints import no_annotations

from data_pipeline.card.statistics import COPIES, COUNTS, Tally
from data_pipeline.execution.blocks import Block, Transport, read_blocks
from data_pipeline.execution.packing import (
    PackRows,
    RowsByKey,
    as_row,
    read_pairs,
)
from data_pipeline.execution.report import TALLY
from data_pipeline.reddit.join import PAIRS_A_BATCH, Pair

COPYPASTA_CHARACTERS = 50
"""A shorter response that recurs is only something that people say."""
COPYPASTA_COPIES = 3
"""A long response that stands in as many pairs is copypasta."""
DUPLICATE_PAIRS = "duplicate_pairs"
COPYPASTA_REPLIES = "copypasta_replies"

_HASH = np.dtype("<u8")
_PAIRS, _RESPONSES = "pairs", "responses"


def _hash(text: bytes) -> int:
    """64 bits, the same on every machine; two checksums are cheaper than a digest."""
    return crc32(text) << 32 | google_crc32c.value(text)


def _hash_of_pair(pair: Pair) -> int:
    return crc32(pair.input.encode()) << 32 | crc32(pair.response.encode())


class CapCopies(beam.PTransform):
    """Batches of pairs -> the same, of equal pairs only the first few by the replies' ids."""

    def __init__(self, most: int, transport: Transport, *, buckets: int):
        super().__init__()
        self._most = most
        self._transport = transport
        self._buckets = buckets

    @no_annotations  # Beam has no type hint for several collections
    def expand(self, pairs: beam.PCollection) -> tuple[beam.PCollection, beam.PCollection]:
        """Returns the pairs to keep and the tallies of `copies_dropped`."""
        kept, tally = (
            pairs
            | "Pack by their words"
            >> beam.ParDo(PackRows(self._transport, partial(_rows_by_words, buckets=self._buckets)))
            | "Bring equal pairs together" >> beam.GroupByKey()
            | "Keep the first copies"
            >> beam.ParDo(_KeepFirst(self._most)).with_outputs(TALLY, main="kept")
        )
        return kept, tally


def _rows_by_words(pairs: list[Pair], *, buckets: int) -> RowsByKey:
    rows: dict[int, bytearray] = defaultdict(bytearray)
    for pair in pairs:
        rows[_hash_of_pair(pair) % buckets] += as_row(pair)
    return rows


class _KeepFirst(beam.DoFn):
    def __init__(self, most: int):
        self._most = most

    def process(self, element: tuple[int, Iterable[Block]]) -> Iterator[Any]:
        _, blocks = element
        pairs = [pair for batch in read_pairs(blocks) for pair in batch]
        pairs.sort(key=lambda pair: (pair.response_id, pair.input_id))
        copies: Counter = Counter()
        kept: list[Pair] = []
        for pair in pairs:
            words = pair.input, pair.response
            copies[words] += 1
            if copies[words] <= self._most:
                kept.append(pair)
        for start in range(0, len(kept), PAIRS_A_BATCH):
            yield kept[start : start + PAIRS_A_BATCH]
        dropped = len(pairs) - len(kept)
        yield TaggedOutput(TALLY, {COUNTS: Counter(copies_dropped=dropped)})


class CountCopies(beam.PTransform):
    """Batches of pairs -> tallies of `duplicate_pairs` and `copypasta_replies`."""

    def __init__(self, transport: Transport, *, buckets: int):
        super().__init__()
        self._transport = transport
        self._buckets = buckets

    def expand(self, pairs: beam.PCollection) -> beam.PCollection:
        """Brings hashes of equal words together and counts them."""
        return (
            pairs
            | "Hash the words"
            >> beam.ParDo(
                PackRows(self._transport, partial(_hashes_by_bucket, buckets=self._buckets))
            )
            | "Bring equal hashes together" >> beam.GroupByKey()
            | "Count the copies" >> beam.Map(_count)
        )


def _hashes_by_bucket(pairs: list[Pair], *, buckets: int) -> RowsByKey:
    hashes: dict[tuple[str, int], array] = defaultdict(lambda: array("Q"))
    for pair in pairs:
        words = _hash_of_pair(pair)
        hashes[_PAIRS, words % buckets].append(words)
        if len(pair.response) >= COPYPASTA_CHARACTERS:
            response = _hash(pair.response.encode())
            hashes[_RESPONSES, response % buckets].append(response)
    # Little-endian whatever the machine, since the counting may be on another one.
    return {
        key: bytearray(np.asarray(some, np.uint64).astype(_HASH).tobytes())
        for key, some in hashes.items()
    }


def _count(element: tuple[tuple[str, int], Iterable[Block]]) -> Tally:
    (kind, _), blocks = element
    hashes = np.frombuffer(b"".join(read_blocks(blocks)), _HASH)
    _, copies = np.unique(hashes, return_counts=True)
    if kind == _PAIRS:
        return {COPIES: Counter({DUPLICATE_PAIRS: int(copies.sum()) - len(copies)})}
    pasted = int(copies[copies >= COPYPASTA_COPIES].sum())
    return {COPIES: Counter({COPYPASTA_REPLIES: pasted})}
