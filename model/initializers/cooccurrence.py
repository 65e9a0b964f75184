"""Word vectors from co-occurrence counts.

Positive pointwise mutual information (PMI) of words in a window, factored by an SVD (Levy and
Goldberg 2014, section 4.2; with the choices of Levy et al. 2015, section 3). Words with the same
neighbors get similar vectors: "dogs" and "dog", "ran" and "run".
"""

from collections.abc import Iterable

import numpy as np
import scipy.linalg
import scipy.sparse

from model.text import PADDING

WINDOW = 5
"""Words to each side; a neighbor at distance d counts 1 / d."""
_MIN_COUNT = 5
"""Words seen fewer times get no vector."""
_SMOOTHING = 0.75
"""Power of the neighbors' frequencies; below 1 it lowers the PMI of rare neighbors."""
_OVERSAMPLING = 40
"""Dimensions of the random projection beyond those asked for."""
_POWER_ITERATIONS = 4
_AT_ONCE = 50
"""Batches whose pairs are summed into one sparse matrix."""


def vectors(batches: Iterable[np.ndarray], *, ids: int, dim: int, seed: int) -> np.ndarray:
    """A vector of unit length for each id seen often enough, float32 [ids, dim], 0 for the others.

    Args:
      batches: int32 [texts, tokens] each, padded with `PADDING` at the end.
      ids: the number of ids.
      dim: numbers of a vector; the last ones are 0 if fewer words are seen often enough.
      seed: of the random projection.
    """
    near, counts = _counted(batches, ids)
    kept = np.flatnonzero(counts >= _MIN_COUNT)
    information = _information(near[kept][:, kept])
    found = _factored(information, dim, seed=seed)
    found[information.getnnz(axis=1) == 0] = 0  # not quite so, by rounding
    rows = np.zeros([ids, dim], np.float32)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    rows[kept, : found.shape[1]] = np.divide(
        found, lengths, out=np.zeros_like(found), where=lengths > 0
    )
    return rows


def _counted(batches: Iterable[np.ndarray], ids: int) -> tuple[scipy.sparse.csr_matrix, np.ndarray]:
    """Weighted co-occurrence counts, float32 [ids, ids], and word counts, int64 [ids]."""
    near = scipy.sparse.csr_matrix((ids, ids), dtype=np.float32)
    counts = np.zeros(ids, np.int64)
    waiting: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def summed() -> scipy.sparse.csr_matrix:
        first, second, weights = (np.concatenate(part) for part in zip(*waiting, strict=True))
        return scipy.sparse.csr_matrix((weights, (first, second)), shape=(ids, ids))

    for batch in batches:
        counts += np.bincount(batch[batch != PADDING], minlength=ids)
        for distance in range(1, min(WINDOW + 1, batch.shape[1])):
            first, second = batch[:, :-distance], batch[:, distance:]
            real = second != PADDING
            weights = np.full(real.sum(), 1 / distance, np.float32)
            waiting.append((first[real], second[real], weights))
        if len(waiting) >= _AT_ONCE * WINDOW:
            near = near + summed()
            waiting.clear()
    if waiting:
        near = near + summed()
    return near + near.T, counts


def _information(near: scipy.sparse.csr_matrix) -> scipy.sparse.csr_matrix:
    """Positive pointwise mutual information: float32 [words, words]."""
    near = near.tocoo()
    totals = np.bincount(near.row, near.data, minlength=near.shape[0])
    contexts = totals**_SMOOTHING
    contexts /= contexts.sum() or 1
    found = np.log(near.data / (totals[near.row] * contexts[near.col]))
    positive = found > 0
    places = near.row[positive], near.col[positive]
    return scipy.sparse.csr_matrix((found[positive].astype(np.float32), places), near.shape)


def _factored(matrix: scipy.sparse.csr_matrix, dim: int, *, seed: int) -> np.ndarray:
    """Left singular vectors times the roots of their values, the largest `dim`: [words, <= dim].

    By a random projection (Halko et al. 2011, algorithm 4.4), whose last numbers are near enough
    for a start.
    """
    words = matrix.shape[0]
    width = min(dim + _OVERSAMPLING, words)
    basis = np.random.default_rng(seed).standard_normal([words, width], np.float32)
    for _ in range(_POWER_ITERATIONS):
        basis, _ = scipy.linalg.qr(matrix @ basis, mode="economic")
        basis, _ = scipy.linalg.qr(matrix.T @ basis, mode="economic")
    left, values, _ = scipy.linalg.svd(matrix @ basis, full_matrices=False)
    return (left * values**0.5)[:, :dim]
