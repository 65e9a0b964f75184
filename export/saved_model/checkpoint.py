"""A model folder of `python -m model` in, the trained model out."""

from pathlib import Path

from model.checkpoints import files, model_dir, trained
from model.dual_encoder import DualEncoder
from model.errors import InputError
from model.text.preprocessing import TextToIds


def load(folder: Path) -> tuple[DualEncoder, TextToIds]:
    """The model of the last checkpoint, and its text preprocessing.

    If the run kept an average of the weights, the model has that: it is what was validated.

    Raises:
      InputError: if the folder is not a model folder, or its checkpoint is damaged or of another
        model.
    """
    checkpoint = files.last(str(folder))
    if checkpoint is None or not (folder / model_dir.PARAMS_FILE).is_file():
        raise InputError(
            f"--model_dir: {str(folder)!r} holds no checkpoint with its {model_dir.PARAMS_FILE}; "
            "accepted is a folder that `python -m model --model_dir` has written"
        )
    notice = files.notice(str(folder))
    if notice:
        print(notice, flush=True)
    return trained.load("--model_dir", str(folder), checkpoint)
