"""Runs commands of the project, several at a time, without waiting for their imports.

Reads a line of JSON at a time, a list of commands:

    {"argv": ["data_pipeline", "reddit", ...], "log": file, "after": seconds, "folder": to work in}

of which the last two may be left out. Forks a process for each command and answers with a line of
JSON, their exit statuses. TensorFlow and Beam are only imported here and nothing of them is run, so
what a fork takes along are modules.
"""

import contextlib
import importlib
import json
import os
import pkgutil
import runpy
import sys
import time
import traceback
import warnings
from pathlib import Path

PACKAGES = ("data_pipeline", "model", "export", "evaluation")


def import_everything():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for package in PACKAGES:
            found = importlib.import_module(package)
            for module in pkgutil.walk_packages(found.__path__, f"{package}."):
                if not module.name.endswith(("__main__", ".verify")):
                    importlib.import_module(module.name)


def started(command):
    """The process of a command."""
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        with Path(command["log"]).open("wb") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        os.chdir(command.get("folder", "."))
        time.sleep(command.get("after", 0))
        status = run(command["argv"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def run(argv):
    sys.argv = argv
    try:
        runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
    except SystemExit as left:
        if isinstance(left.code, str):
            print(left.code, file=sys.stderr)
            return 1
        return left.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import_everything()
    print("ready", flush=True)
    for line in sys.stdin:
        processes = [started(command) for command in json.loads(line)]
        statuses = [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in processes]
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(statuses), flush=True)


if __name__ == "__main__":
    main()
