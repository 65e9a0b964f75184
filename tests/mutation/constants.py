"""Mutants of what a module does as it is imported, which mutmut leaves out: constants and defaults.

A child is forked for each from a process that has imported every package but the project's own. It
imports the mutated module in place of the real one and runs the tests that, by the statistics of
mutmut's run, reach the module. Texts for people are left as they are: strings with a space.
SAMPLE=N tries only N of each module, the same ones each time; 0, the default, tries all.
"""

import gc
import importlib
import importlib.machinery
import json
import os
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import libcst as cst
import pytest
from mutmut.configuration import config
from mutmut.mutation.file_mutation import create_mutations, deep_replace

PACKAGES = (
    *("tensorflow", "tensorflow_text", "tf_keras", "official.core.config_definitions"),
    *("official.modeling.optimization", "orbit", "apache_beam", "scipy.optimize", "scipy.stats"),
    *("pyarrow.parquet", "sklearn.metrics"),
)
CALLED_AT_IMPORT = ("_texts", "_rows")
"""Functions of `export.module.signatures` whose mutants mutmut tries after they were called."""
SECONDS = 120
RESULTS = Path("mutants/constants.json")


class Mutant(NamedTuple):
    path: str
    was: str
    is_now: str
    code: str


def mutants(path: str) -> Iterator[Mutant]:
    """Those of a file that no function's trampoline holds."""
    module, mutations, *_ = create_mutations(path, Path(path).read_text())
    for mutation in mutations:
        outer, node = mutation.contained_by_top_level_function, mutation.original_node
        in_function = isinstance(outer, cst.FunctionDef)
        if in_function and outer.name.value not in CALLED_AT_IMPORT:
            continue
        was, is_now = module.code_for_node(node), module.code_for_node(mutation.mutated_node)
        is_prose = isinstance(node, cst.SimpleString) and " " in was
        is_type = isinstance(node, cst.Assign) and isinstance(node.value, cst.Subscript)
        if is_prose or is_type:
            continue
        yield Mutant(path, was, is_now, deep_replace(module, node, mutation.mutated_node).code)


def tests_by_path() -> dict[str, list[str]]:
    """The tests that reach each file, the fast ones first."""
    stats = json.loads(Path("mutants/mutmut-stats.json").read_text())
    found: dict[str, set[str]] = {}
    for function, tests in stats["tests_by_mangled_function_name"].items():
        path = function.rpartition(".")[0].replace(".", "/") + ".py"
        found.setdefault(path, set()).update(tests)
    seconds = stats["duration_by_test"]
    return {path: sorted(tests, key=seconds.get) for path, tests in found.items()}


def run_tests(mutant: Mutant, tests: list[str]) -> int:
    """In a child: pytest's exit status with the mutant in place of the module."""
    signal.alarm(SECONDS)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, sys.stdout.fileno())
    os.dup2(silence, sys.stderr.fileno())
    name = mutant.path.removesuffix(".py").replace("/", ".")
    loader = importlib.machinery.SourceFileLoader
    get_code = loader.get_code
    loader.get_code = lambda self, fullname: (
        compile(mutant.code, mutant.path, "exec") if fullname == name else get_code(self, fullname)
    )
    return int(pytest.main(["-x", "-q", *config().pytest_add_cli_args, *tests]))


def chosen() -> list[Mutant]:
    """All of them, or the sample that is asked for."""
    most = int(os.environ.get("SAMPLE", "0"))
    found = [list(mutants(path)) for path in config().only_mutate]
    draw = random.Random(0)
    return [
        mutant
        for some in found
        for mutant in (draw.sample(some, most) if 0 < most < len(some) else some)
    ]


def main() -> None:
    """Tries all of them and writes what became of each."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    for package in PACKAGES:
        importlib.import_module(package)
    gc.freeze()
    tests = tests_by_path()
    waiting = chosen()
    running: dict[int, Mutant] = {}
    survived = []
    counts = dict.fromkeys(config().only_mutate, 0)
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            mutant = waiting.pop()
            counts[mutant.path] += 1
            child = os.fork()
            if not child:
                os._exit(run_tests(mutant, tests[mutant.path]))
            running[child] = mutant
        child, status = os.wait()
        mutant = running.pop(child)
        if status == 0:
            survived.append((mutant.path, mutant.was, mutant.is_now))
        print(f"\r{len(waiting)} left, {len(survived)} survived ", end="", flush=True)
    found = {
        "mutants": counts,
        "survived": sorted(survived),
        "sample": int(os.environ.get("SAMPLE", "0")),
    }
    RESULTS.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
