"""A run that learns nothing any more says so and does not end as one that is fine."""

import numpy as np
import pytest
import tensorflow as tf

from model.errors import TrainingError
from model.losses import GRADIENT_NORM
from model.training.monitoring import LearningCheck
from model.training.trainer import LOSS

IDS = {"words": np.array([[1, 2], [3, 0]])}
POINT = np.full([2, 4], 0.5, np.float32)


@pytest.fixture
def learning():
    return LearningCheck(tf.Variable(60, dtype=tf.int64))


@pytest.mark.parametrize(
    ("norms", "loss", "fails", "warnings"),
    [
        ([], 5.0, False, 0),
        ([0.1, 0.0, 1e-12], 5.0, False, 0),
        ([0.1, 0.0, 1e-12, 0.0, 0.0], 5.0, True, 1),
        ([0.0, 0.0, 0.0, 1e-6], 5.0, False, 1),
        ([0.0, 0.0, 0.0], 1e-4, False, 0),  # a loss that is all gone needs no gradient
        ([0.0], 5.0, True, 0),  # the only loop of a short run
    ],
)
def test_three_loops_without_a_gradient_end_as_an_error(
    learning, capfd, norms, loss, fails, warnings
):
    for norm in norms:
        learning({LOSS: loss, GRADIENT_NORM: norm})
    assert bool(learning.failure) is fails
    assert capfd.readouterr().out.count("warning: the gradient") == warnings
    if fails:
        with pytest.raises(TrainingError, match="nothing is learned"):
            learning.require()


def test_embeddings_that_are_one_point_or_no_numbers(learning, capfd):
    learning.validated({"words": np.array([[1, 2], [1, 2]])}, POINT)  # of equal sentences
    learning.require()
    learning.validated(IDS, np.add(POINT, [[0], [1e-6]]))
    assert "warning: the embeddings of 2 sentences are one point" in capfd.readouterr().out
    learning.validated(IDS, np.add(POINT, [[0], [1e-2]]))  # another task, of the same validation
    with pytest.raises(TrainingError, match="one point at step 60"):
        learning.require()
    learning.begin_validation()
    learning.require()
    learning.validated(IDS, np.array([[0.5, np.nan], [0.5, 0.5]]))
    with pytest.raises(TrainingError, match="not finite at step 60"):
        learning.require()


def test_a_collapsed_encoder_ends_as_an_error_again_and_again(ends, tmp_path):
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
    errors = set()
    for _ in range(2):
        status, output = ends(tmp_path / "run", mode="train_and_eval", **overrides)
        assert status == 1
        errors |= {line for line in output.err.splitlines() if line.startswith("error:")}
    (error,) = errors
    assert "nothing is learned" in error
    assert (tmp_path / "run" / "ckpt-20.index").exists()
