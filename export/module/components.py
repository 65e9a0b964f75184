"""Directions that the embeddings of all sentences share, to be removed from them.

Every embedding has a part that says nothing of its sentence: how frequent words look, and the style
of the training text. Without the first principal components of a sample of embeddings, similar
sentences stand out: Arora et al. 2017, section 3, for weighted means of word vectors; Mu and
Viswanath 2018 ("All-but-the-top"), for word vectors.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from export.retrieval import texts
from model.errors import InputError

SAMPLE = 20_000
"""Texts, at most."""
_AT_ONCE = 512
_NOISE = 1e-9
"""Of the largest second moment: what rounding to float32 leaves of a direction without a text."""


def learn(
    encode: Callable[[tf.Tensor], tf.Tensor], files: Sequence[str | Path], *, count: int, dim: int
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
    if not 0 < count < dim:
        raise InputError(
            f"--remove_components: {count}; accepted: whole numbers from 1 to {dim - 1}"
        )
    found = np.zeros((dim, dim))
    sentences = 0
    for some in _batches(texts.read(files, most=SAMPLE)):
        embeddings = encode(tf.constant(some)).numpy().astype(np.float64)
        found += embeddings.T @ embeddings
        sentences += len(some)
    if sentences <= count:
        raise InputError(
            f"--component_texts: {' '.join(map(str, files))}: {sentences:,} texts for {count} "
            f"components; accepted: more texts than components, best {SAMPLE:,}"
        )
    values, vectors = np.linalg.eigh(found)  # in ascending order
    if values[-count - 1] <= _NOISE * values[-1]:
        raise InputError(
            f"--component_texts: {' '.join(map(str, files))}: the embeddings of {sentences:,} "
            f"texts have no more than {count} components, and nothing would be left; accepted: "
            "texts that differ"
        )
    about = {"count": count, "texts": sentences, "files": [str(file) for file in files]}
    return vectors[:, : -count - 1 : -1].astype(np.float32), about


def _batches(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    while some := list(islice(lines, _AT_ONCE)):
        yield some
