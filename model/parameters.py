"""The parameters of a run: an experiment's, changed by files and flags, and checked."""

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
import yaml
from official.core import config_definitions, train_utils

from model import configs, experiments
from model.cluster import PARAMETER_SERVER
from model.errors import InputError

_COUNTS_OF_STEPS = (
    "train_steps",
    "steps_per_loop",
    "summary_interval",
    "checkpoint_interval",
    "validation_interval",
    "average_every",
    "profile_steps",
)


def parse(
    *, experiment: str, config_files: Sequence[str] = (), params_override: str = "", tpu: str = ""
) -> config_definitions.ExperimentConfig:
    """The experiment's parameters after the config files and then `params_override`.

    Raises:
      InputError: if the experiment, a file or a parameter is unknown, unreadable or cannot be.
    """
    if experiment not in experiments.NAMES:
        names = ", ".join(experiments.NAMES)
        raise InputError(f"--experiment: {experiment!r} is unknown; accepted are {names}")
    try:
        params = train_utils.parse_configuration(
            train_utils.ParseConfigOptions(
                experiment=experiment,
                config_file=list(config_files),
                params_override=params_override,
                tpu=tpu,
            ),
            print_return=False,
        )
    except (LookupError, ValueError, TypeError, yaml.YAMLError, tf.errors.OpError) as error:
        reason = " ".join(str(error.args[0] if error.args else error).split())
        raise InputError(
            f"--config_file {', '.join(config_files)} and --params_override {params_override!r} "
            f"give no parameters: {reason}"
        ) from error
    _check(params)
    return params


def _check(params: config_definitions.ExperimentConfig) -> None:
    for name, value, least in _whole_numbers(params):
        if not isinstance(value, int) or value < least:
            raise InputError(f"{name}: {value!r}; accepted are whole numbers from {least} on")
    for name, value in _parts(params):
        if not isinstance(value, (int, float)) or not 0 <= value < 1:
            raise InputError(f"{name}: {value!r}; accepted are numbers from 0 to less than 1")
    for where, data in _data(params.task):
        _check_batches(where, data)
    if params.trainer.average_decay and params.runtime.distribution_strategy == PARAMETER_SERVER:
        raise InputError(
            "trainer.average_decay: there is no average where workers step each for itself; "
            f"accepted with runtime.distribution_strategy={PARAMETER_SERVER} is 0"
        )
    trainer = params.trainer
    if trainer.summary_interval % trainer.steps_per_loop:
        raise InputError(
            f"trainer.summary_interval: {trainer.summary_interval}; accepted are multiples of "
            f"trainer.steps_per_loop, {trainer.steps_per_loop}"
        )


def _whole_numbers(
    params: config_definitions.ExperimentConfig,
) -> Iterator[tuple[str, Any, int]]:
    text = params.task.model.text
    yield "task.model.text.max_tokens", text.max_tokens, 1
    yield "task.model.text.word_buckets", text.word_buckets, 2
    yield "task.model.text.bigram_buckets", text.bigram_buckets, 2
    encoder = params.task.model.encoder
    # A recurrent encoder without a projection has none of its own.
    least = 0 if encoder.type == "recurrent" else 1
    yield "task.model.encoder's embedding_dim", encoder.get().embedding_dim, least
    yield "task.model.nli.members", params.task.model.nli.members, 1
    yield "task.model.nli.max_units", params.task.model.nli.max_units, 0
    yield "task.seed", params.task.seed, 0
    if isinstance(params.task, configs.ResponseSelection):
        for name in ("word_cooccurrence_records", "word_frequency_records"):
            yield f"task.{name}", getattr(params.task, name), 0
    for name in _COUNTS_OF_STEPS:
        yield f"trainer.{name}", getattr(params.trainer, name), 1
    for where, data in _data(params.task):
        for size in (data.global_batch_size, *data.batch_sizes):
            yield f"{where}.global_batch_size and batch_sizes", size, 2
        yield f"{where}.shuffle_buffer_size", data.shuffle_buffer_size, 1


def _parts(params: config_definitions.ExperimentConfig) -> Iterator[tuple[str, Any]]:
    yield "trainer.average_decay", params.trainer.average_decay
    if isinstance(params.task, configs.Multitask):
        yield "task.nli.share", params.task.nli.share
    encoder, head = params.task.model.encoder, params.task.model.nli
    for where, config in ((f"encoder.{encoder.type}", encoder.get()), ("nli", head)):
        for name, value in config.as_dict().items():
            if name.endswith(("dropout", "smoothing")):
                yield f"task.model.{where}.{name}", value


def _data(task: configs.Training) -> Iterator[tuple[str, configs.Data]]:
    yield "task.train_data", task.train_data
    yield "task.validation_data", task.validation_data
    if isinstance(task, configs.Multitask):
        yield "task.nli.train_data", task.nli.train_data
        yield "task.nli.validation_data", task.nli.validation_data


def _check_batches(where: str, data: configs.Data) -> None:
    boundaries = data.batch_boundaries
    if len(boundaries) != len(data.batch_sizes) or sorted(set(boundaries)) != list(boundaries):
        raise InputError(
            f"{where}: batch_boundaries {boundaries} and batch_sizes {data.batch_sizes}; "
            "accepted are rising steps, and a size for each"
        )
