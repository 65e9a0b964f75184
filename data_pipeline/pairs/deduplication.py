"""Deduplication: copies of pairs and of responses are counted, and capped if asked.

A copy of a pair has the same input and the same response. Copypasta is a long response that
occurs in several pairs.
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

from data_pipeline.card.statistics import COPIES, COUNTS, TALLY, Tally
from data_pipeline.execution.shuffle import (
    PAIRS_A_BATCH,
    Block,
    PackRows,
    Pair,
    RowsByKey,
    Transport,
    as_row,
    read_blocks,
    read_pairs,
)

COPYPASTA_CHARACTERS = 50
"""A shorter response may recur without having been pasted."""
COPYPASTA_COPIES = 3
"""A long response in as many pairs or more is copypasta."""
DUPLICATE_PAIRS = "duplicate_pairs"
COPYPASTA_REPLIES = "copypasta_replies"

_HASH = np.dtype("<u8")
_PAIRS, _RESPONSES = "pairs", "responses"


def _hash_of_pair(pair: Pair) -> int:
    return crc32(pair.input.encode()) << 32 | crc32(pair.response.encode())


def cap_copies(
    pairs: beam.PCollection, most: int, transport: Transport, *, partitions: int
) -> tuple[beam.PCollection, beam.PCollection]:
    """Batches of pairs -> the same with the first `most` of equal pairs, by the replies' ids.

    The second collection holds the tallies of `copies_dropped`.
    """
    rows = PackRows(transport, partial(_rows_by_text, partitions=partitions))
    kept, tally = (
        pairs
        | "Pack pairs by text" >> beam.ParDo(rows)
        | "Group equal pairs" >> beam.GroupByKey()
        | "Keep the first copies"
        >> beam.FlatMap(_keep_first, most=most).with_outputs(TALLY, main="kept")
    )
    return kept, tally


def _rows_by_text(pairs: list[Pair], *, partitions: int) -> RowsByKey:
    rows: dict[int, bytearray] = defaultdict(bytearray)
    for pair in pairs:
        rows[_hash_of_pair(pair) % partitions] += as_row(pair)
    return rows


def _keep_first(element: tuple[int, Iterable[Block]], *, most: int) -> Iterator[Any]:
    _, blocks = element
    pairs = [pair for batch in read_pairs(blocks) for pair in batch]
    pairs.sort(key=lambda pair: (pair.response_id, pair.input_id))
    copies: Counter = Counter()
    kept: list[Pair] = []
    for pair in pairs:
        words = pair.input, pair.response
        copies[words] += 1
        if copies[words] <= most:
            kept.append(pair)
    for start in range(0, len(kept), PAIRS_A_BATCH):
        yield kept[start : start + PAIRS_A_BATCH]
    dropped = len(pairs) - len(kept)
    yield TaggedOutput(TALLY, {COUNTS: Counter(copies_dropped=dropped)})


def count_copies(
    pairs: beam.PCollection, transport: Transport, *, partitions: int
) -> beam.PCollection:
    """Batches of pairs -> tallies of `duplicate_pairs` and `copypasta_replies`."""
    rows = PackRows(transport, partial(_hashes_by_partition, partitions=partitions))
    return (
        pairs
        | "Hash the texts" >> beam.ParDo(rows)
        | "Group equal hashes" >> beam.GroupByKey()
        | "Count equal hashes" >> beam.Map(_count)
    )


def _hashes_by_partition(pairs: list[Pair], *, partitions: int) -> RowsByKey:
    hashes: dict[tuple[str, int], array] = defaultdict(lambda: array("Q"))
    for pair in pairs:
        words = _hash_of_pair(pair)
        hashes[_PAIRS, words % partitions].append(words)
        if len(pair.response) >= COPYPASTA_CHARACTERS:
            # 64 bits, the same on every machine; two checksums are cheaper than a digest.
            text = pair.response.encode()
            response = crc32(text) << 32 | google_crc32c.value(text)
            hashes[_RESPONSES, response % partitions].append(response)
    # Always little-endian, since another machine may count.
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
