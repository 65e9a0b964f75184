"""The job's counts, for `statistics.json` and the data card.

Two equations always hold:
lines = malformed + duplicates + comments, and comments = sum(dropped) + kept.
"""

import heapq
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
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
_LAST_SECOND = 2**33
"""Times from this one on (in the year 2242) are unknown."""
_FEW = 5


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
    is_known = pc.and_(pc.greater_equal(times, 0), pc.less(times, _LAST_SECOND))
    months: Counter = Counter()
    for day, count in _counted(pc.divide(pc.if_else(is_known, times, None), _DAY)).items():
        month = UNKNOWN if day is None else f"{datetime.fromtimestamp(day * _DAY, UTC):%Y-%m}"
        months[month] += count
    return months


def some_of(pairs: pa.RecordBatch) -> list[dict[str, Any]]:
    """The pairs of a batch that may be among the `a_few` of all batches."""
    hashes = crc32_of(pairs.column(RESPONSE_ID))
    if len(hashes) > _FEW:
        low = np.flatnonzero(hashes <= np.partition(hashes, _FEW - 1)[_FEW - 1])
        pairs, hashes = pairs.take(pa.array(low)), hashes[low]
    rows = zip(hashes.tolist(), pairs.to_pylist(), strict=True)
    return _lowest({"hash": each, **row} for each, row in rows)


def a_few(batches: Iterable[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The pairs with the lowest hashes: as good as random, and the same on every runner."""
    return _lowest(pair for batch in batches for pair in batch)


def _lowest(pairs: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    keys = ("hash", RESPONSE_ID, INPUT_ID, THREAD_ID, SUBREDDIT, INPUT, RESPONSE)
    return heapq.nsmallest(_FEW, pairs, key=itemgetter(*keys))
