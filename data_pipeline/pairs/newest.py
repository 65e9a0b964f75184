"""Splits by time: the newest threads are test, those before them validation, the others train.

A thread is as old as its earliest reply. One worker looks at threads and times alone, 16 bytes a
thread and batch, and the others at the hashes of threads that are held out.
"""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import pyarrow as pa
from apache_beam.pvalue import AsSingleton

from data_pipeline.execution.report import COUNTS
from data_pipeline.pairs.schema import CREATED
from data_pipeline.pairs.splits import SPLITS, TEST, TRAIN, VALIDATION, stable_hashes, with_splits
from data_pipeline.pairs.tfrecord import THREAD_ID

UNKNOWN = "threads_without_time"
"""The count of threads that have no reply with a time: they are taken for the oldest."""
_THREADS = np.dtype([("thread", "<u8"), ("time", "<i8")])
_NEVER = np.iinfo(np.int64).max


class HeldOut(NamedTuple):
    """The threads that are not trained on: their hashes, ascending, uint64 [threads]."""

    test: np.ndarray
    validation: np.ndarray
    unknown: int
    """How many of all threads have no time."""


def add_splits(
    pairs: beam.PCollection, *, test_fraction: float, validation_fraction: float
) -> tuple[beam.PCollection, beam.PCollection]:
    """Batches of pairs -> the same with the column `SPLIT`; and a tally."""
    find = partial(newest, test_fraction=test_fraction, validation_fraction=validation_fraction)
    held_out = (
        pairs
        | "List the threads with their times" >> beam.Map(times_of)
        | "Collect the threads" >> beam.combiners.ToList()
        | "Find the newest threads" >> beam.Map(find)
    )
    tally = held_out | "Count threads without a time" >> beam.Map(
        lambda found: {COUNTS: Counter({UNKNOWN: found.unknown})}
    )
    return pairs | "Add the splits" >> beam.Map(with_newest, AsSingleton(held_out)), tally


def times_of(pairs: pa.RecordBatch) -> bytes:
    """Each thread of a batch, and the time of its earliest reply, as `_THREADS`."""
    threads = pairs.column(THREAD_ID).dictionary_encode()
    found = np.empty(len(threads.dictionary), _THREADS)
    found["thread"], found["time"] = stable_hashes(threads.dictionary), _NEVER
    times = pairs.column(CREATED).fill_null(_NEVER).to_numpy()
    np.minimum.at(found["time"], threads.indices.to_numpy(), times)
    return found.tobytes()


def newest(
    batches: Iterable[bytes], *, test_fraction: float, validation_fraction: float
) -> HeldOut:
    """The threads of all batches, as `times_of` lists them -> the newest; of equal age by hash."""
    rows = np.concatenate([np.frombuffer(batch, _THREADS) for batch in (b"", *batches)])
    threads, of_row = np.unique(rows["thread"], return_inverse=True)
    times = np.full(len(threads), _NEVER)
    np.minimum.at(times, of_row, rows["time"])
    order = threads[np.lexsort((threads, -times, times == _NEVER))]
    ends = [round(f * len(order)) for f in (test_fraction, test_fraction + validation_fraction)]
    test, validation, _ = np.split(order, ends)
    return HeldOut(np.sort(test), np.sort(validation), int((times == _NEVER).sum()))


def with_newest(pairs: pa.RecordBatch, held_out: HeldOut) -> pa.RecordBatch:
    """The pairs with the column `SPLIT`."""

    def find(threads: Any) -> np.ndarray:
        hashes = stable_hashes(threads)
        splits = np.full(len(hashes), SPLITS.index(TRAIN))
        for split, those in ((TEST, held_out.test), (VALIDATION, held_out.validation)):
            splits[np.isin(hashes, those)] = SPLITS.index(split)
        return splits

    return with_splits(pairs, pairs.column(THREAD_ID), find)
