"""A model folder -> the trained model, as it was validated."""

import tempfile
from posixpath import dirname, join

import tensorflow as tf

from model.checkpoints import files, model_dir
from model.configs import schema
from model.dual_encoder import DualEncoder, build
from model.errors import InputError
from model.text.preprocessing import TextToIds
from model.training.ema import WeightAverage


def load(name: str, folder: str, checkpoint: str) -> tuple[DualEncoder, TextToIds]:
    """The model of a checkpoint, and the text handling that it was trained with.

    Where the run kept an average of the weights, the model has that: it is what was validated.

    Args:
      name: what names the folder, such as `--model_dir`.
      folder: where `params.yaml` is.
      checkpoint: one of that run.

    Raises:
      InputError: if the parameters cannot be read, or the checkpoint is damaged or of another
        model.
    """
    config, trainer = _read_configs(name, folder)
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
    """Gives a model the weights of another run, as `load` has them.

    Args:
      model: its encoder is replaced, and what else of it the other run has too; the rest stays
        as it is.
      path: a model folder, or a checkpoint in one.

    Raises:
      InputError: if there is no checkpoint, or its encoder is of other sizes or another kind.
    """
    name, last = "task.init_checkpoint", files.last(path)
    folder, checkpoint = (path, last) if last else (dirname(path), path)
    if last is None and not tf.io.gfile.exists(f"{checkpoint}.index"):
        raise InputError(f"{name}: {path!r} holds no checkpoint, nor is it one")
    other, _ = load(name, folder, checkpoint)
    if schema.RESPONSE_SELECTION in {*other.heads} & {*model.heads}:
        theirs, ours = (one.response_network.get_config() for one in (other, model))
        if theirs != ours:  # with the same weights it would say something else
            raise InputError(
                f"{name}: {checkpoint!r} is of another model, its response_network {theirs}; "
                f"accepted is what this run's parameters say, {ours}"
            )
    try:
        _copy(
            tf.train.Checkpoint(encoder=other.encoder), tf.train.Checkpoint(encoder=model.encoder)
        )
        _copy(tf.train.Checkpoint(model=other), tf.train.Checkpoint(model=model), partly=True)
    except (AssertionError, ValueError) as error:
        raise InputError(f"{name}: {checkpoint!r} is of another model: {error}") from error


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
