"""What values a field takes, declared once: of an option of a command or a parameter of training.

The type and the default stand in the field itself, the rest in its metadata.
"""

import dataclasses
import math
import operator
import types
import typing
from collections.abc import Sequence
from typing import Any

from common.errors import InputError

_NOUNS = {int: "whole number", float: "number", bool: "true or false", str: "text"}
_NOUNS |= {types.NoneType: "null"}
_UNIONS = (typing.Union, types.UnionType)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Field:
    """What the declaration of a field says besides its type and default."""

    help: str = ""  # what it means
    choices: Sequence[str | None] = ()
    minimum: float | None = None
    above: float | None = None
    maximum: float | None = None
    below: float | None = None
    or_0: bool = False  # whether 0 is accepted too
    metavar: str | tuple[str, ...] | None = None
    """What stands for the value in the help of a command."""
    positional: bool = False  # whether an option is given without its name
    group: str = ""  # title under which the help of a command shows it
    needs: str = ""  # another option, without which it is refused, of commands that have that one

    def check(self, name: str, value: Any, kind: Any) -> None:
        """Raises InputError unless a value is of a type and in the range; NaN never is."""
        values = value if isinstance(value, list | tuple) else [value]
        if not (is_of(value, kind) and all(map(self._accepts, values))):
            accepted = self.range() if self.choices else f"{noun(kind)} {self.range()}".strip()
            raise refused(name, value, accepted)

    def _accepts(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if not isinstance(value, int | float) or (self.or_0 and value == 0):
            return True
        return math.isfinite(value) and all(ok(value, bound) for _, ok, bound in self._bounds())

    def _bounds(self) -> Sequence[tuple[str, Any, Any]]:
        low = ("from", operator.ge, self.minimum), ("above", operator.gt, self.above)
        high = ("to", operator.le, self.maximum), ("below", operator.lt, self.below)
        return [bound for bound in (*low, *high) if bound[2] is not None]

    def range(self) -> str:
        """The accepted values in words, without the type; empty if it accepts all of its type."""
        if self.choices:
            return ", ".join(filter(None, self.choices))
        said = " ".join(f"{word} {bound:.12g}" for word, _, bound in self._bounds())
        return said + ", or 0" * self.or_0


def refused(name: str, value: Any, accepted: str) -> InputError:
    """The error for a value that is not accepted."""
    return InputError(f"{name}: {value!r}; accepted: {accepted}")


def is_of(value: Any, kind: Any) -> bool:
    """Whether a value has an annotated type; a whole number is a number, true is not."""
    inner = typing.get_args(kind)
    if typing.get_origin(kind) in _UNIONS:
        return any(is_of(value, each) for each in inner)
    if inner:
        return isinstance(value, list | tuple) and all(is_of(each, inner[0]) for each in value)
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float if kind is float else kind)


def noun(kind: Any) -> str:
    """A type in words."""
    inner = typing.get_args(kind)
    if typing.get_origin(kind) in _UNIONS:
        return " or ".join(map(noun, inner))
    return f"list of {noun(inner[0])}s" if inner else _NOUNS.get(kind, kind.__name__)
