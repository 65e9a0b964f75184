"""A model folder in, the trained model out."""

import re
import tempfile
from pathlib import Path

import tensorflow as tf

from common.errors import InputError, message_of
from model import BEST, LAST
from model.checkpoints import files, model_dir
from model.checkpoints.model_dir import Record
from model.configs import parsing, schema
from model.dual_encoder import DualEncoder, build
from model.ema import WeightAverage
from model.text.preprocessing import TextToIds

_SECTIONS = {schema.RESPONSE_SELECTION: "response_network.", schema.NLI: "nli."}
"""Parameters of the layers of a task."""
_FREE = re.compile(r"dropout|^nli\.label_smoothing$|^text\.(max_tokens|vocabulary)$")
"""Parameters that no weight depends on; tokens of vocabularies are compared themselves."""


def load(folder: str | Path) -> tuple[DualEncoder, TextToIds]:
    """The model of the last checkpoint in a model folder, and its preprocessing.

    If the run kept an average of the weights, the model gets that: it is what was validated.

    Raises:
      InputError: if it is not a model folder, or its checkpoint is damaged or of another model.
    """
    return load_checkpoint(folder, find_checkpoint(folder))


def find_checkpoint(folder: str | Path, which: str = LAST) -> str:
    """The path of the last or the best checkpoint of a model folder, beside its parameters.

    Warns of the last one if its run has failed, or if another one validated best.
    """
    folder = Path(folder, BEST) if which == BEST else Path(folder)
    checkpoint = files.last(folder)
    if checkpoint is None or not (folder / files.PARAMS_FILE).exists():
        raise InputError(
            f"{folder} holds no checkpoint with its {files.PARAMS_FILE}; accepted: a folder "
            "that `python -m model --model_dir` has written, in mode train_and_eval for the best"
        )
    of_run, of_best = Record.read(folder), Record.read(folder / BEST)
    if of_run and of_run.failure:
        print(f"warning: {folder}: the run failed: {of_run.failure}", flush=True)
    if of_best and (best := of_best.best) and not checkpoint.endswith(f"-{best.step}"):
        print(
            f"warning: {checkpoint} is the last checkpoint; the best one ({best.metric} "
            f"{best.value:.4f} at step {best.step}) is in {folder / BEST}",
            flush=True,
        )
    return checkpoint


def load_checkpoint(folder: str | Path, checkpoint: str) -> tuple[DualEncoder, TextToIds]:
    """As `load`, of any checkpoint of the run whose `params.yaml` is in a folder."""
    params, trainer = model_dir.read_params(folder), schema.Trainer()
    trainer.average_decay = (params.get("trainer") or {}).get("average_decay", 0.0)
    config = parsing.parse_model(str(Path(folder, files.PARAMS_FILE)))
    model = build(config, seed=0)
    model_dir.require_vocabulary(folder, config.text.vocabulary)
    average = WeightAverage(model, trainer)
    with files.restoring(checkpoint):
        status = tf.train.Checkpoint(model=model, average=average).restore(checkpoint)
    try:
        status.expect_partial().assert_existing_objects_matched()
    except AssertionError as error:
        raise InputError(
            f"{checkpoint} does not fit the model of its {files.PARAMS_FILE}: {message_of(error)}"
        ) from error
    average.use()
    return model, model.text


def initialize(model: DualEncoder, path: str) -> None:
    """Copies the encoder of another run, as `load` returns it, and the heads that both have.

    `path` is a model folder, or a checkpoint in one.

    Raises:
      InputError: if there is no checkpoint, or its encoder has other sizes or another type.
    """
    last = files.last(path)
    folder, checkpoint = (path, last) if last else (Path(path).parent, path)
    if last is None and not Path(f"{checkpoint}.index").exists():
        raise InputError(f"task.init_checkpoint: {path!r} holds no checkpoint, nor is it one")
    other, _ = load_checkpoint(folder, checkpoint)
    shared = [name for head, name in _SECTIONS.items() if head in {*other.heads} & {*model.heads}]
    fixed = ("text.", "encoder.type", f"encoder.{model.config.encoder.type}.", *shared)
    earlier, now = (dict(model_dir.flat(each.config.as_dict())) for each in (other, model))
    different = [
        f"{name} was {earlier.get(name)!r}, now {value!r}"
        for name, value in now.items()
        if name.startswith(fixed) and not _FREE.search(name) and earlier.get(name) != value
    ]
    if other.text.tokens != model.text.tokens:
        different.append("the vocabulary has other tokens")
    if different:
        raise InputError(
            f"task.init_checkpoint: {checkpoint!r} is of another model: {'; '.join(different)}; "
            "accepted: checkpoints with this run's parameters of task.model"
        )
    with tempfile.TemporaryDirectory() as scratch:
        written = tf.train.Checkpoint(model=other).write(f"{scratch}/weights")
        tf.train.Checkpoint(model=model).read(written).expect_partial()
