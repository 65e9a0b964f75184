"""Strings in, token ids out, in the graph."""
