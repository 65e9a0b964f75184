"""Two replicas of 64 pairs against one device with all 128."""

import functools

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.columns import Columns
from model.configs import schema
from model.dual_encoder import build
from model.optimizer import RowwiseAdagrad
from model.tasks.nli import NliTask
from model.tasks.response_selection import ResponseSelectionTask

PAIRS, REPLICAS = 128, 2
LEARNING_RATE = 100.0
"""Large, so that a step is large beside the rounding of the weights that it is measured on."""
EVERYTHING = {"both_directions": True, "margin": 0.3, "mask_duplicates": True}
OBJECTIVES = pytest.mark.parametrize(
    ("options", "learned"),
    [
        pytest.param({}, False, id="paper"),
        pytest.param(EVERYTHING, True, id="everything", marks=pytest.mark.slow),
    ],
)


class World:
    """A small model's configuration, the task with an objective, and a batch for it."""

    def __init__(self, objective, *, learned_score_scale=False, text=None, **averaging):
        sizes = {"word_dim": 16, "hidden": [14], "embedding_dim": 12}
        config = schema.Averaging(**sizes | averaging)
        self.model = schema.DualEncoder(
            text=schema.Text(max_tokens=8, word_buckets=300, **text or {"bigram_buckets": 300}),
            encoder=schema.Encoder(type="averaging", averaging=config),
            response_network=schema.ResponseNetwork(hidden=[13], normalize=True),
            score_scale=8.0,
            learned_score_scale=learned_score_scale,
        )
        self.task = ResponseSelectionTask(
            schema.ResponseSelection(model=self.model, objective=objective)
        )

    def batch(self):
        """Texts of few words; some inputs and some responses stand in both halves."""
        random = np.random.default_rng(1)
        words = random.integers(40, size=(2, 100, 3))
        texts = [[" ".join(f"w{word}" for word in row) for row in side] for side in words]
        batch = {}
        for name, side in zip(("input", "response"), texts, strict=True):
            chosen = tf.constant(random.choice(side, PAIRS))
            batch[name] = self.task.text(chosen)
            batch[f"{name}_key"] = tf.strings.to_hash_bucket_fast(chosen, 2**62)
        return batch


def train(
    world,
    strategy,
    batch,
    make_optimizer=tf_keras.optimizers.legacy.SGD,
    *,
    exchange_dtype="float32",
    **options,
):
    """One step on the batch, split over the replicas -> loss of each, change of each weight."""
    with strategy.scope():
        model = build(world.model, seed=0)
        optimizer = make_optimizer(LEARNING_RATE, **options)
    size = PAIRS // strategy.num_replicas_in_sync
    values = strategy.experimental_distribute_values_from_function(
        lambda context: part(batch, context.replica_id_in_sync_group, size)
    )
    before = [weight.numpy() for weight in model.trainable_variables]

    def on_replica(batch):
        step = functools.partial(world.task.train_step, exchange_dtype=exchange_dtype)
        return step(batch, model, optimizer)["loss"]

    # One replica would be traced for longer than it runs.
    run = strategy.run if strategy.num_replicas_in_sync == 1 else tf.function(strategy.run)
    found = strategy.experimental_local_results(run(on_replica, args=(values,)))
    Columns(strategy, shared=model.encoder.shared_tables, others=[]).synchronize(1)
    after = [weight.numpy() for weight in model.trainable_variables]
    changes = [new - old for new, old in zip(after, before, strict=True)]
    return [float(loss) for loss in found], changes


def part(batch, number, size):
    return tf.nest.map_structure(lambda rows: rows[number * size : (number + 1) * size], batch)


def one_device():
    return tf.distribute.OneDeviceStrategy("CPU:0")


def assert_gradients_match(changes, expected):
    for change, other in zip(changes, expected, strict=True):
        np.testing.assert_allclose(change / LEARNING_RATE, other / LEARNING_RATE, atol=1e-5)
        assert np.abs(change - other).max() < 1e-4 * np.abs(other).max()


def assert_learned_alike(world, two_replicas, batch, *optimizer, **options):
    """By two replicas, and by one device with all the pairs."""
    (loss,), expected = train(world, one_device(), batch, *optimizer, **options)
    found, changes = train(world, two_replicas, batch, *optimizer, **options)
    np.testing.assert_allclose(np.mean(found), loss, atol=1e-5)
    assert_gradients_match(changes, expected)


@OBJECTIVES
def test_two_replicas_learn_as_one_device_with_all_the_pairs(two_replicas, options, learned):
    objective = schema.Objective(negatives_across_replicas=True, **options)
    world = World(objective, learned_score_scale=learned)
    assert_learned_alike(world, two_replicas, world.batch())


@pytest.mark.parametrize("options", [{}, {"global_clipnorm": 1e-3}])
def test_replicas_know_the_whole_length_of_a_row(two_replicas, options):
    """Each has half of its columns; the optimizer divides by its length, and clips by all."""
    world = World(schema.Objective(negatives_across_replicas=True))
    assert_learned_alike(world, two_replicas, world.batch(), RowwiseAdagrad, **options)


def test_replicas_that_exchange_half_the_bytes_learn_nearly_the_same(two_replicas):
    world = World(schema.Objective(negatives_across_replicas=True))
    batch = world.batch()
    _, expected = train(world, two_replicas, batch)
    _, changes = train(world, two_replicas, batch, exchange_dtype="bfloat16")
    parts = [
        np.abs(change - other).max() / np.abs(other).max()
        for change, other in zip(changes, expected, strict=True)
    ]
    assert 1e-5 < max(parts) < 0.01  # it has 8 bits


@pytest.mark.parametrize("word_dim", [16, 15])
def test_replicas_add_up_ngrams_and_the_weights_of_words(two_replicas, write_vocabulary, word_dim):
    """Half of the words have ids of their own; each replica has other texts.

    Two replicas share 16 columns; of 15, one has all.
    """
    known = write_vocabulary({f"w{word}": 40 - word for word in range(20)})
    text = {"bigram_buckets": 0, "char_ngram_buckets": 500, "vocabulary": known}
    objective = schema.Objective(negatives_across_replicas=True)
    world = World(objective, text=text, word_weights="learned", word_dim=word_dim)
    assert_learned_alike(world, two_replicas, world.batch())


def test_replicas_add_up_both_sides_of_nli_and_the_words_that_the_head_reads(two_replicas):
    averaging = schema.Averaging(word_dim=16, hidden=[14], embedding_dim=12)
    world = World(schema.Objective())
    world.model = schema.DualEncoder(
        text=schema.Text(max_tokens=8, word_buckets=300),
        encoder=schema.Encoder(type="averaging", averaging=averaging),
        heads=[schema.NLI],
        nli=schema.Nli(hidden=[8], dropout=0.0, feature_dropout=0.0, max_units=4),
    )
    sides = world.batch()
    world.task = NliTask(schema.NliClassification(model=world.model))
    labels = tf.constant(np.arange(PAIRS) % 3)
    batch = {"premise": sides["input"], "hypothesis": sides["response"], "label": labels}
    assert_learned_alike(world, two_replicas, batch)


@pytest.mark.slow
@OBJECTIVES
def test_without_the_option_each_replica_has_its_own_negatives(two_replicas, options, learned):
    world = World(schema.Objective(**options), learned_score_scale=learned)
    batch = world.batch()
    halves = [part(batch, number, PAIRS // 2) for number in range(REPLICAS)]
    expected = [train(world, one_device(), half) for half in halves]
    found, changes = train(world, two_replicas, batch)
    np.testing.assert_allclose(found, [loss for (loss,), _ in expected], atol=1e-5)
    means = [np.mean(pair, axis=0) for pair in zip(*(c for _, c in expected), strict=True)]
    assert_gradients_match(changes, means)
    (all_pairs,), _ = train(world, one_device(), batch)
    assert np.mean(found) < all_pairs - 0.1  # 63 negatives are easier than 127
