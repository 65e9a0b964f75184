"""Word dropout, and random states that a checkpoint carries on."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.layers.dropout import IdDropout
from tests.model.layers.test_encoders import build

RATES = {
    "averaging": {"word_dropout": 0.5, "bigram_dropout": 0.5},
    "transformer": {"dropout": 0.1, "word_dropout": 0.3},
    "recurrent": {"dropout": 0.1, "word_dropout": 0.3, "bidirectional": False},
}
ALL = pytest.mark.parametrize(
    "kind",
    ["averaging", *(pytest.param(kind, marks=pytest.mark.slow) for kind in [*RATES][1:])],
)
STRATEGIES = {
    "one device": tf.distribute.get_strategy,
    "two replicas": lambda: tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]),
}
_LONG, _SHORT = list(range(1, 17)), [*range(21, 31), *[0] * 6]
IDS = {"words": tf.constant([_LONG, _SHORT]), "bigrams": tf.constant([_LONG, _SHORT])}


def dropping(kind, *, seed, strategy):
    with strategy.scope():
        tf_keras.utils.set_random_seed(seed)
        return build(kind, **RATES[kind])


def drawing(encoder, strategy):
    """A training step, compiled: the embeddings of each replica."""

    @tf.function
    def step():
        # Twice, as for the two sides of a pair.
        return strategy.run(
            lambda: tf.stack([encoder(IDS, training=True)["default"] for _ in range(2)])
        )

    return lambda: np.stack(strategy.experimental_local_results(step()))


@pytest.mark.parametrize("yes", [True, tf.constant(True)])
@pytest.mark.parametrize("no", [False, tf.constant(False)])
def test_all_but_the_end_mark_can_be_dropped(yes, no):
    ids = tf.constant([[1, 2, 3], [4, 5, 0], [6, 0, 0]])
    rows = IdDropout(1.0)(ids, training=yes)
    np.testing.assert_array_equal(rows, [[0, 0, 3], [0, 5, 0], [6, 0, 0]])
    np.testing.assert_array_equal(IdDropout(1.0)(ids, training=no), ids)
    kept = IdDropout(0.3)(tf.ones([100, 1001], tf.int32), training=yes).numpy()[:, :-1]
    # 100,000 draws have a standard deviation of 0.0015.
    assert abs(1 - kept.mean() - 0.3) < 0.006


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
@ALL
def test_a_restored_encoder_draws_as_if_it_had_never_stopped(kind, strategy, tmp_path):
    strategy = strategy()
    encoder = dropping(kind, seed=1, strategy=strategy)
    assert all(weight.dtype == tf.float32 for weight in encoder.weights)  # no random state
    draw = drawing(encoder, strategy)
    draw()
    path = tf.train.Checkpoint(model=encoder).save(str(tmp_path / "ckpt"))
    undisturbed = [draw() for _ in range(3)]

    fresh = dropping(kind, seed=2, strategy=strategy)
    draw_again = drawing(fresh, strategy)
    draw_again()  # compiled before the restoring, and with draws of its own behind it
    status = tf.train.Checkpoint(model=fresh).restore(path)
    status.assert_existing_objects_matched().assert_consumed()
    np.testing.assert_array_equal([draw_again() for _ in range(3)], undisturbed)


@ALL
def test_steps_sides_and_replicas_draw_differently(kind):
    strategy = STRATEGIES["two replicas"]()
    draw = drawing(dropping(kind, seed=1, strategy=strategy), strategy)
    # [steps, replicas, sides, rows, dim]; a row of each, of one and the same sentence.
    rows = np.stack([draw(), draw()])[:, :, :, 0].reshape(8, -1)
    apart = np.abs(rows[:, np.newaxis] - rows).max(axis=2) + np.eye(8)
    assert (apart > 1e-3).all()


@pytest.mark.parametrize("kind", ["transformer", "recurrent"])
def test_word_dropout_alone_is_padding_in_the_words_places(kind):
    encoder = build(kind, dropout=0.0, word_dropout=1.0)
    rows = encoder({"words": tf.constant([[11, 12, 13], [21, 22, 0]])}, training=True)
    holes = encoder({"words": tf.constant([[0, 0, 13], [0, 22, 0]])})
    np.testing.assert_array_equal(rows["default"], holes["default"])


def test_no_word_attends_to_padding_in_the_middle():
    encoder = build("transformer")
    ids = {"words": tf.constant([[11, 0, 13, 0]])}
    before = encoder(ids)["default"].numpy()
    table, *others = encoder.get_weights()
    table[0] = 100 + np.arange(8)  # what any use of padding's vector would show
    encoder.set_weights([table, *others])
    np.testing.assert_array_equal(encoder(ids)["default"], before)
