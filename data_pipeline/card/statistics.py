"""The job's counts, for `statistics.json` and the data card.

Tallies travel through the pipeline as data, not as the runner's metrics, so that a bundle that is
tried twice counts once. Two equations always hold:
lines = malformed + duplicates + comments, and comments = sum(dropped) + kept.
"""

import heapq
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

from data_pipeline.execution.shuffle import Pair
from data_pipeline.reddit import comment

Tally = dict[str, Counter]
"""Name of a histogram -> counts."""
TALLY = "tally"
"""The tag of outputs that are tallies."""
COUNTS = "counts"
COPIES = "copies"
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


def add_up(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies; empty for none."""
    total: Tally = {}
    for tally in tallies:
        for name, counts in tally.items():
            total.setdefault(name, Counter()).update(counts)
    return total


def describe(pairs: list[Pair]) -> Tally:
    """Histograms of a batch of pairs."""
    return {
        INPUT_CHARACTERS: _binned(Counter([len(pair.input) for pair in pairs])),
        RESPONSE_CHARACTERS: _binned(Counter([len(pair.response) for pair in pairs])),
        SUBREDDITS: Counter([pair.subreddit for pair in pairs]),
        MONTHS: _months([pair.created for pair in pairs]),
    }


def a_few(batches: Iterable[list[Pair]]) -> list[Pair]:
    """The pairs with the lowest hashes: as good as random, and the same on every runner."""
    pairs = (pair for batch in batches for pair in batch)
    return heapq.nsmallest(
        _FEW, pairs, key=lambda pair: (crc32(pair.response_id.encode()), pair.response_id)
    )


def _binned(lengths: Counter) -> Counter:
    bins: Counter = Counter()
    for length, count in lengths.items():
        bins[str(length // BIN * BIN)] += count
    return bins


def _months(times: list[Any]) -> Counter:
    seconds = [comment.seconds(time) for time in times]
    days = Counter([None if time is None else time // _DAY for time in seconds])
    months: Counter = Counter()
    for day, count in days.items():
        month = UNKNOWN if day is None else f"{datetime.fromtimestamp(day * _DAY, UTC):%Y-%m}"
        months[month] += count
    return months


def as_table(statistics: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows of (name, count) to print; each value of a nested object is a row."""
    rows: list[tuple[str, str]] = []
    for name, value in statistics.items():
        if isinstance(value, dict):
            rows += [(f"  {name}: {rule}", f"{count:,}") for rule, count in value.items()]
        else:
            rows.append((name, f"{value:,}"))
    return rows
