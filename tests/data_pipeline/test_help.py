"""`--help`: an example for each command, and every option explained with its default."""

import re

import pytest

from data_pipeline.__main__ import main

COMMANDS = ("reddit", "conversations", "pairs", "snli", "vocabulary", "sample")


def help_of(command, capsys):
    with pytest.raises(SystemExit) as raised:
        main([command, "--help"])
    assert raised.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_an_example(command, capsys):
    said = help_of(command, capsys)
    assert f"\nexample:\n  python -m data_pipeline {command} --" in said
    assert said.startswith(f"usage: python -m data_pipeline {command} --")


@pytest.mark.parametrize("command", ["reddit", "conversations", "pairs"])
def test_options_come_in_groups_with_their_defaults(command, capsys):
    said = help_of(command, capsys)
    groups = re.findall(r"^(\S.*):$", said, flags=re.MULTILINE)
    assert [group for group in groups if group in ("split and storage", "rules that drop messages")]
    words = " ".join(said.split())
    rules = "paper" if command == "reddit" else "none"
    assert f"turns it on; default: {rules}" in words
    assert "in [0, 1]; default: 0.1" in words
    assert "the paper's: 349" in words
    assert "the paper's: https,/r/,@" in words


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_what_it_does(command, capsys):
    said = help_of(command, capsys)
    for option in re.findall(r"\n  (--\w+[^\n]*)\n(?=  --|\n)", said):
        assert re.search(r"\S {2,}\S", option), option
