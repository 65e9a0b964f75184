"""The optimizer of a run and its learning rate schedule.

A decay whose number of steps is left out, or 0, takes all steps of the run: if the run is
prolonged, so is the decay.
"""

import copy
from collections.abc import Iterator

import tf_keras
from official.core import config_definitions
from official.modeling import optimization
from official.modeling.optimization import optimizer_factory

from model.rowwise_adagrad import RowwiseAdagrad

optimizer_factory.register_optimizer_cls("rowwise_adagrad", RowwiseAdagrad)

_CONFIG = "trainer.optimizer_config"
DECAY_STEPS = f"{_CONFIG}.learning_rate.polynomial.decay_steps"


def build(params: config_definitions.ExperimentConfig) -> tf_keras.optimizers.legacy.Optimizer:
    """The optimizer, as the Model Garden builds it; called under the run's strategy."""
    config = copy.deepcopy(params.trainer.optimizer_config)
    decay = config.learning_rate.polynomial
    decay.decay_steps = decay.decay_steps or params.trainer.train_steps
    factory = optimization.OptimizerFactory(config)
    built = factory.build_optimizer(factory.build_learning_rate())
    base = tf_keras.optimizers.legacy.Optimizer._resource_apply_sparse_duplicate_indices
    if type(built)._resource_apply_sparse_duplicate_indices is base:
        # Equal rows of a table were summed before they were clipped (`model.gradients`).
        built._resource_apply_sparse_duplicate_indices = built._resource_apply_sparse
    return built


def notices(trainer: config_definitions.TrainerConfig) -> Iterator[str]:
    """Lines for the user if the schedule does not fit the steps of the run."""
    steps, config = trainer.train_steps, trainer.optimizer_config
    warmup, decay = config.warmup.linear.warmup_steps, config.learning_rate.polynomial.decay_steps
    if config.warmup.type and warmup >= steps:
        yield (
            f"{_CONFIG}.warmup.linear.warmup_steps is {warmup} in a run of {steps} steps: the "
            "learning rate never reaches its full value"
        )
    if config.learning_rate.type == "polynomial" and decay and decay != steps:
        yield f"{DECAY_STEPS} is {decay} in a run of {steps} steps; 0 stands for all of them"
