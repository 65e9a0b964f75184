"""Pairs that are held out and whose texts are those of a train pair: they are counted.

A conversation that the input has twice, under two ids, is in two splits.
"""

from collections import Counter
from collections.abc import Iterable
from functools import partial

import apache_beam as beam
import numpy as np
import pyarrow as pa

from data_pipeline.execution.columns import crc32_of
from data_pipeline.execution.exchange import Block, Exchange, received
from data_pipeline.execution.report import COUNTS, Tally
from data_pipeline.pairs.schema import SPLIT
from data_pipeline.pairs.splits import SPLITS, TRAIN
from data_pipeline.pairs.tfrecord import INPUT, RESPONSE

IN_TRAIN = "{}_pairs_in_train"
"""The count of such pairs of a split."""
_SCHEMA = pa.schema([("texts", pa.uint64()), (SPLIT, pa.int8())])


def count_in_train(
    pairs: beam.PCollection, exchange: Exchange, *, partitions: int
) -> beam.PCollection:
    """Batches of split pairs -> tallies of `IN_TRAIN`."""
    return (
        pairs
        | "Send hashes of pairs with their splits"
        >> exchange.send(
            partial(_by_texts, partitions=partitions), columns=(INPUT, RESPONSE, SPLIT)
        )
        | "Group pairs of equal texts" >> beam.GroupByKey()
        | "Count held-out pairs that are in train" >> beam.Map(_count)
    )


def _by_texts(pairs: pa.RecordBatch, *, partitions: int) -> tuple[pa.RecordBatch, np.ndarray]:
    inputs, responses = (
        crc32_of(pairs.column(name)).astype(np.uint64) for name in (INPUT, RESPONSE)
    )
    texts = inputs << np.uint64(32) | responses
    hashes = pa.RecordBatch.from_arrays([pa.array(texts), pairs.column(SPLIT)], schema=_SCHEMA)
    return hashes, (texts % np.uint64(partitions)).astype(np.int64)


def _count(element: tuple[int, Iterable[Block]]) -> Tally:
    _, blocks = element
    texts, splits = (column.to_numpy() for column in received(blocks, _SCHEMA).columns)
    is_in_train = np.isin(texts, texts[splits == SPLITS.index(TRAIN)])
    numbers = np.bincount(splits[is_in_train], minlength=len(SPLITS)).tolist()
    return {COUNTS: Counter(dict(zip(map(IN_TRAIN.format, SPLITS), numbers, strict=True)))}
