"""The range of each numeric parameter; values outside, NaN included, are refused."""

import sys
from collections.abc import Iterator
from typing import NamedTuple

from official.core import config_definitions
from official.modeling import hyperparams
from official.modeling.optimization.configs import learning_rate_config as rates
from official.modeling.optimization.configs import optimizer_config as optimizers

from model.configs import schema
from model.errors import InputError


class Numbers(NamedTuple):
    """An interval of numbers."""

    least: float
    most: float = sys.float_info.max
    whole: bool = False
    above: bool = False
    """Whether `least` is excluded."""
    below: bool = False
    """Whether `most` is excluded."""
    or_none: bool = False
    or_0: bool = False

    def accepts(self, value: float | None) -> bool:
        """Whether a number is in the interval; NaN never is."""
        if value is None:
            return self.or_none
        if value == 0 and self.or_0:
            return True
        enough = self.least < value if self.above else self.least <= value
        return enough and (value < self.most if self.below else value <= self.most)

    def __str__(self) -> str:
        kind = "whole numbers" if self.whole else "numbers"
        others = f"{', or 0' if self.or_0 else ''}{', or null' if self.or_none else ''}"
        if self.most == sys.float_info.max:
            interval = f"{'above' if self.above else 'of at least'} {self.least:g}"
        elif self.above:
            interval = f"above {self.least:g}, at most {self.most:.12g}"
        else:
            interval = f"from {self.least:g} to {'below ' if self.below else ''}{self.most:.12g}"
        return f"{kind} {interval}{others}"


_FROM_0 = Numbers(0, whole=True)
_FROM_1 = Numbers(1, whole=True)
_FROM_2 = Numbers(2, whole=True)
_FROM_2_OR_0 = _FROM_2._replace(or_0=True)
_PART = Numbers(0, 1, below=True)
_POSITIVE = Numbers(0, above=True)
_NOT_NEGATIVE = Numbers(0)
_RATE = Numbers(0, 100, above=True)
"""A learning rate. Rates beyond 100 only overflow: vectors of unit length stop changing."""
_RATE_OR_0 = Numbers(0, 100)
_STEPS_OR_ALL = _FROM_0._replace(or_none=True)
"""Steps of a decay; 0 and null stand for `trainer.train_steps` (`model.training.optimizer`)."""
_FALLING = Numbers(-10, 0)
"""Exponent of the step in a decaying learning rate."""
# Draws use the seed times 1,000,003 squared, an int64.
_SEED = Numbers(0, 9_000_000, whole=True)

_ACCEPTED: dict[type, dict[str, Numbers]] = {
    schema.Text: {
        "max_tokens": _FROM_1,
        "word_buckets": _FROM_2,
        "bigram_buckets": _FROM_2_OR_0,
        "char_ngram_buckets": _FROM_2_OR_0,
    },
    schema.Averaging: {
        "word_dim": _FROM_1,
        "hidden": _FROM_1,
        "embedding_dim": _FROM_1,
        "word_dropout": _PART,
        "bigram_dropout": _PART,
        "bigram_weight": _NOT_NEGATIVE,
        "char_ngram_dropout": _PART,
        "char_ngram_weight": _NOT_NEGATIVE,
    },
    schema.Transformer: {
        "layers": _FROM_1,
        "heads": _FROM_1,
        "hidden": _FROM_1,
        "filter": _FROM_1,
        "embedding_dim": _FROM_1,
        "dropout": _PART,
        "word_dropout": _PART,
    },
    schema.Recurrent: {
        "word_dim": _FROM_1,
        "units": _FROM_1,
        "layers": _FROM_1,
        "embedding_dim": _FROM_0,
        "dropout": _PART,
        "word_dropout": _PART,
    },
    schema.ResponseNetwork: {"hidden": _FROM_1},
    schema.Nli: {
        "hidden": _FROM_1,
        "dropout": _PART,
        "feature_dropout": _PART,
        "max_units": _FROM_0,
        "members": _FROM_1,
        "label_smoothing": _PART,
    },
    schema.DualEncoder: {
        "context_turns": Numbers(0, 100, whole=True),
        "score_scale": Numbers(0, 1000, above=True),
    },
    schema.Objective: {"margin": _NOT_NEGATIVE},
    schema.NliObjective: {
        "entailment_weight": Numbers(0, 1000),
        "scale": Numbers(0, 1000, above=True),
    },
    schema.DistillationObjective: {
        "scale": Numbers(0, 1000, above=True),
        "cosine_weight": _NOT_NEGATIVE,
    },
    schema.Data: {
        "global_batch_size": _FROM_2,
        "batch_sizes": _FROM_2,
        "batch_boundaries": _FROM_1,
        "shuffle_buffer_size": _FROM_1,
        "cycle_length": _FROM_1._replace(or_none=True),
    },
    schema.Training: {
        "seed": _SEED,
        "word_cooccurrence_records": _FROM_0,
        "char_ngram_fit": _NOT_NEGATIVE,
        "word_frequency_records": _FROM_0,
    },
    schema.FurtherTask: {"share": _PART},
    schema.Trainer: {
        "train_steps": _FROM_1,
        "steps_per_loop": _FROM_1,
        "summary_interval": _FROM_1,
        "checkpoint_interval": _FROM_1,
        "validation_interval": _FROM_1,
        "max_to_keep": _FROM_1,
        "average_decay": _PART,
        "average_every": _FROM_1,
        "continuous_eval_timeout": _FROM_1,
    },
    config_definitions.RuntimeConfig: {"num_gpus": _FROM_0},
    rates.ConstantLrConfig: {"learning_rate": _RATE},
    rates.StepwiseLrConfig: {"boundaries": _FROM_1, "values": _RATE, "offset": _FROM_0},
    rates.ExponentialLrConfig: {
        "initial_learning_rate": _RATE,
        "decay_steps": _FROM_1,
        "decay_rate": Numbers(0, 1, above=True),
        "offset": _FROM_0,
    },
    rates.PolynomialLrConfig: {
        "initial_learning_rate": _RATE,
        "decay_steps": _STEPS_OR_ALL,
        "end_learning_rate": _RATE_OR_0,
        "power": _POSITIVE,
        "offset": _FROM_0,
    },
    rates.CosineLrConfig: {
        "initial_learning_rate": _RATE,
        "decay_steps": _STEPS_OR_ALL,
        "alpha": Numbers(0, 1),
        "offset": _FROM_0,
    },
    rates.DirectPowerLrConfig: {"initial_learning_rate": _RATE, "power": _FALLING},
    rates.PowerAndLinearDecayLrConfig: {
        "initial_learning_rate": _RATE,
        "total_decay_steps": _STEPS_OR_ALL,
        "power": _FALLING,
        "linear_decay_fraction": Numbers(0, 1, above=True),
        "offset": _FROM_0,
    },
    rates.PowerDecayWithOffsetLrConfig: {
        "initial_learning_rate": _RATE,
        "power": _FALLING,
        "offset": _FROM_0,
        "pre_offset_learning_rate": Numbers(0, 1e6),  # the Model Garden's default
    },
    rates.StepCosineLrConfig: {"boundaries": _FROM_1, "values": _RATE_OR_0, "offset": _FROM_0},
    rates.LinearWarmupConfig: {"warmup_steps": _FROM_1, "warmup_learning_rate": _RATE_OR_0},
    rates.PolynomialWarmupConfig: {"warmup_steps": _FROM_1, "power": _POSITIVE},
}

_OF_OPTIMIZERS = {
    "clipnorm": _POSITIVE._replace(or_none=True),
    "clipvalue": _POSITIVE._replace(or_none=True),
    "global_clipnorm": _POSITIVE._replace(or_none=True),
    "gradient_clip_norm": _NOT_NEGATIVE,  # 0: no clipping
    "ratio_clip_norm": _POSITIVE,
    "clip_threshold": _POSITIVE,
    "clipping_threshold": _POSITIVE,
    "learning_rate": _RATE,
    "sparse_layer_learning_rate": _RATE,
    "decay": _NOT_NEGATIVE,
    "momentum": _PART,
    "rho": _PART,
    "beta_1": _PART,
    "beta_2": _PART,
    "beta1": _PART._replace(or_none=True),
    "beta_2_decay": Numbers(-1, 0),
    "decay_rate": _PART,
    "eeta": _POSITIVE,
    "epsilon": _POSITIVE,
    "epsilon1": _POSITIVE,
    "epsilon2": _POSITIVE,
    "epsilon_1": _POSITIVE,
    "epsilon_2": _POSITIVE,
    "initial_accumulator_value": _NOT_NEGATIVE,
    "weight_decay": _NOT_NEGATIVE._replace(or_none=True),
    "weight_decay_rate": _NOT_NEGATIVE,
    "step_offset": _FROM_0,
    "min_dim_size_to_factor": _FROM_1,
}
"""Parameters that mean the same in all optimizers."""


def accepted(config: hyperparams.Config) -> dict[str, Numbers]:
    """The ranges of a section's parameters, by name."""
    if isinstance(config, optimizers.BaseOptimizerConfig):
        return {name: _OF_OPTIMIZERS[name] for name in _OF_OPTIMIZERS if hasattr(config, name)}
    of_classes = [_ACCEPTED.get(cls, {}) for cls in type(config).__mro__]
    return {name: numbers for found in of_classes for name, numbers in found.items()}


def check(params: hyperparams.Config, *, where: str = "") -> None:
    """Makes sure that all numbers are accepted ones.

    Args:
      params: an experiment's parameters, or a section of them.
      where: the section's name and a dot, for messages.

    Raises:
      InputError: for the first that is not.
    """
    for section, config in sections(params, where):
        for name, numbers in accepted(config).items():
            value = getattr(config, name)
            for each in value if isinstance(value, list | tuple) else [value]:
                if not numbers.accepts(each):
                    raise InputError(f"{section}{name}: {each!r}; accepted: {numbers}")


def sections(
    config: hyperparams.Config, where: str = ""
) -> Iterator[tuple[str, hyperparams.Config]]:
    """All sections that a run uses, with their names and a dot, such as `task.model.`."""
    yield where, config
    for name, part in vars(config).items():
        chosen = not isinstance(config, hyperparams.OneOfConfig) or name == config.type
        if isinstance(part, hyperparams.Config) and chosen:
            yield from sections(part, f"{where}{name}.")
