"""Command lines: the options of a command are declared once, as a frozen dataclass.

    @dataclass(frozen=True, kw_only=True)
    class SampleOptions(Options):
        output: Path = option(help="the folder to write", metavar="DIR")
        comments: int = option(20_000, help="comments in the dump", minimum=1)

    COMMANDS = [
        Command("sample", SampleOptions, run="data_pipeline.sample.command:run",
                summary="write a small generated forum", example="--output world/"),
    ]
    main("data_pipeline", __doc__, COMMANDS)

The dataclass checks its values itself, so that Python callers get the same errors. Modules with
options import nothing heavy; what runs a command is imported once its options are known to be good.
"""

import argparse
import dataclasses
import importlib
import signal
import sys
import types
import typing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from common.errors import InputError, message_of

REQUIRED: Any = dataclasses.MISSING
EXTRAS = {
    "data_pipeline": "pipeline",
    "model": "train",
    "model.sts_regression": "train",
    "export": "train",
    "evaluation": "evaluate",
}
"""Program -> the extra of this project that installs its libraries."""
_OPTIONAL = {"onnx": "formats", "tokenizers": "formats"}
"""Library -> its extra, of what only some commands need."""
runner = "python -m"
"""What runs a program, for the help."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Option:
    """What the declaration of a field says besides its type and default."""

    help: str
    """A phrase; the default is added to it."""
    metavar: str | tuple[str, ...] | None = None
    """What stands for the value in the help."""
    choices: Sequence[str] = ()
    minimum: float | None = None
    maximum: float | None = None
    below: float | None = None
    """The bound that a value must not reach."""
    positional: bool = False
    """Whether it is given without its name."""
    group: str = ""
    """Title under which the help shows it."""

    def accepts(self, value: Any) -> bool:
        """Whether a value of the right type is in the range; NaN never is."""
        if self.choices:
            return value in self.choices
        return (
            (self.minimum is None or value >= self.minimum)
            and (self.maximum is None or value <= self.maximum)
            and (self.below is None or value < self.below)
            and value == value
        )

    def accepted(self, kind: type) -> str:
        """The accepted values of a type in words."""
        if self.choices:
            return ", ".join(self.choices)
        noun = {int: "whole numbers", float: "numbers", str: "text", bool: "true or false"}
        bounds = {"from": self.minimum, "to": self.maximum, "below": self.below}
        said = [f"{word} {bound:,}" for word, bound in bounds.items() if bound is not None]
        return " ".join([noun.get(kind, kind.__name__), *said])


def option(default: Any = REQUIRED, **declaration: Any) -> Any:
    """Declares a field of an `Options` class.

    Its type says how it is given: `bool` is a flag; `tuple[str, ...]` takes one or more values and
    may be repeated; `tuple[str, str]` takes two; the rest take one. `| None` may be left out.

    Args:
      default: none makes the option required.
      **declaration: fields of `Option`.
    """
    return dataclasses.field(default=default, metadata={"option": Option(**declaration)})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """What a command is given; the base of a dataclass whose fields are made by `option`.

    Raises:
      InputError: if a value is not of its field's type, range or choices.
    """

    def __post_init__(self) -> None:
        """Checks every field; extended where options depend on each other."""
        hints = typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            kind, is_many = _kind(hints[field.name])
            if kind is Path and isinstance(value, str):
                value = Path(value)
                object.__setattr__(self, field.name, value)
            if value is None or value is field.default:
                continue
            if is_many:
                value = tuple(kind(each) if kind is Path else each for each in value)
                object.__setattr__(self, field.name, value)
            declared: Option = field.metadata["option"]
            for each in value if is_many else (value,):
                is_kind = isinstance(each, (int, float) if kind is float else kind)
                is_kind = is_kind and (kind is bool or not isinstance(each, bool))
                if not (is_kind and declared.accepts(each)):
                    accepted = declared.accepted(kind)
                    raise InputError(f"--{field.name}: {each!r}; accepted: {accepted}")


def _kind(hint: Any) -> tuple[type, bool]:
    """The type of one value of a field, and whether the field holds several."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        (hint,) = (each for each in typing.get_args(hint) if each is not types.NoneType)
    if typing.get_origin(hint) is tuple:
        return typing.get_args(hint)[0], True
    return hint, False


@dataclasses.dataclass(frozen=True)
class Command:
    """One command of a program."""

    name: str
    options: type[Options]
    run: str
    """`module:function`, called with the options, and where there are `others` with those."""
    summary: str
    """A phrase that begins with a verb."""
    example: str
    """What follows the command's name in an example."""
    others: str = ""
    """What further arguments are accepted as they are, such as the options of Beam."""


def main(
    package: str,
    description: str,
    commands: Sequence[Command],
    argv: Sequence[str] | None = None,
    *,
    default: str = "",
) -> None:
    """Runs the command that the arguments name.

    Exit status: 0; 1 after one line about an error; 2 for wrong usage; 130 or 143 for signals.

    Args:
      package: what is run with `python -m`.
      description: what it does, for its help.
      commands: in the order of the help.
      argv: the arguments, by default those of the process.
      default: the command where the first argument is an option.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    if default and argv and argv[0].startswith("-") and argv[0] not in ("-h", "--help"):
        argv.insert(0, default)
    parser = make_parser(package, description, commands)
    arguments, others = parser.parse_known_args(argv)
    given = vars(arguments)
    command: Command = given.pop("_command")
    if others and not command.others:
        parser.error(f"unrecognized arguments: {' '.join(others)}")
    with errors_in_one_line(debug=given.pop("debug")):
        options = command.options(**given)
        module, _, function = command.run.partition(":")
        try:
            run = getattr(importlib.import_module(module), function)
            run(options, others) if command.others else run(options)
        except ModuleNotFoundError as error:
            raise InputError(missing(package, error)) from error


def missing(package: str, error: ModuleNotFoundError) -> str:
    """In one line, which extra installs the library that a program lacks."""
    extra = _OPTIONAL.get(str(error.name)) or EXTRAS.get(package)
    return f"{error}; pip install 'conversational-embeddings[{extra}]' installs it"


@contextmanager
def errors_in_one_line(*, debug: bool = False) -> Iterator[None]:
    """Ends the process with one line for any error, and for signals with the shell's status.

    Args:
      debug: whether errors show their traceback instead.
    """
    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(128 + signal.SIGINT)
    except Exception as error:
        if debug:
            raise
        kind = "" if isinstance(error, InputError | OSError) else f"{type(error).__name__}: "
        sys.exit(f"error: {kind}{message_of(error)}")
    finally:
        signal.signal(signal.SIGTERM, previous)


def _terminate(*_: object) -> NoReturn:
    sys.exit(128 + signal.SIGTERM)


def make_parser(
    package: str, description: str, commands: Sequence[Command]
) -> argparse.ArgumentParser:
    """The parser of a program; each command's help is made from its options."""
    parser = argparse.ArgumentParser(
        prog=f"{runner} {package}",
        usage="%(prog)s COMMAND [OPTIONS]",
        description=description.replace("python -m", runner),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    subparsers = parser.add_subparsers(prog=parser.prog, required=True, metavar="COMMAND")
    for command in commands:
        example = f"example:\n  python -m {package} {command.name} {command.example}"
        example = example.replace("python -m", runner)
        child = subparsers.add_parser(
            command.name,
            prog=f"{runner} {package} {command.name}",
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=f"{example}\n\n{command.others}" if command.others else example,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        child.set_defaults(_command=command)
        add_options(child, command.options)
        child.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def add_options(parser: argparse.ArgumentParser, options: type[Options]) -> None:
    """Adds an argument for each field; the options check the values."""
    hints = typing.get_type_hints(options)
    groups: dict[str, argparse._ArgumentGroup] = {}
    for field in dataclasses.fields(options):
        declared: Option = field.metadata["option"]
        kind, is_many = _kind(hints[field.name])
        # What is not given is left to the dataclass.
        settings: dict[str, Any] = {
            "help": declared.help.replace("%", "%%"),
            "default": argparse.SUPPRESS,
        }
        is_required = field.default is REQUIRED
        if not is_required and field.default not in (None, False, ()):
            settings["help"] += f"; default: {field.default}"
        if kind is bool:
            settings["action"] = "store_true"
        else:
            values = f"{{{','.join(declared.choices)}}}" if declared.choices else None
            default = values or {int: "N", float: "X"}.get(kind, "TEXT")
            settings |= {"type": kind, "metavar": declared.metavar or default}
        if is_many and isinstance(declared.metavar, tuple):
            settings["nargs"] = len(declared.metavar)
        elif is_many:
            settings |= {"nargs": "+", "action": "extend"}
        target: Any = parser
        if declared.group:
            if declared.group not in groups:
                groups[declared.group] = parser.add_argument_group(declared.group)
            target = groups[declared.group]
        if declared.positional:
            target.add_argument(field.name, **settings)
        else:
            target.add_argument(f"--{field.name}", required=is_required, **settings)
