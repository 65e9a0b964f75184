"""How alike two sentences are: by their embeddings, or by the words they share."""

import re

import numpy as np


def cosine(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the cosine of each pair of rows: two [n, dim] without zero rows to float64 [n].

    Rounding alone can leave [-1, 1], where arccos is NaN, so the cosine is clipped.
    """
    left, right = left.astype(np.float64), right.astype(np.float64)
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    return np.clip((left * right).sum(axis=1) / norms, -1.0, 1.0)


def negative_angle(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return -arccos(cosine) of each pair of rows (section 4.3): float64 [n] in [-pi, 0]."""
    return -np.arccos(cosine(left, right))


def scale_0_to_5(angles: np.ndarray) -> np.ndarray:
    """Return negative angles [n] on the scale of people's scores, 0 to 5 (equation 2)."""
    return 5.0 * (1.0 + angles / np.pi)


def words(text: str) -> frozenset[str]:
    """Return the set of lower-cased words of a text."""
    return frozenset(re.findall(r"\w+", text.lower()))


def word_overlap(left: frozenset[str], right: frozenset[str]) -> float:
    """Return the Jaccard index of two word sets, in [0, 1]; 0 where both are empty."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0
