"""Commands of the project as processes that need not wait for their imports.

Python's fork server imports the packages once and forks a process for each command. TensorFlow and
Beam are only imported there and nothing of them is run, so what a fork takes along are modules.
"""

import multiprocessing
import os
import pkgutil
import runpy
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGES = ("data_pipeline", "model", "export", "evaluation")
_FORKED = multiprocessing.get_context("forkserver")


def prepare() -> None:
    """Names what the fork server imports when the first command is run."""
    folders = [(package, [str(REPOSITORY / package)]) for package in PACKAGES]
    found = [
        module.name
        for package, folder in folders
        for module in pkgutil.walk_packages(folder, f"{package}.")
        if not module.name.endswith(("__main__", ".verify"))
    ]
    _FORKED.set_forkserver_preload(found)


def run(argv: list, log: Path, folder: Path = REPOSITORY) -> int | None:
    """The exit status of a command that runs in a folder; `log` gets what it prints."""
    process = _FORKED.Process(target=_run, args=(argv, log, folder))
    process.start()
    process.join()
    return process.exitcode


def _run(argv: list, log: Path, folder: Path) -> None:
    """Runs a command in this process."""
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    sys.argv = [str(word) for word in argv]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
