"""`--help`: an example for each command, and every option explained with its default."""

import argparse
import shlex

import pytest

from evaluation.__main__ import parser as of_evaluation
from export.__main__ import parser as of_export
from model.sts_regression.__main__ import parser as of_regressors
from model.teacher import command as teacher


def inner(root):
    (several,) = (a for a in root._actions if isinstance(a, argparse._SubParsersAction))
    return several.choices.items()


def commands():
    for name, root in (("evaluation", of_evaluation()), ("export", of_export())):
        for command, parser in inner(root):
            yield pytest.param(name, parser, id=f"{name} {command}")


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
    "parser",
    [teacher.parser(), *(parser for _, parser in inner(of_regressors()))],
    ids=lambda parser: parser.prog,
)
def test_the_other_programs_of_the_model_explain_theirs(parser):
    said = parser.format_help()
    assert "    python -m model" in said or "example:\n  python -m model" in said
    assert all(action.help for action in parser._actions)
