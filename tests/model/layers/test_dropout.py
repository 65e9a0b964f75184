"""Word dropout, and random states that a checkpoint carries on."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.configs import schema
from model.layers import encoders
from model.layers.dropout import IdDropout

SIZES = {"words": 50, "bigrams": 60}
AVERAGING = schema.Encoder(
    type="averaging",
    averaging=schema.Averaging(
        word_dim=4, hidden=[5], embedding_dim=7, word_dropout=0.5, bigram_dropout=0.5
    ),
)
_SIZES = {"layers": 2, "heads": 2, "hidden": 8, "filter": 16, "embedding_dim": 7}
TRANSFORMER = schema.Encoder(
    type="transformer", transformer=schema.Transformer(**_SIZES, dropout=0.1, word_dropout=0.3)
)
RECURRENT = schema.Encoder(
    type="recurrent",
    recurrent=schema.Recurrent(
        word_dim=4, units=5, bidirectional=False, dropout=0.1, word_dropout=0.3
    ),
)
ALL = pytest.mark.parametrize(
    "config",
    [AVERAGING, *(pytest.param(kind, marks=pytest.mark.slow) for kind in (TRANSFORMER, RECURRENT))],
    ids=lambda config: config.type,
)
STRATEGIES = {
    "one device": tf.distribute.get_strategy,
    "two replicas": lambda: tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"]),
}
_LONG, _SHORT = list(range(1, 17)), [*range(21, 31), *[0] * 6]
IDS = {"words": tf.constant([_LONG, _SHORT]), "bigrams": tf.constant([_LONG, _SHORT])}


def build(config, *, seed, strategy):
    with strategy.scope():
        tf_keras.utils.set_random_seed(seed)
        return encoders.build(config, SIZES)


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
def test_a_restored_encoder_draws_as_if_it_had_never_stopped(config, strategy, tmp_path):
    strategy = strategy()
    encoder = build(config, seed=1, strategy=strategy)
    assert all(weight.dtype == tf.float32 for weight in encoder.weights)  # no random state
    draw = drawing(encoder, strategy)
    draw()
    path = tf.train.Checkpoint(model=encoder).save(str(tmp_path / "ckpt"))
    undisturbed = [draw() for _ in range(3)]

    fresh = build(config, seed=2, strategy=strategy)
    draw_again = drawing(fresh, strategy)
    draw_again()  # compiled before the restoring, and with draws of its own behind it
    status = tf.train.Checkpoint(model=fresh).restore(path)
    status.assert_existing_objects_matched().assert_consumed()
    np.testing.assert_array_equal([draw_again() for _ in range(3)], undisturbed)


@ALL
def test_steps_sides_and_replicas_draw_differently(config):
    strategy = STRATEGIES["two replicas"]()
    draw = drawing(build(config, seed=1, strategy=strategy), strategy)
    # [steps, replicas, sides, rows, dim]; a row of each, of one and the same sentence.
    rows = np.stack([draw(), draw()])[:, :, :, 0].reshape(8, -1)
    apart = np.abs(rows[:, np.newaxis] - rows).max(axis=2) + np.eye(8)
    assert (apart > 1e-3).all()


@pytest.mark.parametrize("kind", ["transformer", "recurrent"])
def test_word_dropout_alone_is_padding_in_the_words_places(kind):
    config = schema.Encoder()
    config.override({"type": kind, kind: {"dropout": 0.0, "word_dropout": 1.0}})
    config.override({kind: _SIZES if kind == "transformer" else {"word_dim": 4, "units": 5}})
    encoder = build(config, seed=1, strategy=tf.distribute.get_strategy())
    rows = encoder({"words": tf.constant([[11, 12, 13], [21, 22, 0]])}, training=True)
    holes = encoder({"words": tf.constant([[0, 0, 13], [0, 22, 0]])})
    np.testing.assert_array_equal(rows["default"], holes["default"])


def test_no_word_attends_to_padding_in_the_middle():
    encoder = build(TRANSFORMER, seed=1, strategy=tf.distribute.get_strategy())
    ids = {"words": tf.constant([[11, 0, 13, 0]])}
    before = encoder(ids)["default"].numpy()
    table, *others = encoder.get_weights()
    table[0] = 100 + np.arange(8)  # what any use of padding's vector would show
    encoder.set_weights([table, *others])
    np.testing.assert_array_equal(encoder(ids)["default"], before)
