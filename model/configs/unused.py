"""Refuses fields of the Model Garden's configurations that training does not read.

The classes of `model.configs.schema` inherit them. Such a field must keep its default: any other
value would be silently ignored.
"""

import dataclasses
import math
from functools import lru_cache
from typing import Any

from official.core import config_definitions
from official.modeling import hyperparams, optimization

from model.configs import ranges, schema
from model.errors import InputError

READ: dict[type, set[str]] = {
    config_definitions.ExperimentConfig: {"task", "trainer", "runtime"},
    config_definitions.TaskConfig: {"init_checkpoint", "model", "train_data", "validation_data"},
    config_definitions.DataConfig: {
        "input_path",
        "global_batch_size",
        "is_training",
        "shuffle_buffer_size",
        "cycle_length",
    },
    config_definitions.TrainerConfig: {
        "optimizer_config",
        "steps_per_loop",
        "summary_interval",
        "checkpoint_interval",
        "max_to_keep",
        "train_steps",
        "validation_steps",
        "validation_interval",
        "best_checkpoint_eval_metric",
        "best_checkpoint_metric_comp",
        "validation_summary_subdir",
        "continuous_eval_timeout",
    },
    config_definitions.RuntimeConfig: {
        "distribution_strategy",
        "enable_xla",
        "tpu",
        "num_gpus",
        "all_reduce_alg",
        "mixed_precision_dtype",
        "loss_scale",
    },
    optimization.OptimizationConfig: {"optimizer", "learning_rate", "warmup"},
}
"""The fields that are read, of each class of the Model Garden."""
REFUSED_OPTIMIZERS = {"adafactor", "lars", "slide"}
"""Those that the Model Garden names and does not have (`adafactor`, `slide`), or that cannot train
tables (`lars`)."""
REFUSED_SCHEDULES = {"power_with_offset", "step_cosine_with_offset"}
"""Those that the Model Garden computes wrongly: the first trains its first step at
`pre_offset_learning_rate`, 1,000,000 by default; the second gives NaN behind its last boundary."""
REFUSED = REFUSED_OPTIMIZERS | REFUSED_SCHEDULES
ONLY_OF_TRAINING = ("shuffle_buffer_size", "cycle_length", "batch_boundaries", "batch_sizes")
"""Read for training data only; validation reads its records once, in order."""
_INSTEAD = {
    "seed": "task.seed draws the order of the records",
    "drop_remainder": "a last batch that is too short is always left out",
    "ema": "trainer.average_decay keeps an average of the weights",
    "best_checkpoint_export_subdir": "the best checkpoint is in best/",
    "recovery_max_trials": "a loss that is not finite ends the run",
    "preemption_on_demand_checkpoint": "TERM always saves a checkpoint",
}


def is_read(config: hyperparams.Config, name: str) -> bool:
    """Whether training reads a field of a section."""
    return all(
        name in read or name not in {field.name for field in dataclasses.fields(base)}
        for base, read in READ.items()
        if isinstance(config, base)
    )


def check(params: config_definitions.ExperimentConfig) -> None:
    """Checks that every field that is set has an effect.

    Raises:
      InputError: for the first that has none.
    """
    for where, config in ranges.sections(params):
        for base, read in READ.items():
            if isinstance(config, base):
                names = [field.name for field in dataclasses.fields(base)]
                for name in names:
                    if name not in read:
                        _require(config, where, name, _default(base, name))
        if isinstance(config, schema.Data):
            _check_data(config, where)
    _check_runtime(params.runtime)


def check_optimizer(params: config_definitions.ExperimentConfig) -> None:
    """Checks that the optimizer and its schedule can train these models.

    Raises:
      InputError: if one cannot.
    """
    schedule = params.trainer.optimizer_config.learning_rate.type
    if schedule in REFUSED_SCHEDULES:
        raise InputError(
            f"trainer.optimizer_config.learning_rate.type: {schedule!r} gives wrong rates; "
            "accepted: the schedules of docs/parameters.md, such as polynomial"
        )
    kind = params.trainer.optimizer_config.optimizer.type
    if kind in REFUSED_OPTIMIZERS:
        raise InputError(
            f"trainer.optimizer_config.optimizer.type: {kind!r} cannot train these models; "
            "accepted: the optimizers of docs/parameters.md, such as adagrad"
        )
    config = params.trainer.optimizer_config.optimizer.get()
    rate = getattr(config, "learning_rate", None)
    if rate is not None and rate != type(config)().learning_rate:
        raise InputError(
            f"trainer.optimizer_config.optimizer.{kind}.learning_rate: {rate!r} has no effect; the "
            "section trainer.optimizer_config.learning_rate gives the rate"
        )


def _check_data(config: schema.Data, where: str) -> None:
    trains = where.endswith("train_data.")
    _require(config, where, "is_training", trains)
    if not trains:
        for name in ONLY_OF_TRAINING:
            _require(config, where, name, _default(schema.Data, name))


def _check_runtime(runtime: config_definitions.RuntimeConfig) -> None:
    strategy = runtime.distribution_strategy
    if runtime.loss_scale is not None and runtime.mixed_precision_dtype != "float16":
        raise InputError(
            f"runtime.loss_scale: {runtime.loss_scale!r} has no effect; it is read only with "
            "runtime.mixed_precision_dtype=float16"
        )
    if runtime.loss_scale is not None and not _is_loss_scale(runtime.loss_scale):
        raise InputError(
            f"runtime.loss_scale: {runtime.loss_scale!r}; accepted: dynamic, or a finite number "
            "above 0"
        )
    if strategy == "parameter_server" and runtime.num_gpus > 1:
        raise InputError(
            f"runtime.num_gpus: {runtime.num_gpus}; accepted with "
            "runtime.distribution_strategy=parameter_server: 0, or 1 for each worker"
        )
    if runtime.tpu and strategy != "tpu":
        raise InputError(
            f"runtime.tpu: {runtime.tpu!r} has no effect; it is read only with "
            "runtime.distribution_strategy=tpu"
        )
    if runtime.all_reduce_alg and strategy not in ("mirrored", "multi_worker_mirrored"):
        raise InputError(
            f"runtime.all_reduce_alg: {runtime.all_reduce_alg!r} has no effect; it is read only "
            "with runtime.distribution_strategy=mirrored or multi_worker_mirrored"
        )


def _is_loss_scale(value: object) -> bool:
    return value == "dynamic" or (
        isinstance(value, int | float) and math.isfinite(value) and value > 0
    )


def _default(base: type, name: str) -> Any:
    return getattr(_defaults(base), name)


@lru_cache
def _defaults(base: type) -> Any:
    return base()  # takes 5 ms: the Model Garden looks up each field's annotation


def _require(config: Any, where: str, name: str, accepted: Any) -> None:
    value = getattr(config, name)
    if value != accepted:
        shown = "a section" if isinstance(value, hyperparams.Config) else repr(value)
        instead = f"; {_INSTEAD[name]}" if name in _INSTEAD else ""
        raise InputError(
            f"{where}{name}: {shown} has no effect here; accepted: {accepted!r}{instead}"
        )
