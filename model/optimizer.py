"""The optimizer of a run and its learning rate schedule.

A decay whose number of steps is left out, or 0, takes all steps of the run: if the run is
prolonged, so is the decay.
"""

import copy

import tf_keras
from official.core import base_task, config_definitions

DECAYS = ("polynomial", "cosine")
"""Schedules that end, after `decay_steps`."""
LEARNING_RATE = "trainer.optimizer_config.learning_rate"


def build(params: config_definitions.ExperimentConfig) -> tf_keras.optimizers.legacy.Optimizer:
    """The optimizer, as the Model Garden builds it; called under the run's strategy."""
    config = copy.deepcopy(params.trainer.optimizer_config)
    kind, rate = config.learning_rate.type, config.learning_rate.get()
    if kind in DECAYS:
        rate.decay_steps = rate.decay_steps or params.trainer.train_steps
    return base_task.Task.create_optimizer(config, params.runtime)


def notices(trainer: config_definitions.TrainerConfig) -> list[str]:
    """Lines for the user if the schedule does not fit the steps of the run."""
    steps, warmup = trainer.train_steps, trainer.optimizer_config.warmup
    found = []
    if warmup.type and (of_warmup := getattr(warmup.get(), "warmup_steps", 0)) >= steps:
        found.append(
            f"trainer.optimizer_config.warmup.{warmup.type}.warmup_steps is {of_warmup} in a run "
            f"of {steps} steps: the learning rate never reaches its full value"
        )
    kind, rate = (
        trainer.optimizer_config.learning_rate.type,
        trainer.optimizer_config.learning_rate.get(),
    )
    of_decay = rate.decay_steps if kind in DECAYS else None
    if of_decay and of_decay != steps and not getattr(rate, "cycle", False):
        found.append(
            f"{LEARNING_RATE}.{kind}.decay_steps is {of_decay} in a run of {steps} steps; 0 stands "
            "for all steps of the run"
        )
    return found
