"""A run that learns nothing any more says so and does not end as one that is fine."""

import numpy as np
import pytest
import tensorflow as tf

from model.errors import TrainingError
from model.training.monitoring import GRADIENT_NORM, LOSS, LearningCheck

IDS = {"words": np.array([[1, 2], [3, 0]])}


@pytest.fixture
def learning():
    return LearningCheck(tf.Variable(60, dtype=tf.int64))


def loops(learning, *norms, loss=5.0):
    for norm in norms:
        learning({LOSS: loss, GRADIENT_NORM: norm})


def test_three_loops_without_a_gradient_are_said_once_and_end_as_an_error(learning, capfd):
    loops(learning, 0.1, 0.0, 1e-12)
    assert capfd.readouterr().out == ""
    learning.require()
    loops(learning, 0.0, 0.0)
    said = capfd.readouterr().out
    assert (
        said.count("warning: the gradient has been below 1e-09 at every report from step 60 to 60")
        == 1
    )
    with pytest.raises(TrainingError, match="the loss 5: nothing is learned any more; a lower"):
        learning.require()
    loops(learning, 1e-6)
    learning.require()


def test_a_loss_that_is_all_gone_needs_no_gradient(learning, capfd):
    loops(learning, 0.0, 0.0, 0.0, loss=1e-4)
    learning.require()
    assert capfd.readouterr().out == ""


def test_a_short_run_counts_its_only_loop(learning):
    learning.require()
    loops(learning, 0.0)
    with pytest.raises(TrainingError, match="the gradient has been below 1e-09"):
        learning.require()


def test_embeddings_that_are_one_point(learning, capfd):
    point = np.full([2, 4], 0.5, np.float32)
    learning.validated({"words": np.array([[1, 2], [1, 2]])}, point)  # of equal sentences
    learning.require()
    learning.validated(IDS, np.add(point, [[0], [1e-6]]))
    assert "warning: the embeddings of 2 sentences are one point" in capfd.readouterr().out
    with pytest.raises(TrainingError, match="at step 60: the encoder has collapsed; a lower"):
        learning.require()
    learning.validated(IDS, np.add(point, [[0], [1e-2]]))  # another task, of the same validation
    with pytest.raises(TrainingError, match="the encoder has collapsed"):
        learning.require()
    learning.begin_validation()
    learning.require()
    learning.validated(IDS, np.array([[0.5, np.nan], [0.5, 0.5]]))
    with pytest.raises(TrainingError, match="are not finite at step 60: the encoder has diverged"):
        learning.require()


@pytest.mark.slow
def test_a_collapsed_encoder_ends_as_an_error(ends, tmp_path):
    """Units that a rate of 100 has moved below 0 for every sentence: only the bias is left."""
    overrides = {
        "trainer__optimizer_config__optimizer__type": "sgd",
        "trainer__optimizer_config__learning_rate__constant__learning_rate": 100.0,
        "task__model__encoder__averaging__hidden": "[8]",
        "task__model__encoder__averaging__activation": "relu",
        "trainer__train_steps": 20,
        "trainer__validation_interval": 20,
        "trainer__steps_per_loop": 2,
        "trainer__summary_interval": 2,
    }
    status, output = ends(tmp_path / "run", mode="train_and_eval", **overrides)
    assert status == 1
    assert output.out.count("nothing is learned any more") == 1
    assert output.out.count("the encoder has collapsed") == 1
    (line,) = [line for line in output.err.splitlines() if line.startswith("error:")]
    assert "nothing is learned any more; a lower learning rate may help" in line
    assert (tmp_path / "run" / "ckpt-20.index").exists()
    again, output = ends(tmp_path / "run", mode="train_and_eval", **overrides)
    assert (again, line in output.err) == (1, True)
