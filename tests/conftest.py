import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]

# TensorFlow reports a GPU that is not there as an error. Must come before its import.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def run(*command):
    """Runs `python COMMAND` from the repository, as a user does; shows its output if it fails."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def evaluate(*arguments):
    """`python -m evaluation ARGUMENTS` in this process; returns what it prints."""
    from evaluation.__main__ import main

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main([*map(str, arguments)]) == 0
    return printed.getvalue()


@pytest.fixture(scope="session")
def four_steps():
    """A function that walks from dumps to report in a folder, each step by its command.

    The scores come from one process: TensorFlow takes 8 seconds to start in each.
    """

    def walk(folder, *, corpora, preset):
        data, module, results = folder / "data", folder / "module", folder / "results"
        run("-m", "data_pipeline", "reddit", "--input", f"{corpora}/reddit/RC_*", "--output", data)
        run(
            *("-m", "model", "--experiment", "reddit", "--mode", "train_and_eval"),
            *("--model_dir", folder / "model", "--config_file", preset, "--params_override"),
            f"task.train_data.input_path={data}/train-*,"
            f"task.validation_data.input_path={data}/test-*",
        )
        run("-m", "export", "--model_dir", folder / "model", "--output", module)
        sets = {"response_ranking": data, "sts": f"{corpora}/stsb", "cqa": f"{corpora}/semeval_cqa"}
        for task, path in sets.items():
            evaluate(task, "--data", path, "--module", module, "--output", results)
        report = folder / "report.html"
        table = evaluate("report", "--results", results, "--output", report)
        return {
            "table": table,
            "page": report.read_text(),
            "results": {path.stem: json.loads(path.read_text()) for path in results.glob("*.json")},
        }

    return walk


@pytest.fixture(scope="session")
def command():
    """Runs `python -m COMMAND` as a user does."""
    return lambda *arguments: run("-m", *arguments)


@pytest.fixture(scope="session")
def sample_world():
    """A function that makes a sample world in a folder."""

    def make(folder, *, comments=None):
        size = () if comments is None else ("--comments", comments)
        run("-m", "data_pipeline", "sample", "--output", folder, *size)
        return folder

    return make


@pytest.fixture(scope="session")
def real_data():
    """The folder of real data, where there is one."""
    folder = os.environ.get("CONVERSATIONS_DATA")
    if not folder:
        pytest.skip("CONVERSATIONS_DATA names no folder of real data")
    return Path(folder)
