"""Strings in, token ids out, in the graph."""

WORDS = "words"
BIGRAMS = "bigrams"
"""The kinds of ids."""
PADDING = 0
"""The id that stands behind the last one of a shorter sentence."""
