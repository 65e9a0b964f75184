"""The STS Benchmark's files: how many pairs the official ones have."""

OFFICIAL_COUNTS = {
    "sts-dev": {"main-captions": 625, "main-forums": 375, "main-news": 500},
    "sts-test": {"main-captions": 625, "main-forums": 254, "main-news": 500},
    "sts-train": {"main-captions": 2000, "main-forum": 450, "main-news": 3299},
}
"""Pairs by genre (the benchmark's readme, section 4.3 of the paper)."""
