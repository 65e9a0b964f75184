import numpy as np
import pytest

from model.sts_regression import regressor as regressors
from model.sts_regression.data import Pairs
from model.sts_regression.experiments import TABLE_2
from model.sts_regression.options import Settings

RNG = np.random.default_rng(0)
TABLE = np.vstack([np.zeros((2, 6)), RNG.normal(size=(12, 6))]).astype(np.float32)


def data(count=24, longest=9):
    """Pairs of sentences that are the same, score 5, or not, score 0."""
    draw = np.random.default_rng(1)
    sentences = [
        draw.integers(2, 14, size=draw.integers(1, longest)).tolist() for _ in range(count)
    ]
    second = [sentences[i] if i % 2 else sentences[i - 1][::-1] for i in range(count)]
    scores = np.array([5.0 * (i % 2) for i in range(count)], np.float32)
    return Pairs(sentences, second, scores)


def trained(row, epochs=3, *, seed=0, some=None, learning_rate=1e-3, **options):
    """A regressor and its losses."""
    some = some or data()
    settings = Settings(learning_rate=learning_rate, **options)
    made = regressors.build(
        TABLE_2[row], settings, table=TABLE, training=some.sentences(), seed=seed
    )
    return made, regressors.train(made, some, settings, epochs=epochs, seed=seed)


def predicted(made, some):
    return regressors.predict(regressors.scorer(made), some)


def test_batches_take_each_pair_once_and_like_lengths_together():
    some = data(300)
    found = list(regressors.batches(some, size=20, order=np.random.default_rng(2)))
    assert sorted(np.concatenate(found)) == list(range(300))
    lengths = [[len(some.first[i]) + len(some.second[i]) for i in batch] for batch in found]
    assert np.mean([np.std(each) for each in lengths]) < 0.3 * np.std(np.concatenate(lengths))
    again = list(regressors.batches(some, size=20, order=np.random.default_rng(3)))
    assert not np.array_equal(found[0], again[0])


@pytest.mark.parametrize(
    "row",
    [
        pytest.param("lstm1_lstm1", marks=pytest.mark.slow),
        pytest.param("l2_lstm_50", marks=pytest.mark.slow),
        "sif_perceptron",
    ],
)
def test_the_loss_falls(row):
    _, losses = trained(row, epochs=12, learning_rate=1e-2)
    assert losses[-1] < 0.9 * losses[0]
    bad = data()._replace(scores=np.full(24, 1e30, np.float32))
    with pytest.raises(regressors.DivergedError):
        trained(row, some=bad)
