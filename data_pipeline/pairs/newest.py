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

from data_pipeline.execution.report import COUNTS, Tally
from data_pipeline.pairs.schema import CREATED, SPLIT
from data_pipeline.pairs.splits import SPLITS, TEST, TRAIN, VALIDATION, stable_hashes
from data_pipeline.pairs.tfrecord import THREAD_ID

THREADS, UNKNOWN = "threads", "threads_without_time"
"""The counts of all threads, and of those that have no reply with a time: the oldest, then."""
_THREADS = np.dtype([("thread", "<u8"), ("time", "<i8")])
_NEVER = np.iinfo(np.int64).max


class HeldOut(NamedTuple):
    """The threads that are not trained on: their hashes, ascending, uint64 [threads]."""

    test: np.ndarray
    validation: np.ndarray
    threads: int
    """How many there are, held out or not."""
    unknown: int
    """How many of them have no time."""


def add_splits(
    pairs: beam.PCollection, *, test_fraction: float, validation_fraction: float
) -> tuple[beam.PCollection, beam.PCollection]:
    """Batches of pairs -> the same with the column `SPLIT`; and a tally."""
    fractions: dict[str, Any] = {
        "test_fraction": test_fraction,
        "validation_fraction": validation_fraction,
    }
    held_out = (
        pairs
        | "List the threads with their times" >> beam.Map(times_of)
        | "Collect the threads" >> beam.combiners.ToList()
        | "Find the newest threads" >> beam.Map(partial(newest, **fractions))
    )
    tally = held_out | "Count threads without a time" >> beam.Map(_tally)
    return pairs | "Add the splits" >> beam.Map(with_splits, AsSingleton(held_out)), tally


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
    rows = rows[np.lexsort((rows["time"], rows["thread"]))]
    _, first = np.unique(rows["thread"], return_index=True)
    threads, times = rows["thread"][first], rows["time"][first]
    is_unknown = times == _NEVER
    order = np.lexsort((threads, -times, is_unknown))
    ends = (
        round(test_fraction * len(order)),
        round((test_fraction + validation_fraction) * len(order)),
    )
    test, validation, _ = np.split(threads[order], ends)
    return HeldOut(np.sort(test), np.sort(validation), len(order), int(is_unknown.sum()))


def with_splits(pairs: pa.RecordBatch, held_out: HeldOut) -> pa.RecordBatch:
    """The pairs with the index in `SPLITS` of each."""
    threads = pairs.column(THREAD_ID).dictionary_encode()
    hashes = stable_hashes(threads.dictionary)
    splits = np.full(len(hashes), SPLITS.index(TRAIN), np.int8)
    for split, those in ((TEST, held_out.test), (VALIDATION, held_out.validation)):
        splits[np.isin(hashes, those)] = SPLITS.index(split)
    return pairs.append_column(SPLIT, pa.array(splits[threads.indices.to_numpy()]))


def _tally(held_out: HeldOut) -> Tally:
    return {COUNTS: Counter({THREADS: held_out.threads, UNKNOWN: held_out.unknown})}
