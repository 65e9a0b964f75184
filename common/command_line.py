"""Command lines: the options of a command are declared once, as a frozen dataclass.

    @dataclass(frozen=True, kw_only=True)
    class SampleOptions(Options):
        comments: int = option(20_000, help="comments in the dump", minimum=1)

The dataclass checks its values itself, so that Python callers get the same errors. Modules with
options import nothing heavy; what runs a command is imported once its options are known to be good.
"""

import argparse
import dataclasses
import importlib
import os
import signal
import sys
import types
import typing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common.errors import InputError, message_of
from common.fields import Field

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
_TENSORFLOW = {
    "TF_CPP_MIN_LOG_LEVEL": "3",  # it logs a missing GPU as an error; what matters it raises, too
    "TF_USE_LEGACY_KERAS": "1",  # tf_keras, as our layers; to import Keras 3 as well takes a second
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",  # else one process takes all memory
}
"""Settings of TensorFlow for all programs, unless the environment has others."""
runner = "python -m"  # what runs a program, for the help


def option(default: Any = REQUIRED, **declaration: Any) -> Any:
    """Declares a field of an `Options` class by fields of `Field`; required without a default.

    Its type says how it is given: `bool` is a flag; `tuple[str, ...]` takes one or more values and
    may be repeated; `tuple[str, str]` takes two; the rest take one. `| None` may be left out.
    """
    return dataclasses.field(default=default, metadata={"option": Field(**declaration)})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """What a command is given; the base of a dataclass whose fields are made by `option`."""

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(type(self))
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None or value is field.default:
                continue
            kind, is_many = _kind(hints[field.name])
            given = (value,) if not is_many or isinstance(value, str) else value
            values = tuple(
                Path(each) if kind is Path and isinstance(each, str) else each for each in given
            )
            declared: Field = field.metadata["option"]
            name = field.name if declared.positional else f"--{field.name}"
            for each in values:
                declared.check(name, each, kind)
            if not getattr(self, declared.needs, True):
                raise InputError(f"{name}: accepted with --{declared.needs}, which is missing")
            object.__setattr__(self, field.name, values if is_many else values[0])


def _kind(hint: Any) -> tuple[type, bool]:
    """The type of one value of a field, and whether the field holds several."""
    if isinstance(hint, types.UnionType):
        (hint,) = (each for each in typing.get_args(hint) if each is not types.NoneType)
    inner = typing.get_args(hint)
    return (inner[0], True) if inner else (hint, False)


@dataclasses.dataclass(frozen=True)
class Command:
    """One command of a program."""

    name: str
    options: type[Options]  # whose docstring is the summary in the help
    run: str  # `module:function`, called with the options, and where there are `others` with those
    example: str  # what follows the command's name in an example
    others: str = ""  # what further arguments are accepted as they are, such as the options of Beam


def main(
    package: str,
    description: str,
    commands: Sequence[Command],
    argv: Sequence[str] | None = None,
    *,
    default: str = "",
) -> None:
    """Runs the command that the arguments name, or `default` where the first one is an option.

    Exit status: 0; 1 after one line about an error; 2 for wrong usage; 130 or 143 for signals.
    """
    os.environ.update(_TENSORFLOW | dict(os.environ))
    argv = list(sys.argv[1:] if argv is None else argv)
    asks_for_commands = len(commands) > 1 and argv[:1] in (["-h"], ["--help"])
    if default and argv and argv[0].startswith("-") and not asks_for_commands:
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
        except ImportError as error:
            raise InputError(missing(package, error)) from error


def missing(package: str, error: ImportError) -> str:
    """In one line, which extra installs the library that a program lacks."""
    extra = _OPTIONAL.get(str(error.name)) or EXTRAS.get(package)
    return f"{error}; pip install 'conversational-embeddings[{extra}]' installs it"


@contextmanager
def errors_in_one_line(*, debug: bool = False) -> Iterator[None]:
    """Ends the process with one line for any error, or its traceback; for signals as shells do."""
    previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
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


def make_parser(
    package: str, description: str, commands: Sequence[Command]
) -> argparse.ArgumentParser:
    """The parser of a program; each command's help is made from its options."""
    style: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    about = description.replace("python -m", runner)
    parser = argparse.ArgumentParser(
        f"{runner} {package}", "%(prog)s COMMAND [OPTIONS]", about, **style
    )
    subparsers = parser.add_subparsers(prog=parser.prog, required=True, metavar="COMMAND")
    for command in commands:
        summary, *_ = (command.options.__doc__ or "").splitlines()
        child = subparsers.add_parser(command.name, help=summary.rstrip("."), **style)
        child.description = summary
        example = command.example.replace("python -m", runner)
        child.epilog = f"example:\n  {child.prog} {example}\n\n{command.others}".strip()
        child.set_defaults(_command=command)
        add_options(child, command.options)
        child.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def add_options(parser: argparse.ArgumentParser, options: type[Options]) -> None:
    """Adds an argument for each field; the options check the values."""
    hints = typing.get_type_hints(options)
    groups: dict[str, Any] = {"": parser}
    for field in dataclasses.fields(options):
        declared: Field = field.metadata["option"]
        kind, is_many = _kind(hints[field.name])
        # What is not given is left to the dataclass.
        settings: dict[str, Any] = {"help": declared.help, "default": argparse.SUPPRESS}
        if field.default not in (REQUIRED, None, False, ()):
            settings["help"] += f"; default: {field.default}"
        settings["help"] = settings["help"].replace("%", "%%")
        if kind is bool:
            settings["action"] = "store_true"
        else:
            values = f"{{{','.join(map(str, declared.choices))}}}" if declared.choices else ""
            default = values or {int: "N", float: "X"}.get(kind, "TEXT")
            settings |= {"type": kind, "metavar": declared.metavar or default}
        if is_many and isinstance(declared.metavar, tuple):
            settings["nargs"] = len(declared.metavar)
        elif is_many:
            settings |= {"nargs": "+", "action": "extend"}
        if declared.group not in groups:
            groups[declared.group] = parser.add_argument_group(declared.group)
        if not declared.positional:
            settings["required"] = field.default is REQUIRED
        prefix = "" if declared.positional else "--"
        groups[declared.group].add_argument(f"{prefix}{field.name}", **settings)
