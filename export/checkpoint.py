"""A model folder of `python -m model` -> the trained model."""

from pathlib import Path

import tensorflow as tf

from model import configs, model_dir
from model.average import WeightAverage
from model.dual_encoder import DualEncoder, build
from model.errors import InputError
from model.text import TextToIds


def load(folder: Path) -> tuple[DualEncoder, TextToIds]:
    """The model of the last checkpoint, and the text handling that it was trained with.

    Where the run kept an average of the weights, the model has that: it is what was validated.

    Raises:
      InputError: if the folder is not a model folder, or its checkpoint is of another model.
    """
    checkpoint = tf.train.latest_checkpoint(folder)
    if checkpoint is None or not (folder / model_dir.PARAMS_FILE).is_file():
        raise InputError(
            f"--model_dir: {str(folder)!r} holds no checkpoint with its {model_dir.PARAMS_FILE}; "
            "accepted is a folder that `python -m model --model_dir` has written"
        )
    config, trainer = _read_configs(folder)
    model = build(config, seed=0)
    average = WeightAverage(model, trainer)
    try:
        status = tf.train.Checkpoint(model=model, average=average).restore(checkpoint)
        status.expect_partial().assert_existing_objects_matched()
    except (AssertionError, ValueError, tf.errors.OpError) as error:
        raise InputError(
            f"--model_dir: {checkpoint!r} does not fit the model of its {model_dir.PARAMS_FILE}: "
            f"{error}"
        ) from error
    average.use()
    return model, TextToIds(config.text)


def _read_configs(folder: Path) -> tuple[configs.DualEncoder, configs.Trainer]:
    params = model_dir.read_params(str(folder))
    model, trainer = configs.DualEncoder(), configs.Trainer()
    try:
        model.override(params["task"]["model"])
        trainer.average_decay = params.get("trainer", {}).get("average_decay", 0.0)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise InputError(
            f"{str(folder / model_dir.PARAMS_FILE)!r} is not the {model_dir.PARAMS_FILE} of this "
            f"project's training: {error!r}"
        ) from error
    return model, trainer
