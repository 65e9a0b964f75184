"""Embeddings of any encoder, checked and brought to unit length."""

from collections.abc import Sequence

import numpy as np

from common.errors import InputError


def of_unit_length(rows: np.ndarray, sentences: Sequence[str], *, encoder: str) -> np.ndarray:
    """Rows divided by their lengths: float32 [sentences, dim].

    Args:
      rows: embeddings, floats [sentences, dim].
      sentences: what they are of, for the error.
      encoder: who gave them, for the error.

    Raises:
      InputError: if a row is not finite, or all zeros; names the sentence.
    """
    rows = np.asarray(rows, np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    bad = ~(np.isfinite(lengths) & (lengths > 0)).all(axis=1)
    if bad.any():
        sentence = sentences[int(bad.argmax())]
        raise InputError(f"{encoder}: no embedding that can be compared for {sentence!r}")
    return rows / lengths
