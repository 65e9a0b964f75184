"""The row to beat: the cosine of a module's embeddings, as they are and tuned on the fold.

Both score -arccos(cos(u, v)), brought to [0, 5] as 5 (1 - arccos / π) (Yang et al. 2018, section
4.3 and equation 2 of its first version). The tuned one multiplies the embeddings by a matrix that
is fitted to the training pairs of the fold, and to nothing else: from the identity on, held near
it by a penalty that a fifth of those pairs chooses. `evaluation`'s, which is fitted to thousands of
pairs, begins at whitened embeddings and stops early on a dev set; folds of a thousand have neither.
"""

from typing import NamedTuple

import numpy as np
from scipy import optimize

from model.sts_regression.data.pairs import HIGHEST
from model.sts_regression.results.measures import pearson

PENALTIES = (10.0, 1.0, 0.1, 0.01)
"""Of the matrix's squared distance from the identity; the best on a fifth of the training pairs."""
_ITERATIONS = 25
_INNER = 5
_MARGIN = 1e-6


class Embeddings(NamedTuple):
    """Of the two sentences of each pair: float32 [n, dim], unit length."""

    first: np.ndarray
    second: np.ndarray

    def take(self, indices: np.ndarray) -> "Embeddings":
        """Those of some pairs."""
        return Embeddings(self.first[indices], self.second[indices])


def score(pairs: Embeddings, matrix: np.ndarray | None = None) -> np.ndarray:
    """float64 [n], in [0, 5]."""
    first, second = (side if matrix is None else side @ matrix for side in pairs)
    products = np.sum(first * second, axis=1, dtype=np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return HIGHEST * (1 - np.arccos(np.clip(products / lengths, -1, 1)) / np.pi)


def tune(pairs: Embeddings, gold: np.ndarray, *, seed: int) -> np.ndarray:
    """The matrix M of u* = u M that makes Pearson's r on these pairs high: float32 [dim, dim]."""
    shuffled = np.random.default_rng(seed).permutation(len(gold))
    inner, rest = np.split(shuffled, [len(gold) // _INNER])
    found = []
    for penalty in PENALTIES:
        matrix = _fitted(pairs.take(rest), gold[rest], penalty=penalty)
        found.append(pearson(score(pairs.take(inner), matrix), gold[inner]) or -1.0)
    return _fitted(pairs, gold, penalty=PENALTIES[int(np.argmax(found))])


def _fitted(pairs: Embeddings, gold: np.ndarray, *, penalty: float) -> np.ndarray:
    dim = pairs.first.shape[1]
    identity = np.eye(dim)
    centred = (gold - gold.mean()) / np.linalg.norm(gold - gold.mean())

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        matrix = flat.reshape(dim, dim)
        value, gradient = _loss(pairs, centred, matrix)
        away = matrix - identity
        return value + penalty * np.sum(away**2) / dim, (
            gradient + 2 * penalty * away / dim
        ).ravel()

    found = optimize.minimize(
        loss, identity.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}
    )
    return found.x.reshape(dim, dim).astype(np.float32)


def _loss(pairs: Embeddings, centred: np.ndarray, matrix: np.ndarray) -> tuple[float, np.ndarray]:
    """-r of -arccos(cosine) and the gold scores, and its gradient [dim, dim]."""
    first, second = (side.astype(np.float64) @ matrix for side in pairs)
    lengths = [np.linalg.norm(side, axis=1, keepdims=True) for side in (first, second)]
    units = [side / length for side, length in zip((first, second), lengths, strict=True)]
    cosines = np.clip(np.sum(units[0] * units[1], axis=1), -1 + _MARGIN, 1 - _MARGIN)
    angles = -np.arccos(cosines)
    away = angles - angles.mean()
    norm = np.linalg.norm(away)
    r = float(centred @ away / norm)
    # d r / d angle, then d angle / d cosine, then d cosine / d each side.
    by_cosine = (centred - r * away / norm) / norm / np.sqrt(1 - cosines**2)
    gradient = np.zeros_like(matrix)
    for side in (0, 1):
        by_side = (units[1 - side] - cosines[:, np.newaxis] * units[side]) / lengths[side]
        gradient -= pairs[side].T.astype(np.float64) @ (by_cosine[:, np.newaxis] * by_side)
    return -r, gradient
