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
        setattr(rate, DECAYS[kind], getattr(rate, DECAYS[kind]) or params.trainer.train_steps)
    return base_task.Task.create_optimizer(config, params.runtime)


def notice(trainer: config_definitions.TrainerConfig) -> str | None:
    """A line for the user if the schedule ends before the run does."""
    rate = trainer.optimizer_config.learning_rate
    kind, config = rate.type, rate.get()
    if kind not in DECAYS or getattr(config, "cycle", False):
        return None
    steps = getattr(config, DECAYS[kind])
    if not steps or steps + config.offset >= trainer.train_steps:
        return None
    return (
        f"{LEARNING_RATE}.{kind}.{DECAYS[kind]} is {steps}: the steps from "
        f"{steps + config.offset} to {trainer.train_steps} train at the end rate; 0 stands for "
        "all steps of the run"
    )
