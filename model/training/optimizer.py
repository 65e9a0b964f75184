"""The optimizer of a run, with its learning rate over the steps.

A decay whose steps are left out, or 0, takes all steps of the run: it follows when the run is
prolonged.
"""

import copy

import tf_keras
from official.core import config_definitions
from official.modeling import optimization, performance

DECAYS = {"polynomial": "decay_steps", "cosine": "decay_steps", "power_linear": "total_decay_steps"}
"""Learning rates that reach an end, and what says when."""
LEARNING_RATE = "trainer.optimizer_config.learning_rate"


def build(params: config_definitions.ExperimentConfig) -> tf_keras.optimizers.legacy.Optimizer:
    """The optimizer; under the strategy that the run has."""
    config = copy.deepcopy(params.trainer.optimizer_config)
    kind, rate = config.learning_rate.type, config.learning_rate.get()
    if kind in DECAYS:
        setattr(rate, DECAYS[kind], getattr(rate, DECAYS[kind]) or params.trainer.train_steps)
    factory = optimization.OptimizerFactory(config)
    return performance.configure_optimizer(
        factory.build_optimizer(factory.build_learning_rate()),
        use_float16=params.runtime.mixed_precision_dtype == "float16",
        loss_scale=params.runtime.loss_scale,
    )


def notice(trainer: config_definitions.TrainerConfig) -> str | None:
    """One line for people if the rate reaches its end before the run does."""
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
