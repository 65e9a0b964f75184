"""Writes docs/parameters.md: type, default, accepted values and meaning of every parameter.

python -m model.configs.reference > docs/parameters.md
"""

import ast
import dataclasses
import inspect
import json
import types
import typing
from collections.abc import Iterator
from typing import Any, NamedTuple

from official.core import exp_factory
from official.modeling import hyperparams

from model.configs import experiments, ranges, schema, unused
from model.configs.model_garden import MEANING
from model.layers import dan, lstm

HEAD = """\
# Parameters

`python -m model.configs.reference > docs/parameters.md` writes this page.

Set a parameter in a YAML file (`--config_file`) or, with its section before its name, by
`--params_override "task.seed=1,trainer.train_steps=500"`. `--print_config` prints those of
a run. Values of another type or out of range are refused. So are those of the Model Garden that
this page does not list, because they would have no effect. Defaults are those of experiment
`reddit`; "Other defaults" names those of other experiments and sections.
[training.md](training.md) says which parameters matter.
"""
_TABLE = "| parameter | type | default | accepted | meaning |\n|---|---|---|---|---|\n"
_CHOICES = {
    (schema.Averaging, "word_weights"): (dan.INITIAL, dan.FIXED, dan.LEARNED),
    (schema.Recurrent, "pooling"): (lstm.LAST, lstm.MAX),
    (schema.DualEncoder, "heads"): schema.TASKS,
    (schema.Trainer, "best_checkpoint_metric_comp"): (schema.HIGHER, schema.LOWER),
}
"""The accepted texts of a parameter."""
_FIXED = {"is_training", "name"}
"""Fields that a user has no reason to set."""
_NAMES = {int: "int", float: "float", bool: "bool", str: "text", type(None): "null"}


class Place(NamedTuple):
    """A section, and where an experiment has it."""

    experiment: str
    where: str
    config: hyperparams.Config


def page() -> str:
    """The reference, in Markdown."""
    groups: dict[type, list[Place]] = {}
    for experiment in experiments.EXPERIMENTS:
        for place in _places(experiment, exp_factory.get_exp_config(experiment)):
            groups.setdefault(_kind(place.config), []).append(place)
    ordered = sorted(groups.values(), key=lambda places: _root(places[0]))
    kinds: dict[str, set[type]] = {}
    for kind, places in groups.items():
        for place in places:
            kinds.setdefault(place.where, set()).add(kind)
    several = {where for where, found in kinds.items() if len(found) > 1}
    return HEAD + "".join(_section(places, several) for places in ordered)


def _places(experiment: str, config: hyperparams.Config, where: str = "") -> Iterator[Place]:
    yield Place(experiment, where, config)
    for name, part in vars(config).items():
        if isinstance(part, hyperparams.Config) and name not in unused.REFUSED:
            inner = f"{where}.{name}" if where else name
            if unused.is_read(config, name):
                yield from _places(experiment, part, inner)


def _kind(config: hyperparams.Config) -> type:
    """The class; one for the sections `task` of all experiments."""
    return schema.Training if isinstance(config, schema.Training) else type(config)


def _root(place: Place) -> int:
    return ("", "task", "trainer", "runtime").index(place.where.partition(".")[0])


def _section(places: list[Place], several: set[str]) -> str:
    """A heading, the table of the parameters, and defaults that differ elsewhere.

    Args:
      places: where the experiments have the section.
      several: places where other experiments have another section.
    """
    first = places[0]
    names = list(_parameters(first.config))
    if not names:
        return ""
    heading = ", ".join(dict.fromkeys(_heading(place, several) for place in places))
    rows = "".join(_row(first.config, name) for name in names)
    others = "; ".join(dict.fromkeys(_other_defaults(first, places[1:], names)))
    return f"\n## {heading}\n\n{_TABLE}{rows}" + (
        f"\nOther defaults: {others}.\n" if others else ""
    )


def _heading(place: Place, several: set[str]) -> str:
    alone = place.where in several and not place.experiment.startswith("reddit")
    return f"`{place.where}`" + (f" of experiment `{place.experiment}`" if alone else "")


def _parameters(config: hyperparams.Config) -> Iterator[str]:
    for field in dataclasses.fields(config):
        is_section = isinstance(getattr(config, field.name), hyperparams.Config)
        if not is_section and field.name not in _FIXED and unused.is_read(config, field.name):
            yield field.name


def _row(config: hyperparams.Config, name: str) -> str:
    kind = typing.get_type_hints(type(config))[name]
    cells = (f"`{name}`", _type(kind), _value(getattr(config, name)), _accepted(config, name))
    return "| {} | {} | `{}` | {} | {} |\n".format(*cells, _meaning(config, name))


def _other_defaults(first: Place, places: list[Place], names: list[str]) -> Iterator[str]:
    for place in places:
        for name in names:
            value = getattr(place.config, name)
            if value != getattr(first.config, name) and not _only_of_training(place, name):
                said = f"`{place.where}.{name}={_value(value)}`"
                elsewhere = place.where != first.where
                yield said if elsewhere else f"{said} of `{place.experiment}`"


def _only_of_training(place: Place, name: str) -> bool:
    return place.where.endswith("validation_data") and name in unused.ONLY_OF_TRAINING


def _type(kind: Any) -> str:
    """A type in words, as a user writes its values."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(filter(None, map(_type, inner)))
    return f"list of {_type(inner[0])}" if origin is list else _NAMES.get(kind, "")


def _value(value: Any) -> str:
    return json.dumps(value)


def _accepted(config: hyperparams.Config, name: str) -> str:
    choices = _CHOICES.get((type(config), name), ())
    if isinstance(config, hyperparams.OneOfConfig):
        parts = [key for key, part in vars(config).items() if isinstance(part, hyperparams.Config)]
        choices = tuple(part for part in parts if part not in unused.REFUSED)
    numbers = ranges.accepted(config).get(name)
    return ", ".join(f"`{choice}`" for choice in choices) or (str(numbers) if numbers else "")


def _meaning(config: hyperparams.Config, name: str) -> str:
    meaning = _documented(type(config)).get(name) or MEANING[name]
    only = isinstance(config, schema.Data) and name in unused.ONLY_OF_TRAINING
    return f"{meaning} Only of training data." if only else meaning


def _documented(kind: type) -> dict[str, str]:
    """The docstrings of a class's fields, those of its bases among them."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if each.__module__ == schema.__name__:
            (node,) = ast.parse(inspect.getsource(each)).body
            found |= dict(_docstrings(typing.cast(ast.ClassDef, node)))
    return found


def _docstrings(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in zip(node.body, node.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                yield name, " ".join(words.split())


if __name__ == "__main__":
    print(page(), end="")
