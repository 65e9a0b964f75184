"""Deduplication: copies of pairs, which have the same input and the same response, are capped."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.columns import crc32_of, lengths_of, pieces
from data_pipeline.execution.exchange import Block, Exchange, received
from data_pipeline.execution.report import COUNTS, TALLY
from data_pipeline.pairs.schema import CREATED
from data_pipeline.pairs.tfrecord import (
    INPUT,
    INPUT_ID,
    RESPONSE,
    RESPONSE_ID,
    SUBREDDIT,
    THREAD_ID,
)

_PAIRS_A_BATCH = 10_000
_ORDER = (RESPONSE_ID, INPUT_ID, THREAD_ID, SUBREDDIT, CREATED)
"""Of copies. By all that a pair has: messages of one id are one reply, but each is halved for
itself."""


def cap_copies(
    pairs: beam.PCollection, most: int, exchange: Exchange, *, partitions: int, schema: pa.Schema
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
    inputs, responses = (crc32_of(pairs.column(name)).astype(int) for name in (INPUT, RESPONSE))
    return pairs, (3 * inputs + responses) % partitions


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
    copies_before = np.arange(len(same)) - np.searchsorted(same[order], same[order])
    kept = pairs.take(pa.array(np.sort(order[copies_before < most])))
    sizes = lengths_of(kept.column(INPUT)) + lengths_of(kept.column(RESPONSE))
    for piece in pieces(sizes, rows=_PAIRS_A_BATCH):
        yield kept.slice(piece.start, piece.stop - piece.start)
    dropped = pairs.num_rows - kept.num_rows
    yield TaggedOutput(TALLY, {COUNTS: Counter(copies_dropped=dropped)})
