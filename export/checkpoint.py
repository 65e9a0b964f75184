"""A model folder of `python -m model` -> the trained model."""

from pathlib import Path

import tensorflow as tf

from model import model_dir, trained
from model.dual_encoder import DualEncoder
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
    return trained.load("--model_dir", str(folder), checkpoint)
