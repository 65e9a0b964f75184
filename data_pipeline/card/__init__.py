"""Counts in, `statistics.json` and the data card out."""
