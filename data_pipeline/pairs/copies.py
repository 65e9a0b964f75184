"""Copies, pairs of equal texts: they are capped, and counted where they are held out and in train.

A conversation that the input has twice, under two ids, is in two splits.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import TaggedOutput

from common.tfrecord import FEATURES, INPUT, RESPONSE, RESPONSE_ID
from data_pipeline.execution.columns import crc32_of, lengths_of, numbered, pieces
from data_pipeline.execution.exchange import Block, Exchange, received
from data_pipeline.execution.report import COUNTS, TALLY, Tally, tallied
from data_pipeline.pairs.schema import CREATED, SPLIT
from data_pipeline.pairs.splits import SPLITS, TRAIN

IN_TRAIN = "{}_pairs_in_train"
"""The count of pairs of a held-out split whose texts are those of a train pair."""
_PAIRS_A_BATCH = 10_000
_ORDER = (RESPONSE_ID, *FEATURES, CREATED)
"""Of copies. By all that a pair has: messages of one id are one reply, but each is halved for
itself."""
_HASHES = pa.schema([("texts", pa.int64()), (SPLIT, pa.int8())])


def cap_copies(
    pairs: beam.PCollection, most: int, exchange: Exchange, *, partitions: int, schema: pa.Schema
) -> tuple[beam.PCollection, beam.PCollection]:
    """Batches of pairs -> the first `most` of equal ones, by the replies' ids; and tallies."""
    return (
        pairs
        | "Send pairs by text" >> exchange.send(partial(_by_text, partitions=partitions))
        | "Group equal pairs" >> beam.GroupByKey()
        | "Keep the first copies" >> tallied(_keep_first, most=most, schema=schema)
    )


def count_in_train(
    pairs: beam.PCollection, exchange: Exchange, *, partitions: int
) -> beam.PCollection:
    """Batches of split pairs -> tallies of `IN_TRAIN`."""
    by_hash = partial(_by_text, partitions=partitions, only_hashes=True)
    return (
        pairs
        | "Send hashes of pairs with their splits"
        >> exchange.send(by_hash, columns=(INPUT, RESPONSE, SPLIT))
        | "Group pairs of equal texts" >> beam.GroupByKey()
        | "Count held-out pairs that are in train" >> beam.Map(_count)
    )


def _by_text(
    pairs: pa.RecordBatch, *, partitions: int, only_hashes: bool = False
) -> tuple[pa.RecordBatch, np.ndarray]:
    inputs, responses = (crc32_of(pairs.column(name)).astype(int) for name in (INPUT, RESPONSE))
    if only_hashes:
        columns = [pa.array(inputs << 32 | responses), pairs.column(SPLIT)]
        pairs = pa.RecordBatch.from_arrays(columns, schema=_HASHES)
    return pairs, (3 * inputs + responses) % partitions


def _keep_first(
    element: tuple[int, Iterable[Block]], *, most: int, schema: pa.Schema
) -> Iterator[Any]:
    _, blocks = element
    pairs = received(blocks, schema).sort_by([(name, "ascending") for name in _ORDER])
    same = numbered(pairs, INPUT, RESPONSE)
    order = np.argsort(same, kind="stable")
    copies_before = np.arange(len(same)) - np.searchsorted(same[order], same[order])
    kept = pairs.take(pa.array(np.sort(order[copies_before < most])))
    sizes = lengths_of(kept.column(INPUT)) + lengths_of(kept.column(RESPONSE))
    for piece in pieces(sizes, rows=_PAIRS_A_BATCH):
        yield kept[piece]
    dropped = pairs.num_rows - kept.num_rows
    yield TaggedOutput(TALLY, {COUNTS: Counter(copies_dropped=dropped)})


def _count(element: tuple[int, Iterable[Block]]) -> Tally:
    _, blocks = element
    texts, splits = (column.to_numpy() for column in received(blocks, _HASHES).columns)
    is_in_train = np.isin(texts, texts[splits == SPLITS.index(TRAIN)])
    numbers = np.bincount(splits[is_in_train], minlength=len(SPLITS)).tolist()
    return {COUNTS: Counter(dict(zip(map(IN_TRAIN.format, SPLITS), numbers, strict=True)))}
