"""Initial vectors of character n-grams: what they tell of the vectors of words.

A ridge regression of the words' vectors on their n-grams, so that the sum of a word's n-grams comes
near its vector. A word outside the vocabulary then begins near words that are spelt like it.
"""

import numpy as np
import scipy.sparse
from sklearn.linear_model import Ridge

from model.text import PADDING

_PENALTY = 1.0
_ITERATIONS = 30
_TOLERANCE = 1e-3
"""Near enough for a start."""


def fitted(ngrams: np.ndarray, vectors: np.ndarray, *, buckets: int) -> np.ndarray:
    """A vector for each id of n-grams, float32 [buckets, dim]; zeros if no word has it.

    Of the words' n-grams, int32 [words, n], padded, and their vectors, float32 [words, dim].
    """
    solver = {"solver": "sparse_cg", "max_iter": _ITERATIONS, "tol": _TOLERANCE}
    regression = Ridge(alpha=_PENALTY, fit_intercept=False, **solver)
    return regression.fit(_counts(ngrams, buckets), vectors).coef_.T.astype(np.float32)


def sums(ngrams: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Sums of vectors: int32 [words, n], padded, of a float32 [buckets, dim] -> [words, dim]."""
    return _counts(ngrams, len(table)) @ table


def _counts(ngrams: np.ndarray, buckets: int) -> scipy.sparse.csr_matrix:
    """How often each word has each n-gram, float32 [words, buckets]."""
    words, places = np.nonzero(ngrams != PADDING)
    ones = np.ones(len(words), np.float32)
    return scipy.sparse.csr_matrix((ones, (words, ngrams[words, places])), (len(ngrams), buckets))
