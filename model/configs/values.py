"""Checks overrides from files and flags: keys must exist, values must have their types.

The Model Garden accepts values of any type, which then fail far from their names.
"""

import collections.abc
import dataclasses
import difflib
import types
import typing
from collections.abc import Iterable, Iterator
from typing import Any

from official.modeling import hyperparams

from model.configs import schema
from model.errors import InputError

_LIST = "docs/parameters.md"
"""Lists and explains all parameters."""
_SHOWN = 3
_SAID = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text, quoted if it looks like a number",
    type(None): "null",
}
_SAID_OF_LISTS = {
    int: "a list of whole numbers, such as [300, 300]",
    float: "a list of numbers, such as [0.01, 0.001]",
    str: "a list of texts",
}


def checked(
    given: dict[str, Any],
    config: hyperparams.Config,
    *,
    source: str,
    experiment: hyperparams.Config,
    where: str = "",
) -> dict[str, Any]:
    """The overrides of a section, checked; a blank text becomes an empty one.

    Args:
      given: keys and values, nested.
      config: the section.
      source: where they come from, such as `--params_override`.
      experiment: all sections, to suggest keys for an unknown one.
      where: the section's name and a dot.

    Raises:
      InputError: if a key does not exist or a value is of another type.
    """
    kinds = _kinds(config)
    found: dict[str, Any] = {}
    for key, value in given.items():
        name, part = f"{where}{key}", getattr(config, str(key), None)
        if key not in kinds:
            near = _near(name, experiment)
            if isinstance(config, schema.Encoder):
                near += "; --import_module names a module that registers an encoder"
            raise InputError(f"{source}: {name!r} is not a parameter{near}")
        if isinstance(part, hyperparams.Config):
            if not isinstance(value, dict):
                parts = ", ".join(_kinds(part))
                raise InputError(f"{source}: {name}: {value!r}; accepted: its parts: {parts}")
            found[key] = checked(
                value, part, source=source, experiment=experiment, where=f"{name}."
            )
        elif value is None and not _is_of(None, kinds[key]) and _is_of("", kinds[key]):
            found[key] = ""
        elif _is_of(value, kinds[key]):
            found[key] = value
        else:
            raise InputError(f"{source}: {name}: {value!r}; accepted: {_said(kinds[key])}")
    return found


def check_choices(
    sources: list[tuple[str, dict[str, Any]]], config: hyperparams.Config, *, where: str = ""
) -> None:
    """Checks that every `type` exists, and that no parameters of other types are given.

    Only the last source with parameters for a choice counts: a flag may choose another optimizer
    than the preset, whose parameters then have no effect.

    Args:
      sources: names of the sources and their overrides, oldest first.
      config: a section, overridden by all of them.
      where: its name and a dot.

    Raises:
      InputError: if there is no such choice, or parameters of another one were given.
    """
    if isinstance(config, hyperparams.OneOfConfig) and sources:
        source, last = sources[-1]
        choices = [
            name for name, part in vars(config).items() if isinstance(part, hyperparams.Config)
        ]
        if config.type not in (None, *choices):
            raise InputError(
                f"{source}: {where}type: {config.type!r}; accepted: {', '.join(choices)}"
            )
        for name in last:
            if name in choices and name != config.type:
                raise InputError(
                    f"{source}: {where}{name} has no effect, since {where}type is "
                    f"{config.type!r}; choose it by {where}type={name}"
                )
    for name, part in vars(config).items():
        if isinstance(part, hyperparams.Config):
            inner = [(source, given[name]) for source, given in sources if name in given]
            check_choices(inner, part, where=f"{where}{name}.")


def _kinds(config: hyperparams.Config) -> dict[str, Any]:
    """The type of each parameter of a section; sections of registered encoders are no fields."""
    hints = typing.get_type_hints(type(config))
    sections = {
        name: type(part)
        for name, part in vars(config).items()
        if isinstance(part, hyperparams.Config)
    }
    return {field.name: hints[field.name] for field in dataclasses.fields(config)} | sections


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The question that a message asks where a known name is much like this one, or nothing."""
    nearest = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def _near(name: str, experiment: hyperparams.Config) -> str:
    """The keys most like an unknown one, and where all keys are listed."""
    names = list(_names(experiment))
    last = name.rpartition(".")[2]
    same = [other for other in names if other.rpartition(".")[2] == last]
    same = difflib.get_close_matches(name, same, n=_SHOWN, cutoff=0)
    like = difflib.get_close_matches(name, names, n=_SHOWN, cutoff=0.7)
    nearest = list(dict.fromkeys(same + like))[:_SHOWN]
    nearest_keys = f"; the nearest: {', '.join(nearest)}" if nearest else ""
    return f"{nearest_keys}; all are in {_LIST}, examples in model/configs/presets"


def _names(config: hyperparams.Config, where: str = "") -> Iterator[str]:
    for key in _kinds(config):
        name, part = f"{where}{key}", getattr(config, key)
        yield name
        if isinstance(part, hyperparams.Config):
            yield from _names(part, f"{name}.")


def _is_of(value: Any, kind: Any) -> bool:
    """Whether a value has an annotated type; a whole number is a number, true is not."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return any(_is_of(value, each) for each in typing.get_args(kind))
    if origin in (list, collections.abc.Sequence):
        (of,) = typing.get_args(kind)
        return isinstance(value, list | tuple) and all(_is_of(each, of) for each in value)
    if kind in (int, float):
        accepted = int if kind is int else int | float
        return isinstance(value, accepted) and not isinstance(value, bool)
    return isinstance(value, dict if issubclass(kind, hyperparams.Config) else kind)


def _said(kind: Any) -> str:
    """A type in words."""
    origin, of = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_said(each) for each in of)
    if origin in (list, collections.abc.Sequence):
        return _SAID_OF_LISTS[of[0]]
    return _SAID.get(kind, "a section")
