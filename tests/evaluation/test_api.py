"""The public names of the package, as its docstring shows them."""

import doctest
import shutil
import subprocess
import sys

import pytest

import evaluation
from common.errors import InputError


def test_the_examples_run(module, tmp_path, monkeypatch):
    shutil.copytree(module, tmp_path / "module")
    (tmp_path / "stsb").mkdir()
    rows = [
        (5, "the dog", "the dogs"),
        (2, "a house", "north"),
        (0, "run", "a tree"),
        (3, "a", "do"),
    ]
    lines = [f"main-news\tf\t2012\t{i}\t{gold}\t{a}\t{b}" for i, (gold, a, b) in enumerate(rows)]
    (tmp_path / "stsb" / "sts-dev.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(evaluation, raise_on_error=True).attempted > 10
    assert (tmp_path / "report.md").exists()


def test_tensorflow_is_imported_where_a_module_is_loaded(tmp_path):
    """In a process of its own: this one has imported it."""
    code = f"""
import importlib, sys, evaluation
assert 'numpy' not in sys.modules
from evaluation.__main__ import COMMANDS, main
for argv in (['report', '--results', {str(tmp_path)!r}, '--output', 'x.html'], ['sts', '-h']):
    try:
        main(argv)
    except SystemExit as stop:
        print(stop.code)
for command in COMMANDS:
    importlib.import_module(command.run.partition(':')[0])
assert 'tensorflow' not in sys.modules
public = [getattr(evaluation, name) for name in evaluation.__all__]
assert not hasattr(evaluation, 'other')
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("error: ")
    assert done.stdout.endswith("0\n")


def test_a_task_that_is_none_is_refused():
    with pytest.raises(InputError, match="poetry"):
        evaluation.evaluate(None, "poetry", "folder")
