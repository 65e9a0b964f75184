import numpy as np
import pytest

from model.sts_regression import cosine
from model.sts_regression.results.measures import pearson


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def noisy_pairs(count, seed):
    """What two sentences mean is in 3 dimensions; 9 others say nothing."""
    draw = np.random.default_rng(seed)
    meaning = [unit(draw.normal(size=(count, 3))) for _ in range(2)]
    meaning[1][::2] = unit(meaning[0][::2] + 0.3 * draw.normal(size=(count, 3))[::2])
    noise = [unit(draw.normal(size=(count, 9))) for _ in range(2)]
    sides = [unit(np.hstack(parts)) for parts in zip(meaning, noise, strict=True)]
    return cosine.Embeddings(*sides), np.sum(meaning[0] * meaning[1], axis=1)


def test_scores_by_hand():
    pairs = cosine.Embeddings(
        np.array([[1.0, 0], [1, 0], [1, 0]]), np.array([[1.0, 0], [0, 1], [-1, 0]])
    )
    np.testing.assert_allclose(cosine.score(pairs), [5, 2.5, 0], atol=1e-6)


@pytest.mark.slow
def test_a_tuned_matrix_is_better_on_other_pairs():
    training, gold = noisy_pairs(200, 2)
    matrix = cosine.tune(training, gold, seed=0)
    others, others_gold = noisy_pairs(200, 3)
    before, after = (pearson(cosine.score(others, m), others_gold) for m in (None, matrix))
    assert before == pytest.approx(0.9, abs=0.08)
    assert after > before + 0.02
