"""The second configuration of section 4.3: one matrix that fits embeddings to gold scores.

u* = u @ matrix. The matrix minimizes, on the benchmark's train file,

    1 - Pearson(score, gold) + penalty * |M - I|^2,    matrix = start @ M,

where score is equation 2's of u* and v*. It begins at M = I and L-BFGS changes it step by step.
With 250,000 parameters for 5,749 pairs it overfits soon. The dev file chooses the start, among
powers of the second moment of the embeddings (0 is the identity, 1 whitens), the penalty, and the
step to stop at.
"""

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy.optimize

from common import statistics
from common.sts import SimilarityData
from evaluation.metrics import similarity

POWERS = (0.0, 0.5, 0.75)
PENALTIES = (1e-3, 3e-3)
MOST_STEPS = 30
PATIENCE = 2  # steps without a better dev score
# Of the mean second moment: directions with less than that are noise and are not blown up.
FLOOR = 0.05
# arccos has no slope at 1 and -1; closer cosines than this are left alone.
EDGE = 1e-6


@dataclass(frozen=True)
class Pairs:
    """Embeddings of both sentences of each pair, float32 [pairs, dim], and gold scores [pairs]."""

    left: np.ndarray
    right: np.ndarray
    gold: np.ndarray

    def times(self, matrix: np.ndarray) -> "Pairs":
        """Return the pairs with u @ matrix for each u."""
        return Pairs(self.left @ matrix, self.right @ matrix, self.gold)

    def pearson(self) -> float:
        """Return Pearson's r of equation 2's scores with the gold scores."""
        angles = -np.arccos(similarity.cosine(self.left, self.right))
        return float(statistics.pearson(angles, self.gold))


class Tuned(NamedTuple):
    """The chosen matrix, float32 [dim, dim], how it was chosen, and Pearson before and after."""

    matrix: np.ndarray
    chosen: dict[str, float]
    scores: dict[str, float]


def learn(encoder, train: SimilarityData, dev: SimilarityData) -> Tuned:
    """Learn the matrix on train and choose it on dev; nothing here is drawn at random."""
    learning, choosing = embedded(encoder, train), embedded(encoder, dev)
    untuned = {"train_untuned": learning.pearson(), "dev_untuned": choosing.pearson()}
    found = []
    for power, penalty in product(POWERS, PENALTIES):
        start = _start(learning, power)
        change, steps = _descend(learning.times(start), choosing.times(start), penalty=penalty)
        matrix = (start @ change).astype(np.float32)
        both = {"train": learning.times(matrix), "dev": choosing.times(matrix)}
        scores = untuned | {name: pairs.pearson() for name, pairs in both.items()}
        found.append(Tuned(matrix, {"power": power, "penalty": penalty, "steps": steps}, scores))
    return max(found, key=lambda one: one.scores["dev"])  # of equal ones, the first


def embedded(encoder, data: SimilarityData) -> Pairs:
    """Encode the pairs; rows of unit length, which changes no angle."""
    left, right = map(similarity.unit, similarity.of_pairs(encoder.encode, data.texts()))
    return Pairs(left, right, np.array([pair.gold for pair in data.pairs]))


def _start(pairs: Pairs, power: float) -> np.ndarray:
    """Return the second moment of the embeddings to -power/2, scaled so that rows keep length 1."""
    rows = np.concatenate([pairs.left, pairs.right]).astype(np.float64)
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    values = np.maximum(values, 0.0) + FLOOR * values.mean()
    matrix = (vectors * values ** (-power / 2)) @ vectors.T
    lengths = np.linalg.norm(rows @ matrix, axis=1)
    return (matrix / np.sqrt(np.mean(lengths**2))).astype(np.float32)


def _descend(train: Pairs, dev: Pairs, *, penalty: float) -> tuple[np.ndarray, int]:
    """Return the M, float32 [dim, dim], of the step with the best dev score, and its number."""
    dim = train.left.shape[1]
    identity = np.eye(dim, dtype=np.float32)
    best, best_score, best_step, step = identity, dev.pearson(), 0, 0

    def after_step(intermediate_result) -> None:
        nonlocal best, best_score, best_step, step
        step += 1
        current = intermediate_result.x.reshape(dim, dim).astype(np.float32)
        score = dev.times(current).pearson()
        if score > best_score:
            best, best_score, best_step = current, score, step
        elif step - best_step >= PATIENCE:
            raise StopIteration

    scipy.optimize.minimize(
        lambda flat: _loss(flat.reshape(dim, dim).astype(np.float32), train, penalty=penalty),
        identity.astype(np.float64).ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=after_step,
        options={"maxiter": MOST_STEPS},
    )
    return best, best_step


def _loss(matrix: np.ndarray, pairs: Pairs, *, penalty: float) -> tuple[float, np.ndarray]:
    """Return the loss at `matrix`, float32 [dim, dim], and its gradient, float64 [dim * dim]."""
    left, right = pairs.left @ matrix, pairs.right @ matrix
    left_length = np.linalg.norm(left, axis=1, keepdims=True)
    right_length = np.linalg.norm(right, axis=1, keepdims=True)
    left, right = left / left_length, right / right_length
    exact = (left * right).sum(axis=1, dtype=np.float64)
    cosine = np.clip(exact, EDGE - 1.0, 1.0 - EDGE)
    score = 5.0 * (1.0 - np.arccos(cosine) / np.pi)
    # Pearson's r, and its derivative by each score.
    x, y = score - score.mean(), pairs.gold - pairs.gold.mean()
    x_length, y_length = max(float(np.linalg.norm(x)), 1e-12), float(np.linalg.norm(y))
    pearson = float(x @ y) / (x_length * y_length)
    by_score = (y / y_length - pearson * x / x_length) / x_length
    by_cosine = by_score * 5.0 / np.pi / np.sqrt(1.0 - cosine**2) * (cosine == exact)
    slope = by_cosine.astype(np.float32)[:, None]
    along = exact.astype(np.float32)[:, None]
    gradient = -pairs.left.T @ (slope * (right - along * left) / left_length)
    gradient -= pairs.right.T @ (slope * (left - along * right) / right_length)
    change = matrix - np.eye(len(matrix), dtype=np.float32)
    loss = 1.0 - pearson + penalty * float((change**2).sum())
    return loss, (gradient + 2 * penalty * change).astype(np.float64).ravel()
