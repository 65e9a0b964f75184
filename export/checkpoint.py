"""A model folder of `python -m model` -> the trained model."""

from pathlib import Path

import tensorflow as tf
import yaml

from model import configs, tasks
from model.dual_encoder import DualEncoder
from model.errors import InputError
from model.text import TextToIds
from model.training import PARAMS_FILE


def load(model_dir: Path) -> tuple[DualEncoder, TextToIds]:
    """The model of the last checkpoint, and the text handling that it was trained with.

    Raises:
      InputError: if the folder is not a model folder, or its checkpoint is of another model.
    """
    params_path = model_dir / PARAMS_FILE
    checkpoint = tf.train.latest_checkpoint(model_dir)
    if checkpoint is None or not params_path.is_file():
        raise InputError(
            f"--model_dir: {str(model_dir)!r} holds no checkpoint with its {PARAMS_FILE}; "
            "accepted is a folder that `python -m model --model_dir` has written"
        )
    config = configs.ResponseSelection()
    try:
        config.override({"model": yaml.safe_load(params_path.read_text())["task"]["model"]})
    except (TypeError, KeyError, ValueError, yaml.YAMLError) as error:
        raise InputError(
            f"{str(params_path)!r} is not the {PARAMS_FILE} of this project's training: {error}"
        ) from error
    model = tasks.ResponseSelectionTask(config).build_model()
    try:
        status = tf.train.Checkpoint(model=model).restore(checkpoint)
        status.expect_partial().assert_existing_objects_matched()
    except (AssertionError, ValueError, tf.errors.OpError) as error:
        raise InputError(
            f"--model_dir: {checkpoint!r} does not fit the model of {params_path}: {error}"
        ) from error
    return model, TextToIds(config.model.text)
