r"""Sentences -> words, in the graph: the same code trains and serves.

Words are split as GloVe's are: symbols by themselves, "do n't", "man 's"; a point or a comma
stays inside a number or an abbreviation. Case stays; who looks a word up tries it as it stands,
then in lower case.
"""

import tensorflow as tf

_POINT = "\x01"
"""Stands for the point that ends an abbreviation, "p.m.", while others are split off."""
_STEPS = (
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


def split_all(sentences: list[str]) -> list[list[str]]:
    """The words of each sentence."""
    rows = split(tf.constant(sentences)).to_list()
    return [[word.decode("utf-8") for word in row] for row in rows]
