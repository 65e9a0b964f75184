"""The row to beat: the cosine of a module's embeddings, as it is and tuned on the fold.

Both score -arccos(cos(u, v)), scaled to [0, 5] as 5 (1 - arccos / π) (Yang et al. 2018, section 4.3
and equation 2 of its first version). The tuned row multiplies the embeddings by a matrix fitted to
the training pairs of the fold. It starts at the identity, and a penalty, chosen on a fifth of these
pairs, keeps it near. The matrix of `python -m evaluation sts --tune` is fitted to thousands of
pairs: it starts at whitened embeddings and stops early on a dev set, for which folds are too small.
"""

from typing import NamedTuple

import numpy as np
from scipy import optimize

from model.sts_regression.options import HIGHEST
from model.sts_regression.results.measures import pearson

PENALTIES = (10.0, 1.0, 0.1, 0.01)
"""Weights of the matrix's squared distance from the identity."""
_ITERATIONS = 25
_VALIDATION = 5
"""One pair in so many chooses the penalty."""
_MARGIN = 1e-6
"""How far cosines are kept from -1 and 1, where arccos has no gradient."""


class Embeddings(NamedTuple):
    """Of the two sentences of each pair: float32 [n, dim], unit length."""

    first: np.ndarray
    second: np.ndarray

    def take(self, indices: np.ndarray) -> "Embeddings":
        """Those of the pairs at these indices."""
        return Embeddings(self.first[indices], self.second[indices])


def score(pairs: Embeddings, matrix: np.ndarray | None = None) -> np.ndarray:
    """float64 [n], in [0, 5]."""
    first, second = (side if matrix is None else side @ matrix for side in pairs)
    products = np.sum(first * second, axis=1, dtype=np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return HIGHEST * (1 - np.arccos(np.clip(products / lengths, -1, 1)) / np.pi)


def tune(pairs: Embeddings, gold: np.ndarray, *, seed: int) -> np.ndarray:
    """The matrix M of u* = u M with a high Pearson's r on these pairs: float32 [dim, dim]."""
    shuffled = np.random.default_rng(seed).permutation(len(gold))
    validation, rest = np.split(shuffled, [len(gold) // _VALIDATION])
    found = []
    for penalty in PENALTIES:
        matrix = _fitted(pairs.take(rest), gold[rest], penalty=penalty)
        found.append(pearson(score(pairs.take(validation), matrix), gold[validation]) or -1.0)
    return _fitted(pairs, gold, penalty=PENALTIES[int(np.argmax(found))])


def _fitted(pairs: Embeddings, gold: np.ndarray, *, penalty: float) -> np.ndarray:
    """L-BFGS on -r plus the penalty; TensorFlow has the gradient."""
    import tensorflow as tf

    dim = pairs.first.shape[1]
    identity = tf.eye(dim, dtype=tf.float64)
    sides = [tf.constant(side, tf.float64) for side in pairs]
    centred = tf.constant((gold - gold.mean()) / np.linalg.norm(gold - gold.mean()), tf.float64)

    @tf.function
    def loss(flat: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(flat)
            matrix = tf.reshape(flat, [dim, dim])
            first, second = (tf.math.l2_normalize(side @ matrix, axis=1) for side in sides)
            cosines = tf.reduce_sum(first * second, axis=1)
            angles = tf.acos(tf.clip_by_value(cosines, -1 + _MARGIN, 1 - _MARGIN))
            away = angles - tf.reduce_mean(angles)
            r = -tf.tensordot(centred, away, 1) / tf.norm(away)
            value = penalty * tf.reduce_sum((matrix - identity) ** 2) / dim - r
        return value, tape.gradient(value, flat)

    found = optimize.minimize(
        lambda flat: [part.numpy() for part in loss(tf.constant(flat))],
        np.eye(dim).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _ITERATIONS},
    )
    return found.x.reshape(dim, dim).astype(np.float32)
