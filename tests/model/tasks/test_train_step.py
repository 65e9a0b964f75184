"""One step: what it changes, what it returns, and clipping."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from common.tfrecord import encode_example
from model.configs import schema
from model.dual_encoder import build
from model.gradients import Step as Gradients
from model.tasks.nli import NliTask
from model.tasks.response_selection import ResponseSelectionTask
from model.training import trainer
from model.training.trainer import Step

PAIRS = [("how are you", "fine"), ("who is there", "me"), ("where to", "home"), ("why", "because")]


@pytest.fixture
def model():
    return build(model_config(), seed=3)


def model_config():
    averaging = schema.Averaging(word_dim=6, hidden=[5], embedding_dim=4)
    return schema.DualEncoder(
        text=schema.Text(max_tokens=8, word_buckets=300, bigram_buckets=300),
        encoder=schema.Encoder(type="averaging", averaging=averaging),
        heads=[schema.RESPONSE_SELECTION, schema.NLI],
        score_scale=5.0,
    )


def optimizer(**options):
    return tf_keras.optimizers.legacy.SGD(1.0, **options)


def response_selection():
    task = ResponseSelectionTask(schema.ResponseSelection(model=model_config()))
    records = [encode_example({"input": one, "response": other}) for one, other in PAIRS]
    return task, task.parse(tf.constant(records))


def nli():
    task = NliTask(schema.NliClassification(model=model_config()))
    records = [
        encode_example({"premise": one, "hypothesis": other, "label": number % 3})
        for number, (one, other) in enumerate(PAIRS)
    ]
    return task, task.parse(tf.constant(records))


def train(model, task, batch, optimizer, *, measured=True):
    """What the step returned, by name, and the change of each weight."""
    before = [weight.numpy() for weight in model.trainable_variables]
    logs = task.train_step(batch, model, optimizer, measure_norm=tf.constant(measured))
    names = [weight.name for weight in model.trainable_variables]
    after = [weight.numpy() for weight in model.trainable_variables]
    changes = {name: new - old for name, new, old in zip(names, after, before, strict=True)}
    return {name: float(value) for name, value in logs.items()}, changes


def norm(changes):
    return float(np.sqrt(sum(np.square(change).sum() for change in changes.values())))


def test_a_step_returns_its_loss_and_metrics_and_the_norm_of_its_gradient(model):
    task, batch = response_selection()
    expected = task.measure(model, batch, training=True)
    found, changes = train(model, task, batch, optimizer())
    assert found.keys() == {"loss", *task.metrics, "norm/gradient"}
    assert found["loss"] == pytest.approx(float(expected["loss"]), abs=1e-6)
    assert found["p_at_1"] == float(expected["p_at_1"])
    # With SGD of rate 1 a step is the gradient; only the end mark stands on both sides.
    assert found["norm/gradient"] == pytest.approx(norm(changes), rel=1e-2)


@pytest.mark.parametrize(
    ("make", "untouched"), [(response_selection, "nli_head"), (nli, "response_network")]
)
def test_a_task_leaves_the_others_head_alone(model, make, untouched):
    found, changes = train(model, *make(), optimizer())
    assert np.isfinite(found["loss"])
    for name, change in changes.items():
        is_other_head = untouched in name
        assert (np.abs(change).max() == 0) == is_other_head or "bias" in name, name


def test_rows_that_are_looked_up_twice_are_summed_before_they_are_clipped():
    table = tf.Variable([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    sgd = optimizer(global_clipnorm=2.5)
    tape = tf.GradientTape()
    with tape, Gradients(tape).watching() as step:
        once, twice = tf.gather(table, [2, 1]), tf.gather(table, [2])
        loss = tf.reduce_sum(once * [[1.0, 2.0], [0.0, 0.0]]) + tf.reduce_sum(twice * [2.0, 2.0])
    norm = step.train(loss, [table], sgd, measure_norm=True)
    assert norm == 5
    # Of the four numbers apart the norm would be less.
    np.testing.assert_allclose(table, [[0, 0], [0, 0], [-1.5, -2.0]], rtol=1e-6)


class Named:
    """A task of which only its name and those of its metrics count."""

    def __init__(self, name, *metrics):
        self.name = name
        self.metrics = metrics


def test_means_are_of_the_steps_of_each_task():
    both = [Named("response_selection", "p_at_1"), Named("nli", "nli_loss", "nli_accuracy")]
    values = [
        np.array([4.0, 0.25, np.nan, 99.0]),  # a number more than there are names
        np.array([1.0, 0.5, 0.75, np.nan]),
        np.array([2.0, 0.75, 3.0, 99.0]),
    ]
    steps = [Step(*step) for step in zip([0, 1, 0], values, strict=True)]
    assert trainer.means(both, steps) == pytest.approx(
        {
            "training_loss": 7 / 3,
            "p_at_1": 0.5,
            "nli_loss": 0.5,
            "nli_accuracy": 0.75,
            "norm/gradient": 3.0,
            "nli_share": 1 / 3,
        }
    )
    of_one = trainer.means([both[0]], [steps[0], steps[2]])
    assert of_one == {"training_loss": 3.0, "p_at_1": 0.5, "norm/gradient": 3.0}
