"""What the job counted, as `statistics.json` states it.

Counts travel through the pipeline as `collections.Counter`s and are summed as data, not as
the runner's metrics: a bundle that is tried twice counts once. Two equations always hold:
lines = malformed + duplicates + comments, and comments = sum(dropped) + kept.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from data_pipeline.filters import RULES


def add_up(counters: Iterable[Counter]) -> Counter:
    """The sum of any number of Counters, also of none."""
    total: Counter = Counter()
    for counts in counters:
        total.update(counts)
    return total


def as_statistics(counts: Counter) -> dict[str, Any]:
    """The contents of `statistics.json`, each key present even where nothing was counted."""
    return {
        "lines": counts["lines"],
        "malformed": counts["malformed"],
        "duplicates": counts["duplicates"],
        "comments": counts["comments"],
        "dropped": {rule: counts[f"dropped/{rule}"] for rule in RULES},
        "kept": counts["kept"],
        "replies": counts["replies"],
        "pairs": counts["pairs"],
        "train_pairs": counts["train_pairs"],
        "test_pairs": counts["test_pairs"],
    }


def as_table(statistics: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows of (name, count) to print, the dropped ones a line each."""
    rows: list[tuple[str, str]] = []
    for name, value in statistics.items():
        if isinstance(value, dict):
            rows += [(f"  {name}: {rule}", f"{count:,}") for rule, count in value.items()]
        else:
            rows.append((name, f"{value:,}"))
    return rows
