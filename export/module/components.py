"""Directions that the embeddings of all sentences share, to be removed from them.

Every embedding has a part that says nothing of its sentence: how frequent words look, and the style
of the training text. Without the first principal components of a sample of embeddings, similar
sentences stand out: Arora et al. 2017, section 3, for weighted means of word vectors; Mu and
Viswanath 2018 ("All-but-the-top"), for word vectors.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import tensorflow as tf

from common.errors import InputError
from model.teacher.texts import REPLIES, find_files, read_texts

SAMPLE = 20_000
"""Texts, at most."""
_AT_ONCE = 512
_NOISE = 1e-9
"""Of the largest second moment: what rounding to float32 leaves of a direction without a text."""


def learn(
    encode: Callable[[tf.Tensor], tf.Tensor], files: Sequence[str], *, count: int, dim: int
) -> tuple[np.ndarray, dict[str, Any]]:
    """The first principal components of the embeddings of some texts.

    Args:
      encode: string [batch] -> float32 [batch, dim], of unit length.
      files: names or patterns of files with a text per line, or of TFRecords of pairs, of which the
        responses are read; the first `SAMPLE` texts.
      count: the number of components.
      dim: the width of the embeddings.

    Returns:
      float32 [dim, count], orthonormal columns; and what the model card says of them.

    Raises:
      InputError: if a file cannot be read, or there are too few texts, or too few that differ.
    """
    if count >= dim:
        raise InputError(f"--remove_components: {count}; accepted: up to {dim - 1}")
    found, sentences = np.zeros((dim, dim)), 0
    lines = islice(read_texts(find_files(files), REPLIES), SAMPLE)
    while some := list(islice(lines, _AT_ONCE)):
        embeddings = encode(tf.constant(some)).numpy().astype(np.float64)
        found += embeddings.T @ embeddings
        sentences += len(some)
    values, vectors = np.linalg.eigh(found)  # in ascending order
    if sentences <= count or values[-count - 1] <= _NOISE * values[-1]:
        raise InputError(
            f"--component_texts: {' '.join(files)}: {sentences:,} texts whose embeddings have no "
            f"more than {count} components, so that nothing would be left"
        )
    about = {"count": count, "texts": sentences, "files": list(files)}
    return vectors[:, : -count - 1 : -1].astype(np.float32), about
