"""Pairs in, shard files out, and back: splits, formats, duplicates, decontamination."""
