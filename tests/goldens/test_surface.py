"""The surface is frozen: to add to it, or take away, is a decision that shows in the diff."""

import shlex

import pytest

from tests.goldens import surface


def test_commands_options_signatures_and_results_are_those_that_are_listed():
    assert "\n".join(surface.lines()) + "\n" == surface.SURFACE.read_text()


@pytest.mark.parametrize(
    ("command", "parser"), list(surface.parsers()), ids=lambda one: str(one)[:40]
)
def test_a_command_explains_each_option_and_has_an_example_that_parses(command, parser):
    assert all(action.help for action in parser._actions)
    example = parser.epilog.partition("example:\n")[2].partition("\n\n")[0].replace("\\\n", " ")
    assert example
    for line in example.splitlines():
        words = shlex.split(line)
        assert " ".join(words[: len(command.split())]) == command
        given, others = parser.parse_known_args(words[len(command.split()) :])
        assert given
        assert not others
