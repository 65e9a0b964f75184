import numpy as np
import pytest

from model.sts_regression.choices import Choices
from model.sts_regression.data.prepared import Data
from model.sts_regression.experiments import TABLE_2
from model.sts_regression.layers import regressor as regressors
from model.sts_regression.training import training

RNG = np.random.default_rng(0)
TABLE = np.vstack([np.zeros((2, 6)), RNG.normal(size=(12, 6))]).astype(np.float32)


def data(count=24, longest=9):
    """Pairs of sentences that are the same, score 5, or not, score 0."""
    draw = np.random.default_rng(1)
    sentences = [
        draw.integers(2, 14, size=draw.integers(1, longest)).tolist() for _ in range(count)
    ]
    second = [sentences[i] if i % 2 else sentences[i - 1][::-1] for i in range(count)]
    return Data(sentences, second, np.array([5.0 * (i % 2) for i in range(count)], np.float32))


def trained(row, epochs=3, **options):
    """A regressor and its losses."""
    choices = Choices(**{"batch": 8} | options)
    seed = options.get("seed", 0)
    made = regressors.build(
        TABLE_2[row], choices, table=TABLE, training=data().sentences(), seed=seed
    )
    return made, training.train(made, data(), choices, epochs=epochs, seed=seed)


def predicted(made, some):
    return training.predict(regressors.scorer(made), some)


def test_batches_take_each_pair_once_and_like_lengths_together():
    some = data(300)
    found = list(training.batches(some, size=20, order=np.random.default_rng(2)))
    assert sorted(np.concatenate(found)) == list(range(300))
    lengths = [[len(some.first[i]) + len(some.second[i]) for i in batch] for batch in found]
    assert np.mean([np.std(each) for each in lengths]) < 0.3 * np.std(np.concatenate(lengths))
    again = list(training.batches(some, size=20, order=np.random.default_rng(3)))
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
    _, losses = trained(row, epochs=12, learning_rate=3e-3)
    assert losses[-1] < 0.9 * losses[0]


@pytest.mark.slow
@pytest.mark.parametrize("gates", ["printed", "bounded"])
def test_ten_lstms_train_with_finite_losses(gates):
    made, losses = trained("lstm10_perceptron", gates=gates)
    assert len(losses) == 3
    assert np.isfinite(losses).all()
    # Over ten times as many words as training had, too.
    long = Data([[3, 4, 5] * 30], [[6] * 60], np.zeros(1, np.float32))
    assert 0 <= predicted(made, long)[0] <= 5


@pytest.mark.slow
def test_the_same_seed_gives_the_same_scores():
    found = [
        predicted(trained("lstm1_perceptron", epochs=1, seed=seed)[0], data()) for seed in (4, 4, 5)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


@pytest.mark.slow
def test_scores_do_not_depend_on_the_other_pairs():
    made, _ = trained("lstm2_lstm2", epochs=1)
    together = predicted(made, data())
    alone = [predicted(made, data().take(np.array([i])))[0] for i in range(6)]
    np.testing.assert_allclose(together[:6], alone, atol=1e-5)


def test_word_vectors_are_trained_only_if_asked_for():
    count = {
        train: len(trained("sif_perceptron", 1, train_vectors=train)[0].trainable_variables)
        for train in (False, True)
    }
    assert count == {False: 4, True: 5}


@pytest.mark.slow
def test_one_encoder_has_half_the_weights():
    sizes = [
        len(trained("lstm1_perceptron", 1, encoders=e)[0].trainable_variables)
        for e in ("two", "one")
    ]
    assert sizes == [3 + 3 + 4, 3 + 4]


def test_a_loss_that_is_not_finite_ends_training():
    bad = data()._replace(scores=np.full(24, 1e30, np.float32))
    made = regressors.build(
        TABLE_2["sif_perceptron"], Choices(), table=TABLE, training=bad.sentences(), seed=0
    )
    with pytest.raises(training.DivergedError, match="not finite in epoch 1"):
        training.train(made, bad, Choices(), epochs=3, seed=0)
