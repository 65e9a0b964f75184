"""Deduplication: copies of pairs and of responses are counted, and capped if asked.

A copy of a pair has the same input and the same response. Copypasta is a long response that
occurs in several pairs.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.columns import lengths_of, pieces
from data_pipeline.execution.exchange import Block, Exchange, received
from data_pipeline.execution.report import COUNTS, TALLY, Tally
from data_pipeline.pairs.schema import CREATED
from data_pipeline.pairs.tfrecord import (
    INPUT,
    INPUT_ID,
    RESPONSE,
    RESPONSE_ID,
    SUBREDDIT,
    THREAD_ID,
)

COPYPASTA_CHARACTERS = 50
"""A shorter response may recur without having been pasted."""
COPYPASTA_COPIES = 3
"""A long response in as many pairs or more is copypasta."""
COPIES = "copies"
"""The name of the tally of both."""
DUPLICATE_PAIRS = "duplicate_pairs"
COPYPASTA_REPLIES = "copypasta_replies"

_PAIRS_A_BATCH = 10_000
_HASHES = pa.schema([pa.field("hash", pa.uint64())])
_ORDER = (RESPONSE_ID, INPUT_ID, THREAD_ID, SUBREDDIT, CREATED)
"""Of copies. By all that a pair has: messages of one id are one reply, but each is halved for
itself."""


def _hashes(texts: Any) -> np.ndarray:
    """XXH3 of each text, 64 bits, the same on every machine, uint64 [rows].

    0.2 microseconds a text, half of them for Python's bytes; two checksums of 32 bits take 0.4.
    """
    encoded = texts.cast(pa.large_binary()).to_pylist()
    return np.fromiter(map(xxhash.xxh3_64_intdigest, encoded), np.uint64, len(encoded))


def _hashes_of_pairs(inputs: np.ndarray, responses: np.ndarray) -> np.ndarray:
    """64 bits of each pair, from the hashes of its texts; which of them is the input counts."""
    return np.uint64(3) * inputs + responses  # modulo 2^64


def _partitions_of(hashes: np.ndarray, partitions: int) -> np.ndarray:
    return (hashes % np.uint64(partitions)).astype(np.int64)


def cap_copies(
    pairs: beam.PCollection,
    most: int,
    exchange: Exchange,
    *,
    partitions: int,
    schema: pa.Schema,
) -> tuple[beam.PCollection, beam.PCollection]:
    """Batches of pairs -> the same with the first `most` of equal pairs, by the replies' ids.

    The second collection holds the tallies of `copies_dropped`.
    """
    kept, tally = (
        pairs
        | "Send pairs by text" >> exchange.send(partial(_by_text, partitions=partitions))
        | "Group equal pairs" >> beam.GroupByKey()
        | "Keep the first copies"
        >> beam.FlatMap(_keep_first, most=most, schema=schema).with_outputs(TALLY, main="kept")
    )
    return kept, tally


def _by_text(pairs: pa.RecordBatch, *, partitions: int) -> tuple[pa.RecordBatch, np.ndarray]:
    hashes = _hashes_of_pairs(*(_hashes(pairs.column(name)) for name in (INPUT, RESPONSE)))
    return pairs, _partitions_of(hashes, partitions)


def _keep_first(
    element: tuple[int, Iterable[Block]], *, most: int, schema: pa.Schema
) -> Iterator[Any]:
    _, blocks = element
    pairs = received(blocks, schema).sort_by([(name, "ascending") for name in _ORDER])
    inputs, responses = (
        pairs.column(name).dictionary_encode().indices.to_numpy().astype(np.int64)
        for name in (INPUT, RESPONSE)
    )
    same = inputs << 32 | responses
    order = np.argsort(same, kind="stable")
    grouped = same[order]
    copies_before = np.empty(len(same), np.int64)
    copies_before[order] = np.arange(len(same)) - np.searchsorted(grouped, grouped)
    kept = pairs.filter(pa.array(copies_before < most))
    sizes = sum(lengths_of(kept.column(name)) for name in (INPUT, RESPONSE))
    for piece in pieces(np.asarray(sizes), rows=_PAIRS_A_BATCH):
        yield kept.slice(piece.start, piece.stop - piece.start)
    dropped = pairs.num_rows - kept.num_rows
    yield TaggedOutput(TALLY, {COUNTS: Counter(copies_dropped=dropped)})


def count_copies(
    pairs: beam.PCollection, exchange: Exchange, *, partitions: int
) -> beam.PCollection:
    """Batches of pairs -> tallies of `duplicate_pairs` and `copypasta_replies`."""
    by_hash = partial(_hashes_by_partition, partitions=partitions)
    return (
        pairs
        | "Hash the texts" >> exchange.send(by_hash, columns=(INPUT, RESPONSE))
        | "Group equal hashes" >> beam.GroupByKey()
        | "Count equal hashes" >> beam.Map(_count)
    )


def _hashes_by_partition(
    pairs: pa.RecordBatch, *, partitions: int
) -> tuple[pa.RecordBatch, np.ndarray]:
    """The hashes, and their keys: of pairs twice the partition, of long responses one more."""
    inputs, responses = (_hashes(pairs.column(name)) for name in (INPUT, RESPONSE))
    is_long = pc.utf8_length(pairs.column(RESPONSE)).to_numpy() >= COPYPASTA_CHARACTERS
    of_pairs, of_long = _hashes_of_pairs(inputs, responses), responses[is_long]
    keys = [2 * _partitions_of(of_pairs, partitions), 2 * _partitions_of(of_long, partitions) + 1]
    hashes = pa.array(np.concatenate([of_pairs, of_long]))
    return pa.RecordBatch.from_arrays([hashes], schema=_HASHES), np.concatenate(keys)


def _count(element: tuple[int, Iterable[Block]]) -> Tally:
    key, blocks = element
    hashes = received(blocks, _HASHES).column("hash").to_numpy()
    _, copies = np.unique(hashes, return_counts=True)
    if key % 2:
        pasted = int(copies[copies >= COPYPASTA_COPIES].sum())
        return {COPIES: Counter({COPYPASTA_REPLIES: pasted})}
    return {COPIES: Counter({DUPLICATE_PAIRS: len(hashes) - len(copies)})}
