"""`--help`: an example for each command, and every option explained with its default."""

import re
import subprocess
import sys

import pytest

from data_pipeline.__main__ import _unused_clients, main

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


def test_a_command_imports_neither_the_other_ones_nor_cloud_clients():
    code = (
        "import gc, runpy, sys\nsys.argv = ['x', 'reddit', '--help']\n"
        "try: runpy.run_module('data_pipeline', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "unused = ('boto3', 'google.auth', 'pandas', 'data_pipeline.snli')\n"
        "found = [name for name in unused if name in sys.modules]\n"
        "print(found, gc.isenabled(), 'apache_beam' in sys.modules)"
    )
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said.splitlines()[-1] == "[] True True"


@pytest.mark.parametrize(
    "argv", [["reddit", "--input", "s3://b/RC_*"], ["reddit", "--runner=DataflowRunner"]]
)
def test_a_command_that_reaches_out_has_the_clients(argv):
    assert list(_unused_clients(argv)) == []
    assert "boto3" in _unused_clients(["reddit", "--input", "RC_*"])
