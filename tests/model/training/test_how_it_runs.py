"""What changes how a run goes and not what it learns: replicas, 16 bits."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.training import run

WORDS = "model/encoder/_words/table/.ATTRIBUTES/VARIABLE_VALUE"


@pytest.fixture
def words(parse, run_of_20_steps, tmp_path):
    """The word vectors after 20 steps, of the plain run and of one with overrides."""

    def trained(**overrides):
        params = parse(trainer__train_steps=20, **overrides)
        run.run_experiment(params, mode="train", folder=tmp_path / "run")
        return [
            tf.train.load_checkpoint(str(folder / "ckpt-20")).get_tensor(WORDS)
            for folder in (run_of_20_steps, tmp_path / "run")
        ]

    return trained


@pytest.mark.slow
def test_two_replicas_train_as_one_device_if_they_share_negatives(words):
    one, two = words(
        runtime__distribution_strategy="mirrored",
        task__objective__negatives_across_replicas=True,
    )
    # Adagrad's first steps divide by what is nearly nothing.
    np.testing.assert_allclose(two, one, atol=2e-3)
    assert np.abs(one).max() > 0.1


@pytest.mark.slow
def test_16_bits_are_of_the_steps_and_not_of_the_weights(words):
    whole, short = words(runtime__mixed_precision_dtype="bfloat16")
    assert tf_keras.mixed_precision.global_policy().name == "float32"  # of the run alone
    assert short.dtype == np.float32
    assert 0 < np.abs(short - whole).max() < 0.3 * np.abs(whole).max()
