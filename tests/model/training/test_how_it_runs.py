"""What changes how a run goes and not what it learns: 16 bits, XLA, checkpoints; its summary."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.training import monitoring, run

WORDS = "model/encoder/_words/table/.ATTRIBUTES/VARIABLE_VALUE"
STEPS = 20


@pytest.fixture
def words(parse, tmp_path):
    """Trains with these overrides and returns the word vectors of the last checkpoint."""

    def trained(name, /, **overrides):
        folder = tmp_path / name
        params = parse(trainer__train_steps=STEPS, **overrides)
        run.run_experiment(params, mode="train", folder=str(folder))
        checkpoint = tf.train.latest_checkpoint(str(folder))
        assert checkpoint == str(folder / f"ckpt-{STEPS}")
        return tf.train.load_checkpoint(checkpoint).get_tensor(WORDS)

    return trained


@pytest.mark.slow
def test_16_bits_are_of_the_steps_and_not_of_the_weights(words):
    short = words("short", runtime__mixed_precision_dtype="bfloat16")
    assert tf_keras.mixed_precision.global_policy().name == "float32"  # of the run alone
    whole = words("whole")
    assert short.dtype == np.float32
    moved = np.abs(whole).max()
    assert 0 < np.abs(short - whole).max() < 0.3 * moved


@pytest.mark.slow
def test_xla_compiles_what_belongs_together(words, monkeypatch):
    asked = []
    monkeypatch.setattr(tf.config.optimizer, "set_jit", asked.append)
    words("without")
    assert "autoclustering" not in asked
    words("with", runtime__enable_xla=True)
    assert asked[-2:] == ["autoclustering", ""]  # of the run alone


@pytest.mark.slow
def test_checkpoints_that_are_written_beside_the_training_are_the_same(words, monkeypatch):
    beside = []
    save = tf.train.CheckpointManager.save

    def spied(self, *arguments, options=None, **more):
        beside.append(bool(options and options.experimental_enable_async_checkpoint))
        return save(self, *arguments, options=options, **more)

    monkeypatch.setattr(tf.train.CheckpointManager, "save", spied)
    expected = words("waiting")
    assert beside
    assert not any(beside)
    beside.clear()
    # The run ends only when the last of them is whole.
    np.testing.assert_array_equal(words("beside", trainer__async_checkpoints=True), expected)
    assert beside
    assert all(beside)


def test_the_summary_has_what_was_trained_beside_what_was_validated():
    text = monitoring.summary(
        {"steps": "1,000", "seconds": "12"},
        trained={"training_loss": 2.5, "p_at_1": 0.25},
        validated={"validation_loss": 3.0, "p_at_1": 0.125, "p_at_10": 0.5},
    )
    rows = [line.split() for line in text.splitlines()]
    for expected in (
        ["steps", "1,000"],
        ["seconds", "12"],
        ["training", "validation"],
        ["loss", "2.5", "3"],
        ["p_at_1", "0.25", "0.125"],
        ["p_at_10", "0.5"],
    ):
        assert expected in rows
