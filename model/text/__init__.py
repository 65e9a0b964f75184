"""Strings in, token ids out, in the graph."""

WORDS = "words"
BIGRAMS = "bigrams"
CHAR_NGRAMS = "char_ngrams"
"""The kinds of ids."""
PADDING = 0
"""The id that stands behind the last one of a shorter sentence."""
UNSEEN = r"(?:[^\PC\s]|[^\PZ ])+"
"""Controls, joiners and white space, but for ASCII's white space, at which TensorFlow splits."""
