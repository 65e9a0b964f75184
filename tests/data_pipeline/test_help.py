"""`--help`: every option of each command is there, without waiting for Beam."""

import dataclasses
import subprocess
import sys

import pytest

from data_pipeline.__main__ import COMMANDS, main


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_each_command_has_an_example_and_its_options(command, capsys):
    with pytest.raises(SystemExit) as raised:
        main([command.name, "--help"])
    assert raised.value.code == 0
    said = capsys.readouterr().out
    assert f"example:\n  python -m data_pipeline {command.name} {command.example}" in said
    for field in dataclasses.fields(command.options):
        assert f"--{field.name}" in said


def test_help_waits_for_no_large_library():
    code = (
        "import sys\nfrom data_pipeline.__main__ import main\n"
        "try: main(['reddit', '--help'])\nexcept SystemExit: pass\n"
        "sys.exit(bool({'apache_beam', 'tensorflow', 'pandas'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
