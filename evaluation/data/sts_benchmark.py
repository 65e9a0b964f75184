"""The STS Benchmark's files: how many pairs the official ones have."""

from collections.abc import Mapping

OFFICIAL_COUNTS = {
    "sts-dev": {"main-captions": 625, "main-forums": 375, "main-news": 500},
    "sts-test": {"main-captions": 625, "main-forums": 254, "main-news": 500},
    "sts-train": {"main-captions": 2000, "main-forum": 450, "main-news": 3299},
}
"""Pairs by genre (the benchmark's readme, section 4.3 of the paper)."""


def difference(name: str, counts: Mapping[str, int]) -> str:
    """Return how data of a benchmark file's name differ from that file; empty if they do not.

    `counts` are their pairs by genre.
    """
    official = OFFICIAL_COUNTS.get(name)
    if official is None or counts == official:
        return ""
    here, there = sum(counts.values()), sum(official.values())
    if here == there:
        return f"{name} has as many pairs here as in the STS Benchmark, but not of the same genres"
    return f"{name} has {here:,} pairs here and {there:,} in the STS Benchmark"
