"""Optimizers and learning rates: those of the Model Garden that the presets and tables use."""

import dataclasses
from typing import Any

from official.modeling import hyperparams, optimization
from official.modeling.optimization.configs import learning_rate_config, optimizer_config

from model.configs.parameter import Misfits, parameter

_RATE: dict[str, Any] = {"above": 0, "maximum": 100}
"""Rates beyond 100 only overflow: vectors of unit length stop changing."""
_END_RATE: dict[str, Any] = {"minimum": 0, "maximum": 100}
_FRACTION: dict[str, Any] = {"minimum": 0, "below": 1}


@dataclasses.dataclass
class Clipping(optimizer_config.BaseOptimizerConfig):
    """Clipping of gradients, the same in all optimizers."""

    global_clipnorm: float | None = parameter(
        None, "Clip all gradients together to this norm.", above=0
    )


@dataclasses.dataclass
class Sgd(Clipping, optimizer_config.SGDConfig):
    """Stochastic gradient descent."""

    momentum: float = parameter(0.0, "Momentum.", **_FRACTION)


@dataclasses.dataclass
class Adagrad(Clipping, optimizer_config.AdagradConfig):
    """Adagrad, the fastest on large tables."""

    initial_accumulator_value: float = parameter(
        0.1, "First value of the sums of squared gradients.", minimum=0
    )
    epsilon: float = parameter(1e-7, "Added to a denominator.", above=0)


@dataclasses.dataclass
class RowwiseAdagrad(Adagrad):
    """Adagrad with one sum for each row of a matrix: faster, and the sums take almost no memory."""

    name: str = "RowwiseAdagrad"


@dataclasses.dataclass
class Adam(Clipping, optimizer_config.AdamConfig):
    """Adam."""

    beta_1: float = parameter(0.9, "Decay of the first moments.", **_FRACTION)
    beta_2: float = parameter(0.999, "Decay of the second moments.", **_FRACTION)
    epsilon: float = parameter(1e-7, "Added to a denominator.", above=0)


@dataclasses.dataclass
class Optimizer(hyperparams.OneOfConfig):
    """The optimizer: `type` names one of the others."""

    type: str = parameter("sgd", "The section that is used.")
    sgd: Sgd = dataclasses.field(default_factory=Sgd)
    adagrad: Adagrad = dataclasses.field(default_factory=Adagrad)
    rowwise_adagrad: RowwiseAdagrad = dataclasses.field(default_factory=RowwiseAdagrad)
    adam: Adam = dataclasses.field(default_factory=Adam)


@dataclasses.dataclass
class Constant(learning_rate_config.ConstantLrConfig):
    """One rate."""

    learning_rate: float = parameter(0.1, "The learning rate.", **_RATE)


@dataclasses.dataclass
class Stepwise(learning_rate_config.StepwiseLrConfig):
    """Rates between steps."""

    boundaries: list[int] = parameter([], "Rising steps at which the rate changes.", minimum=1)
    values: list[float] = parameter(
        [], "Rates between the boundaries: one more than there are boundaries.", **_RATE
    )

    def misfits(self) -> Misfits:
        """Boundaries that do not rise, or of which TensorFlow reads none."""
        if sorted(set(self.boundaries)) != list(self.boundaries):
            yield "boundaries", "rising steps"
        if len(self.values) != len(self.boundaries) + 1:
            yield "values", "one rate more than there are boundaries"


@dataclasses.dataclass
class Polynomial(learning_rate_config.PolynomialLrConfig):
    """From one rate to another, by default in a straight line."""

    initial_learning_rate: float = parameter(None, "Learning rate at the start.", **_RATE)
    decay_steps: int | None = parameter(
        None, "Steps of the decay; 0 and null: all steps of the run.", minimum=0
    )
    end_learning_rate: float = parameter(0.0001, "Learning rate at the end.", **_END_RATE)
    power: float = parameter(1.0, "Exponent.", above=0)


@dataclasses.dataclass
class LearningRate(hyperparams.OneOfConfig):
    """The schedule of the learning rate: `type` names one of the others."""

    type: str = parameter("stepwise", "The section that is used.")
    constant: Constant = dataclasses.field(default_factory=Constant)
    stepwise: Stepwise = dataclasses.field(default_factory=Stepwise)
    polynomial: Polynomial = dataclasses.field(default_factory=Polynomial)


@dataclasses.dataclass
class LinearWarmup(learning_rate_config.LinearWarmupConfig):
    """A straight line to the schedule's rate."""

    warmup_steps: int = parameter(None, "Steps of the warm-up.", minimum=1)
    warmup_learning_rate: float = parameter(
        0.0, "Learning rate at the first step of the warm-up.", **_END_RATE
    )


@dataclasses.dataclass
class Warmup(hyperparams.OneOfConfig):
    """The first steps; none by default."""

    type: str | None = parameter(None, "The section that is used.")
    linear: LinearWarmup = dataclasses.field(default_factory=LinearWarmup)


@dataclasses.dataclass
class Optimization(optimization.OptimizationConfig):
    """The optimizer and its rate."""

    optimizer: Optimizer = dataclasses.field(default_factory=Optimizer)
    learning_rate: LearningRate = dataclasses.field(default_factory=LearningRate)
    warmup: Warmup = dataclasses.field(default_factory=Warmup)
