"""The optimizer of a run and its learning rate schedule.

A decay whose number of steps is left out, or 0, takes all steps of the run: if the run is
prolonged, so is the decay.
"""

import copy

import tf_keras
from official.core import base_task, config_definitions

DECAYS = {"polynomial": "decay_steps", "cosine": "decay_steps", "power_linear": "total_decay_steps"}
"""Schedules that end, and the field that says when."""
LEARNING_RATE = "trainer.optimizer_config.learning_rate"


def build(params: config_definitions.ExperimentConfig) -> tf_keras.optimizers.legacy.Optimizer:
    """The optimizer, as the Model Garden builds it; called under the run's strategy."""
    config = copy.deepcopy(params.trainer.optimizer_config)
    kind, rate = config.learning_rate.type, config.learning_rate.get()
    if kind in DECAYS:
        steps = params.trainer.train_steps - rate.offset
        setattr(rate, DECAYS[kind], getattr(rate, DECAYS[kind]) or max(1, steps))
    return base_task.Task.create_optimizer(config, params.runtime)


def notice(trainer: config_definitions.TrainerConfig) -> str | None:
    """Lines for the user if the schedule does not fit the steps of the run."""
    of_warmup, of_decay = _of_warmup(trainer), _of_decay(trainer)
    return "\n".join(filter(None, [of_warmup, of_decay])) or None


def _of_warmup(trainer: config_definitions.TrainerConfig) -> str | None:
    warmup = trainer.optimizer_config.warmup
    steps = getattr(warmup.get(), "warmup_steps", 0) if warmup.type else 0
    if steps < trainer.train_steps:
        return None
    return (
        f"trainer.optimizer_config.warmup.{warmup.type}.warmup_steps is {steps} in a run of "
        f"{trainer.train_steps} steps: the learning rate never reaches its full value"
    )


def _of_decay(trainer: config_definitions.TrainerConfig) -> str | None:
    rate = trainer.optimizer_config.learning_rate
    kind, config = rate.type, rate.get()
    if kind not in DECAYS or getattr(config, "cycle", False):
        return None
    steps = getattr(config, DECAYS[kind])
    end = steps + config.offset if steps else trainer.train_steps
    if end == trainer.train_steps:
        return None
    what = (
        f"the steps from {end} to {trainer.train_steps} train at the end rate"
        if end < trainer.train_steps
        else f"the run ends at step {trainer.train_steps}, before the learning rate has fallen"
    )
    return (
        f"{LEARNING_RATE}.{kind}.{DECAYS[kind]} is {steps}: {what}; 0 stands for all steps of the "
        "run"
    )
