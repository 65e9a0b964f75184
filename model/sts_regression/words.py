r"""Sentences -> words -> rows of a table of word vectors.

Words are split as GloVe's are: symbols by themselves, "do n't", "man 's"; a point or a comma
stays inside a number or an abbreviation. Case stays: a word is looked up as it stands, then in
lower case.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import tensorflow as tf

from common.encoders import word_vectors
from common.errors import InputError
from model.text import UNSEEN

PADDING, UNKNOWN = 0, 1
"""Rows of a table before the first word; both are zeros."""
_POINT = "\x01"
"""Stands for the point that ends an abbreviation, "p.m.", while others are split off."""
_STEPS = (
    (UNSEEN, " "),
    (r"[’ʼ`´‘]", "'"),
    (r"(?i)(\pL)(n't)", r"\1 \2 "),
    (r"(?i)([\pL\pN])('(?:s|re|ve|ll|d|m))(\PL|$)", r"\1 \2 \3"),
    (r"([^\pL\pM\pN\s'.,])", r" \1 "),
    (r"(^|\s)((?:\pL\.)+\pL)\.(\s|$)", r"\1\2" + _POINT + r"\3"),
    (r"('+)(\s|$)", r" \1 \2"),
    (r"([.,]+)(\s|$)", r" \1 \2"),
    (r"('+)(\s|$)", r" \1 \2"),
    (r"(^|\s)(''|[.,]+)([^\s.,])", r"\1\2 \3"),
    (r"(^|\s)'(\pL{3})", r"\1 ' \2"),
    (_POINT, "."),
)
"""What is replaced, in this order, and by what."""


def split(sentences: tf.Tensor) -> tf.RaggedTensor:
    """Strings [batch], UTF-8 -> string [batch, (words)]; no words where there are only spaces."""
    for pattern, replacement in _STEPS:
        sentences = tf.strings.regex_replace(sentences, pattern, replacement)
    return tf.strings.split(sentences)


def load_vectors(path: Path, wanted: Iterable[str]) -> tuple[dict[str, int], np.ndarray]:
    """A table of word vectors, float32 [2 + words, dim], and the row of each word in it.

    Of the wanted words, looked up as written and in lower case, that a file has. An InputError,
    which names the line, if the vectors cannot be used.
    """
    found = word_vectors.of_words(path, wanted)
    if not found:
        raise InputError(f"{path}: has a vector for none of the words of the data")
    rows = {word: row for row, word in enumerate(found, start=UNKNOWN + 1)}
    return rows, np.pad(np.stack(list(found.values())), [(UNKNOWN + 1, 0), (0, 0)])


def row_of(word: str, rows: Mapping[str, int]) -> int:
    """The row of a word: as written, else in lower case, else `UNKNOWN`."""
    return rows.get(word, rows.get(word.lower(), UNKNOWN))
