"""Histograms and examples of pairs, for `statistics.json` and the data card.

What was read and dropped is counted where it happens, in `job.read` and `job.join`. Two equations
always hold: lines = malformed + duplicates + merged + comments, and comments = sum(dropped) + kept.
"""

import heapq
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.execution.columns import crc32_of
from data_pipeline.execution.report import Tally
from data_pipeline.pairs.schema import CREATED
from data_pipeline.pairs.tfrecord import (
    INPUT,
    INPUT_ID,
    RESPONSE,
    RESPONSE_ID,
    SUBREDDIT,
    THREAD_ID,
)

INPUT_CHARACTERS = "input_characters"
RESPONSE_CHARACTERS = "response_characters"
SUBREDDITS = "subreddits"
MONTHS = "months"
BIN = 10
"""Characters in a bin of the length histograms."""
UNKNOWN = "unknown"
"""The month of a reply without a time."""
_DAY = 86_400
_FEW = 5
_BY = ("hash", RESPONSE_ID, INPUT_ID, THREAD_ID, SUBREDDIT, INPUT, RESPONSE)
"""What orders pairs of which a few are shown."""


def describe(pairs: pa.RecordBatch) -> Tally:
    """Histograms of a batch of pairs."""
    return {
        INPUT_CHARACTERS: _binned(pairs.column(INPUT)),
        RESPONSE_CHARACTERS: _binned(pairs.column(RESPONSE)),
        SUBREDDITS: _counted(pairs.column(SUBREDDIT)),
        MONTHS: _months(pairs.column(CREATED)),
    }


def _binned(texts: Any) -> Counter:
    counts = np.bincount(pc.utf8_length(texts).to_numpy() // BIN)
    return Counter({str(each * BIN): n for each, n in enumerate(counts.tolist()) if n})


def _counted(values: Any) -> Counter:
    return Counter({each["values"]: each["counts"] for each in pc.value_counts(values).to_pylist()})


def _months(times: Any) -> Counter:
    months: Counter = Counter()
    for day, count in _counted(pc.divide(times, _DAY)).items():
        month = UNKNOWN if day is None else f"{datetime.fromtimestamp(day * _DAY, UTC):%Y-%m}"
        months[month] += count
    return months


def some_of(pairs: pa.RecordBatch) -> list[dict[str, Any]]:
    """The pairs of a batch that may be among the `a_few` of all batches."""
    hashed = pairs.append_column(_BY[0], pa.array(crc32_of(pairs.column(RESPONSE_ID))))
    keys = [(name, "ascending") for name in _BY]
    return hashed.take(pc.select_k_unstable(hashed, k=_FEW, sort_keys=keys)).to_pylist()


def a_few(batches: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The pairs with the lowest hashes: as good as random, and the same on every runner."""
    return heapq.nsmallest(_FEW, chain.from_iterable(batches), key=itemgetter(*_BY))
