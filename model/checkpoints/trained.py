"""A model folder in, the trained model out."""

import tempfile
from pathlib import Path
from posixpath import dirname, join

import tensorflow as tf
import tf_keras

from model.checkpoints import files, model_dir
from model.configs import schema
from model.dual_encoder import LAYERS, DualEncoder, build
from model.errors import InputError
from model.text.preprocessing import TextToIds
from model.training.ema import WeightAverage

_OF_ANY_LAYER = ("name", "trainable", "dtype")


def load(folder: str | Path) -> tuple[DualEncoder, TextToIds]:
    """The model of the last checkpoint in a model folder, and its preprocessing.

    If the run kept an average of the weights, the model gets that: it is what was validated.

    Raises:
      InputError: if it is not a model folder, or its checkpoint is damaged or of another model.
    """
    return load_checkpoint("--model_dir", str(folder), last_checkpoint(folder))


def last_checkpoint(folder: str | Path) -> str:
    """The path of the last checkpoint in a model folder; says if the run has failed.

    Raises:
      InputError: if it is not a model folder.
    """
    folder = str(folder)
    checkpoint = files.last(folder)
    if checkpoint is None or not tf.io.gfile.exists(join(folder, model_dir.PARAMS_FILE)):
        raise InputError(
            f"--model_dir: {folder!r} holds no checkpoint with its {model_dir.PARAMS_FILE}; "
            "accepted: a folder that `python -m model --model_dir` has written"
        )
    notice = files.notice(folder)
    if notice:
        print(notice, flush=True)
    failure = model_dir.failure(folder)
    if failure:
        print(f"warning: {folder}: the run failed: {failure}", flush=True)
    return checkpoint


def load_checkpoint(name: str, folder: str, checkpoint: str) -> tuple[DualEncoder, TextToIds]:
    """As `load`, of any checkpoint of a run.

    Args:
      name: the option that names the folder, such as `--model_dir`; begins error messages.
      folder: has the run's `params.yaml`.
      checkpoint: a checkpoint of that run.

    Raises:
      InputError: if the parameters cannot be read, or the checkpoint is damaged or of another
        model.
    """
    config, trainer = _read_configs(name, folder)
    model_dir.require_vocabulary(folder, config.text.vocabulary, name=name)
    model = build(config, seed=0)
    average = WeightAverage(model, trainer)
    try:
        with files.damage_named(checkpoint, name=name):
            status = tf.train.Checkpoint(model=model, average=average).restore(checkpoint)
            status.expect_partial().assert_existing_objects_matched()
    except InputError:
        raise
    except (AssertionError, ValueError, tf.errors.OpError) as error:
        raise InputError(
            f"{name}: {checkpoint!r} does not fit the model of its {model_dir.PARAMS_FILE}: {error}"
        ) from error
    average.use()
    return model, model.text


def initialize(model: DualEncoder, path: str) -> None:
    """Copies the weights of another run, as `load` returns them, into a model.

    Args:
      model: gets the other run's encoder, and its heads if both have them.
      path: a model folder, or a checkpoint in one.

    Raises:
      InputError: if there is no checkpoint, or its encoder has other sizes or another type.
    """
    name, last = "task.init_checkpoint", files.last(path)
    folder, checkpoint = (path, last) if last else (dirname(path), path)
    if last is None and not tf.io.gfile.exists(f"{checkpoint}.index"):
        raise InputError(f"{name}: {path!r} holds no checkpoint, nor is it one")
    other, _ = load_checkpoint(name, folder, checkpoint)
    shared = {*other.heads} & {*model.heads}
    parts = ["encoder", *(part for task, part in LAYERS.items() if task in shared)]
    for part in parts:
        if different := _differences(getattr(other, part), getattr(model, part)):
            raise InputError(
                f"{name}: {checkpoint!r} is of another model, whose {part} has {different}; "
                "accepted: checkpoints with this run's parameters"
            )
    try:
        _copy(
            tf.train.Checkpoint(encoder=other.encoder), tf.train.Checkpoint(encoder=model.encoder)
        )
        _copy(tf.train.Checkpoint(model=other), tf.train.Checkpoint(model=model), partly=True)
        if other.text.get_config()["vocabulary"] != model.text.get_config()["vocabulary"]:
            raise ValueError("task.model.text.vocabulary has other tokens here")
    except (AssertionError, ValueError) as error:
        raise InputError(f"{name}: {checkpoint!r} is of another model: {error}") from error
    if schema.RESPONSE_SELECTION in shared:
        lost = {
            "learned score scale": other.learns_score_scale and not model.learns_score_scale,
            "network of earlier messages": other.reads_context and not model.reads_context,
        }
        for what in filter(lost.get, lost):
            print(f"warning: {name}: {checkpoint} has a {what}, which is not used here")


def _differences(theirs: tf_keras.layers.Layer, ours: tf_keras.layers.Layer) -> str:
    """How two layers are configured differently, but for dropout; empty if they are not."""
    if type(theirs) is not type(ours):
        return f"type {type(theirs).__name__} (here {type(ours).__name__})"
    earlier, now = theirs.get_config(), ours.get_config()
    return ", ".join(
        f"{key} {earlier[key]!r} (here {now[key]!r})"
        for key in sorted(now)
        if key not in _OF_ANY_LAYER and "dropout" not in key and earlier[key] != now[key]
    )


def _copy(source: tf.train.Checkpoint, to: tf.train.Checkpoint, *, partly: bool = False) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        status = to.read(source.write(join(scratch, "weights")))
        status.expect_partial() if partly else status.assert_existing_objects_matched()


def _read_configs(name: str, folder: str) -> tuple[schema.DualEncoder, schema.Trainer]:
    params = model_dir.read_params(folder, name=name)
    model, trainer = schema.DualEncoder(), schema.Trainer()
    try:
        encoder = params["task"]["model"].get("encoder", {}).get("type", model.encoder.type)
        if not hasattr(model.encoder, encoder):
            raise InputError(
                f"{name}: its encoder {encoder!r} is not registered; --import_module names the "
                "module that does it"
            )
        model.override(params["task"]["model"])
        if not set(model.heads) <= set(schema.TASKS):
            raise ValueError(f"task.model.heads: {model.heads}; accepted: {schema.TASKS}")
        trainer.average_decay = params.get("trainer", {}).get("average_decay", 0.0)
    except InputError:
        raise
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        path = join(folder, model_dir.PARAMS_FILE)
        raise InputError(
            f"{name}: {path!r} is not the {model_dir.PARAMS_FILE} of this project's training: "
            f"{error!r}"
        ) from error
    return model, trainer
