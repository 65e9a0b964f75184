"""One step: what it changes, what it returns, and clipping."""

import numpy as np
import pytest
import tensorflow as tf
from official.modeling import optimization

from data_pipeline.records import encode_example
from model import configs, step, tasks
from model.dual_encoder import build
from model.text import TextToIds

PAIRS = [("how are you", "fine"), ("who is there", "me"), ("where to", "home"), ("why", "because")]


@pytest.fixture
def model():
    averaging = configs.Averaging(word_dim=6, hidden=[5], embedding_dim=4)
    config = configs.DualEncoder(
        text=configs.Text(max_tokens=8, word_buckets=300, bigram_buckets=300),
        encoder=configs.Encoder(type="averaging", averaging=averaging),
        heads=[configs.RESPONSE_SELECTION, configs.INFERENCE],
        score_scale=5.0,
    )
    return build(config, seed=3)


def optimizer(**options):
    return optimization.OptimizerFactory(
        optimization.OptimizationConfig(
            {
                "optimizer": {"type": "sgd", "sgd": options},
                "learning_rate": {"type": "constant", "constant": {"learning_rate": 1.0}},
            }
        )
    ).build_optimizer(1.0)


def response_selection(model):
    task = tasks.ResponseSelection(TextToIds(model._config.text), configs.Objective())
    records = [encode_example({"input": one, "response": other}) for one, other in PAIRS]
    return task, task.parse(tf.constant(records))


def inference(model):
    task = tasks.Inference(TextToIds(model._config.text), configs.Nli())
    records = [
        encode_example({"premise": one, "hypothesis": other, "label": number % 3})
        for number, (one, other) in enumerate(PAIRS)
    ]
    return task, task.parse(tf.constant(records))


def train(model, task, batch, optimizer, *, measured=True):
    """What the step returned, by name, and the change of each weight."""
    before = [weight.numpy() for weight in model.trainable_variables]
    values = step.train(
        task, batch, model=model, optimizer=optimizer, measured=tf.constant(measured)
    )
    names = [weight.name for weight in model.trainable_variables]
    after = [weight.numpy() for weight in model.trainable_variables]
    changes = {name: new - old for name, new, old in zip(names, after, before, strict=True)}
    return dict(zip(step.names_of(task), values.numpy().tolist(), strict=True)), changes


def norm(changes):
    return float(np.sqrt(sum(np.square(change).sum() for change in changes.values())))


def test_a_step_returns_its_loss_and_metrics_and_the_norm_of_its_gradient(model):
    task, batch = response_selection(model)
    expected = task.outcome(model, batch, training=True)
    found, changes = train(model, task, batch, optimizer())
    assert found["training_loss"] == pytest.approx(float(expected.loss), abs=1e-6)
    assert found["p_at_1"] == float(expected.metrics["p_at_1"])
    # With SGD of rate 1 a step is the gradient; only the end mark stands on both sides.
    assert found["norm/gradient"] == pytest.approx(norm(changes), rel=1e-2)


def test_the_norm_is_measured_only_when_it_is_wanted(model):
    found, _ = train(model, *response_selection(model), optimizer(), measured=False)
    assert np.isnan(found["norm/gradient"])


def test_a_large_gradient_is_clipped_over_all_weights(model):
    task, batch = response_selection(model)
    before = [weight.numpy() for weight in model.trainable_variables]
    found, whole = train(model, task, batch, optimizer())
    for weight, value in zip(model.trainable_variables, before, strict=True):
        weight.assign(value)
    _, clipped = train(model, task, batch, optimizer(global_clipnorm=0.01))
    assert found["norm/gradient"] > 0.1
    shorter = 0.01 / found["norm/gradient"]
    for name, change in whole.items():
        np.testing.assert_allclose(clipped[name], shorter * change, atol=1e-7)


@pytest.mark.parametrize(
    ("make", "untouched"), [(response_selection, "nli_head"), (inference, "response_network")]
)
def test_a_task_leaves_the_others_head_alone(model, make, untouched):
    found, changes = train(model, *make(model), optimizer())
    assert np.isfinite(found["training_loss"])
    for name, change in changes.items():
        is_other_head = untouched in name
        assert (np.abs(change).max() == 0) == is_other_head or "bias" in name, name
