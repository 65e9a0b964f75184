"""`--help`: an example for each command, and every option explained with its default."""

import argparse
import shlex

import pytest

from common.command_line import make_parser
from evaluation.__main__ import parser as of_evaluation
from export import __main__ as export
from model.sts_regression import __main__ as sts_regression
from model.teacher.options import TEACHER


def inner(root):
    (several,) = (a for a in root._actions if isinstance(a, argparse._SubParsersAction))
    return several.choices.items()


def commands():
    for command, parser in inner(of_evaluation()):
        yield pytest.param("evaluation", parser, id=command)


@pytest.mark.parametrize(("package", "parser"), list(commands()))
def test_each_command_has_an_example_and_explains_its_options(package, parser):
    said = parser.format_help()
    assert f"example:\n  python -m {package} " in said
    assert all(action.help for action in parser._actions)


@pytest.mark.parametrize(("package", "parser"), list(commands()))
def test_the_example_can_be_parsed(package, parser):
    text = parser.epilog.removeprefix("example:\n").replace("\\\n", " ")
    for line in text.splitlines():
        words = shlex.split(line)
        assert words[:3] == ["python", "-m", package]
        rest = words[3:]
        if rest[0] == parser.prog.split()[-1]:
            rest = rest[1:]
        parser.parse_args(rest)


@pytest.mark.parametrize(
    "command",
    [*export.COMMANDS, *sts_regression.COMMANDS, TEACHER],
    ids=lambda command: command.run,
)
def test_the_example_of_a_declared_command_can_be_parsed(command):
    parser = make_parser("program", "", [command])
    parser.parse_args([command.name, *shlex.split(command.example)])
