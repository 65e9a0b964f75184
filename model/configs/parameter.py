"""How a parameter is declared: a dataclass field whose metadata hold its range and meaning.

    @dataclasses.dataclass
    class Averaging(hyperparams.Config):
        word_dim: int = parameter(300, "Width of the word vectors.", minimum=1)

Fields that a section inherits from the Model Garden are parameters only where it declares them
again: training does not read the others. A section with a method `check(where)` also raises
InputError for values that do not fit together.
"""

import collections.abc
import dataclasses
import math
import types
import typing
from collections.abc import Iterator
from typing import Any

from official.modeling import hyperparams

from common.errors import InputError

_NOUNS = {
    int: "whole number",
    float: "number",
    bool: "true or false",
    str: "text",
    types.NoneType: "null",
}


@dataclasses.dataclass(frozen=True)
class Parameter:
    """The meaning of a parameter, and which values of its type it takes."""

    meaning: str = ""
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    or_0: bool = False
    """Whether 0 is accepted too."""
    choices: tuple[str | None, ...] = ()

    def accepts(self, value: Any) -> bool:
        """Whether a value of the right type is in the range; infinity and NaN never are."""
        if isinstance(value, list | tuple):
            return all(map(self.accepts, value))
        if self.choices:
            return value in self.choices
        if not isinstance(value, int | float) or (self.or_0 and value == 0):
            return True
        return (
            math.isfinite(value)
            and (self.minimum is None or value >= self.minimum)
            and (self.maximum is None or value <= self.maximum)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def range(self) -> str:
        """The accepted values in words, without the type; empty if it accepts all of its type."""
        if self.choices:
            return ", ".join(filter(None, self.choices))
        bounds = {
            "from": self.minimum,
            "above": self.above,
            "to": self.maximum,
            "below": self.below,
        }
        said = " ".join(
            f"{word} {bound:.12g}" for word, bound in bounds.items() if bound is not None
        )
        return f"{said}{', or 0' if self.or_0 else ''}"


def parameter(default: Any, meaning: str, **accepted: Any) -> Any:
    """Declares a parameter.

    Args:
      default: a list is copied for each section.
      meaning: one or several sentences.
      **accepted: further fields of `Parameter`.
    """
    metadata = {"parameter": Parameter(meaning, **accepted)}
    if isinstance(default, list):
        return dataclasses.field(default_factory=lambda: list(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def declared(section: type[hyperparams.Config]) -> dict[str, tuple[Any, Parameter]]:
    """The type and declaration of each parameter of a section, by its name.

    A section of a registered encoder need not declare its fields: it inherits none.
    """
    hints = typing.get_type_hints(section)
    bases = [base for base in section.__mro__ if base.__module__.startswith("official.")]
    inherited = {
        field.name
        for base in bases
        if dataclasses.is_dataclass(base)
        for field in dataclasses.fields(base)
    }
    return {
        field.name: (hints[field.name], field.metadata.get("parameter", Parameter()))
        for field in dataclasses.fields(section)
        if field.metadata or field.name not in inherited
    }


def parts(section: hyperparams.Config) -> dict[str, hyperparams.Config]:
    """The sections inside a section, by name."""
    return {
        name: part for name, part in vars(section).items() if isinstance(part, hyperparams.Config)
    }


def names(section: hyperparams.Config, where: str = "") -> Iterator[str]:
    """The full names of all parameters and sections."""
    inner = parts(section)
    for name in declared(type(section)) | inner:
        yield f"{where}{name}"
        if name in inner:
            yield from names(inner[name], f"{where}{name}.")


def check(section: hyperparams.Config, where: str = "") -> None:
    """Checks the parameters of a section and of the sections inside that are used.

    Args:
      section: all its values are set.
      where: its name and a dot.

    Raises:
      InputError: for the first value that is not accepted; names it and what is.
    """
    inner = parts(section)
    for name, (kind, declaration) in declared(type(section)).items():
        value = getattr(section, name)
        if name not in inner and not (is_of(value, kind) and declaration.accepts(value)):
            accepted = "" if declaration.choices else f"{noun(kind)} "
            raise refused(f"{where}{name}", value, f"{accepted}{declaration.range()}".strip())
    if isinstance(section, hyperparams.OneOfConfig):
        if section.type not in (None, *inner):
            raise refused(f"{where}type", section.type, ", ".join(inner))
        inner = {name: part for name, part in inner.items() if name == section.type}
    for name, part in inner.items():
        check(part, f"{where}{name}.")
    if hasattr(section, "check"):
        section.check(where)


def refused(name: str, value: Any, accepted: str) -> InputError:
    """The error for a value that a parameter does not accept."""
    return InputError(f"{name}: {value!r}; accepted: {accepted}")


def is_of(value: Any, kind: Any) -> bool:
    """Whether a value has an annotated type; a whole number is a number, true is not."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return any(is_of(value, each) for each in inner)
    if origin in (list, collections.abc.Sequence):
        return isinstance(value, list | tuple) and all(is_of(each, inner[0]) for each in value)
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float if kind is float else kind)


def noun(kind: Any) -> str:
    """A type in words."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(map(noun, inner))
    if origin in (list, collections.abc.Sequence):
        return f"list of {noun(inner[0])}s" if inner[0] is not str else "list of texts"
    return _NOUNS.get(kind, "section")
