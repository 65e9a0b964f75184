"""How alike two sentences are: by their embeddings, or by the words they share.

Embeddings are rows of a NumPy array, or of a SciPy sparse array where they are sparse (TF-IDF).
"""

import re
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse.linalg

from common.errors import InputError


def of_pairs(encode: Callable, pairs: Sequence[tuple[str, str]]) -> tuple:
    """Return the rows of the first and of the second texts, encoded at once: [pairs, dim] each."""
    left, right = zip(*pairs, strict=True)
    rows = encode([*left, *right])
    return rows[: len(left)], rows[len(left) :]


def unit(rows):
    """Return rows scaled to length 1; sparse ones, which are, as they are."""
    if scipy.sparse.issparse(rows):
        return rows
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def products(left, right) -> np.ndarray:
    """Return all dot products of two [m, dim] and [n, dim]: dense float64 [m, n]."""
    with np.errstate(invalid="ignore"):
        scores = left @ right.T
    return _finite(scores.toarray() if scipy.sparse.issparse(scores) else scores)


def cosine(left, right) -> np.ndarray:
    """Return the cosine of each pair of rows: two [n, dim] without zero rows to float64 [n].

    Rounding alone can leave [-1, 1], where arccos is NaN, so the cosine is clipped.
    """
    left, right = left.astype(np.float64), right.astype(np.float64)
    norm = scipy.sparse.linalg.norm if scipy.sparse.issparse(left) else np.linalg.norm
    with np.errstate(invalid="ignore"):
        cosines = (left * right).sum(axis=1) / (norm(left, axis=1) * norm(right, axis=1))
    return _finite(np.clip(cosines, -1.0, 1.0))


def _finite(scores: np.ndarray) -> np.ndarray:
    if not np.isfinite(scores).all():
        raise InputError("the encoder gives vectors that are not finite, or all zeros")
    return scores


def words(text: str) -> frozenset[str]:
    """Return the set of lower-cased words of a text."""
    return frozenset(re.findall(r"\w+", text.lower()))


def word_overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the Jaccard index of two word sets, in [0, 1]; 0 where both are empty."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def word_overlaps(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the Jaccard index of the words of each pair of texts."""
    return [word_overlap(words(left), words(right)) for left, right in pairs]
