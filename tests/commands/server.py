"""Commands of the project as processes, several at a time, that need not wait for their imports.

Python's fork server imports the packages once and forks a process for each command. TensorFlow and
Beam are only imported there and nothing of them is run, so what a fork takes along are modules.
"""

import multiprocessing
import os
import pkgutil
import runpy
import sys
import time
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


def run(*commands: dict) -> list[int | None]:
    """The exit statuses of commands: `argv`, `log` and perhaps `after` and `folder`."""
    processes = [_FORKED.Process(target=_run, kwargs=command) for command in commands]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


def _run(argv: list, log: Path, after: float = 0, folder: Path = REPOSITORY) -> None:
    """Runs a command in this process, after some seconds, in a folder."""
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    time.sleep(after)
    sys.argv = [str(word) for word in argv]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
