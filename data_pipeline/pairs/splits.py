"""Train, validation or test: from a stable hash of the thread or of the pair, or by time.

The hash depends on nothing but the ids, so that a pair is in the same split in every run, on every
machine and runner, and stays there when more input is added. The lowest hashes are test, with or
without a validation set, which is taken from train.

By time the newest threads are test, and those before them validation; a thread is as old as its
earliest reply. One worker looks at threads and times alone, 16 bytes a thread and batch, and the
others at the hashes of threads that are held out.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import AsSingleton

from common.tfrecord import INPUT_ID, RESPONSE_ID, THREAD_ID
from data_pipeline.execution.report import COUNTS
from data_pipeline.pairs.options import NEWEST, PAIR, PairOptions
from data_pipeline.pairs.schema import CREATED, SPLIT

TRAIN, VALIDATION, TEST = SPLITS = ("train", "validation", "test")
UNKNOWN = "threads_without_time"
"""The count of threads that have no reply with a time: they are taken for the oldest."""
_THREADS = pa.schema({"thread": pa.uint64(), "time": pa.int64()})
"""Hashes of threads, and the times of their earliest replies; null if unknown."""


class HeldOut(NamedTuple):
    """The newest threads: their hashes, uint64 [threads]."""

    test: np.ndarray
    validation: np.ndarray
    unknown: int  # how many of all threads have no time


def stable_hash(text: bytes) -> bytes:
    """8 bytes, the same on every machine."""
    return hashlib.blake2b(text, digest_size=8).digest()


def stable_hashes(texts: Any) -> np.ndarray:
    """`stable_hash` of each string of an Arrow array, big-endian, uint64 [rows]."""
    hashes = map(stable_hash, texts.cast(pa.binary()).to_pylist())
    return np.frombuffer(b"".join(hashes), ">u8").astype(np.uint64)


def add_splits(
    pairs: beam.PCollection, options: PairOptions
) -> tuple[beam.PCollection, list[beam.PCollection]]:
    """Batches of pairs -> the same with the column `SPLIT`; and tallies."""
    if options.split_by != NEWEST:
        return pairs | "Split the pairs" >> beam.Map(with_splits, options), []
    held_out = (
        pairs
        | "List the threads with their times" >> beam.Map(times_of)
        | "Collect the threads" >> beam.combiners.ToList()
        | "Find the newest threads" >> beam.Map(newest, options)
    )
    tally = held_out | "Count threads without a time" >> beam.Map(
        lambda found: {COUNTS: Counter({UNKNOWN: found.unknown})}
    )
    return pairs | "Add the splits" >> beam.Map(with_splits, options, AsSingleton(held_out)), [
        tally
    ]


def times_of(pairs: pa.RecordBatch) -> pa.Table:
    """The threads of a batch, as `_THREADS`."""
    threads = pa.Table.from_batches([pairs]).group_by(THREAD_ID).aggregate([(CREATED, "min")])
    hashes = stable_hashes(threads[THREAD_ID].combine_chunks())
    return pa.table([hashes, threads[f"{CREATED}_min"]], schema=_THREADS)


def newest(batches: Iterable[pa.Table], options: PairOptions) -> HeldOut:
    """The threads of all batches, as `times_of` lists them -> the newest; of equal age by hash."""
    listed = pa.concat_tables([_THREADS.empty_table(), *batches])
    threads = listed.group_by("thread").aggregate([("time", "min")])
    order = threads.sort_by([("time_min", "descending"), ("thread", "ascending")])["thread"]
    ends = [round(end * len(order)) for end in _ends(options)]
    test, validation, _ = np.split(order.to_numpy(), ends)
    return HeldOut(test, validation, threads["time_min"].null_count)


def _ends(options: PairOptions) -> tuple[float, float]:
    """Where the shares of test and of validation end."""
    return options.test_fraction, options.test_fraction + options.validation_fraction


def with_splits(
    pairs: pa.RecordBatch, options: PairOptions, held_out: HeldOut | None = None
) -> pa.RecordBatch:
    """The pairs with the column `SPLIT`, by their threads or their ids.

    Test are the lowest of all 64-bit hashes, and validation those above, unless both are given.
    """
    keys = pairs.column(THREAD_ID)
    if options.split_by == PAIR:
        ids = pairs.column(INPUT_ID), pairs.column(RESPONSE_ID)
        keys = pc.binary_join_element_wise(*ids, " ")
    encoded = keys.dictionary_encode()
    hashes = stable_hashes(encoded.dictionary)
    if held_out is None:
        are_held_out = [_below(hashes, end) for end in _ends(options)]
    else:
        are_held_out = [np.isin(hashes, held_out.test), np.isin(hashes, held_out.validation)]
    train, validation, test = map(np.int8, range(len(SPLITS)))
    splits = np.select(are_held_out, [test, validation], train)
    return pairs.append_column(SPLIT, pa.array(splits[encoded.indices.to_numpy()]))


def _below(hashes: np.ndarray, fraction: float) -> np.ndarray:
    """Whether each hash is in the first `fraction` of all 64-bit numbers."""
    end = math.ceil(fraction * 2**64)
    return hashes <= np.uint64(min(end, 2**64) - 1) if end > 0 else np.zeros(len(hashes), bool)
