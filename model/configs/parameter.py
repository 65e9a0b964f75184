"""How a parameter is declared: a dataclass field whose metadata hold its range and meaning.

    @dataclasses.dataclass
    class Averaging(hyperparams.Config):
        word_dim: int = parameter(300, "Width of the word vectors.", minimum=1)

Fields that a section inherits from the Model Garden are parameters only where it declares them
again: training does not read the others. A method `misfits` of a section yields the names of
parameters, of it or inside it, whose values do not fit with others, and what is accepted.
"""

import dataclasses
import operator
import typing
from collections.abc import Iterator
from typing import Any

from official.modeling import hyperparams

from common.fields import Field, refused

Misfits = Iterator[tuple[str, str]]


def parameter(default: Any, meaning: str, **accepted: Any) -> Any:
    """Declares a parameter: default, meaning in sentences, and further fields of `Field`."""
    metadata = {"parameter": Field(help=meaning, **accepted)}
    if isinstance(default, list):
        return dataclasses.field(default_factory=lambda: list(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def declared(section: type[hyperparams.Config]) -> dict[str, tuple[Any, Field]]:
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
        field.name: (hints[field.name], field.metadata.get("parameter", Field()))
        for field in dataclasses.fields(section)
        if field.metadata or field.name not in inherited
    }


def parts(section: hyperparams.Config) -> dict[str, hyperparams.Config]:
    """The sections inside a section, by name."""
    return {
        name: part for name, part in vars(section).items() if isinstance(part, hyperparams.Config)
    }


def sections(
    section: hyperparams.Config, where: str = ""
) -> Iterator[tuple[str, hyperparams.Config]]:
    """A section and all inside it, each after its full name with a dot."""
    yield where, section
    for name, part in parts(section).items():
        yield from sections(part, f"{where}{name}.")


def check(section: hyperparams.Config, where: str = "") -> None:
    """Checks the parameters of a section, `where` with a dot, and of those inside that are used.

    Raises:
      InputError: for the first value that is not accepted; names it and what is.
    """
    inner = parts(section)
    for name, (kind, declaration) in declared(type(section)).items():
        if name not in inner:
            declaration.check(f"{where}{name}", getattr(section, name), kind)
    if isinstance(section, hyperparams.OneOfConfig):
        if section.type not in (None, *inner):
            raise refused(f"{where}type", section.type, ", ".join(inner))
        inner = {name: part for name, part in inner.items() if name == section.type}
    for name, part in inner.items():
        check(part, f"{where}{name}.")
    for name, accepted in section.misfits() if hasattr(section, "misfits") else ():
        raise refused(f"{where}{name}", operator.attrgetter(name)(section), accepted)
