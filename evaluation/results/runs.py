"""Folders of results in, runs of the same items out.

All results of a data set are of the same items: one of other data or settings than the first of its
name, or one learned or chosen on other data, is left out, and a sentence says so.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from common.errors import InputError
from evaluation.results import store
from evaluation.results.result import LEARNED_FROM, SYSTEMS, Result, data_name, facts
from evaluation.results.text import module_name

BASELINES = "baselines"  # the folder that the command of this name writes to
OURS, OTHER, BASELINE = "ours", "other", "baseline"
SHARES = ("growth", "nli")
"""Kinds of rows trained on a share of the pairs or the NLI pairs, in percent, such as `nli_30`."""


class Run(NamedTuple):
    """A system, trained once: its results by name. `kind` may be that of a share, too."""

    system: str
    kind: str
    results: dict[str, Result]
    seed: int | None = None


def read_module(folder: Path, others: Sequence[Path] = ()) -> tuple[list[Run], list[str]]:
    """Read results of a module, of others, and of baselines: runs, and what is left out.

    The others are named after their folders, by the whole path where two have the same name.
    """
    runs = [Run(SYSTEMS["module"], OURS, _by_name(folder))]
    names = [other.name for other in others]
    for other in dict.fromkeys(others):
        system = str(other) if names.count(other.name) > 1 else other.name
        runs.append(Run(system, OTHER, _by_name(other)))
    return _on_the_same_items([*runs, *_baselines(folder)])


def read_runs(folder: Path, names: Sequence[str] = ()) -> tuple[list[Run], list[str]]:
    """Read folders NAME-SEED, of `names` or all, and baselines: runs, and what is left out."""
    there = sorted(path.name for path in folder.glob("*") if any(path.glob("*.json")))
    found = []
    for name in names or there:
        if match := re.fullmatch(r"(.+)-(\d+)", name):
            row, seed = match.groups()
            kind, _, share = row.partition("_")
            kind = kind if kind in SHARES and share.isdigit() else OURS
            found.append(Run(shown(row), kind, _by_name(folder / name), int(seed)))
        elif names:
            raise InputError(f"--runs: {name}; accepted: NAME-SEED, such as {', '.join(there)}")
    if not found:
        raise InputError(f"{folder}: no results here (folders NAME-SEED of *.json are needed)")
    return _on_the_same_items([*found, *_baselines(folder)])


def shown(name: str) -> str:
    """Return how a row's name is shown."""
    return name.replace("_", " ")


def _by_name(folder: Path) -> dict[str, Result]:
    return {result.name: result for result in store.read_results(folder)}


def _baselines(folder: Path) -> list[Run]:
    found = []
    for path in sorted((folder / BASELINES).glob("*")):
        if any(path.glob("*.json")):
            results = _by_name(path)
            names = (module_name(one) for one in results.values() if one.module)
            found.append(Run(next(names, shown(path.name)), BASELINE, results))
    return found


def _on_the_same_items(runs: list[Run]) -> tuple[list[Run], list[str]]:
    """Take from the runs the results of other items than the first of the same name."""
    first: dict[tuple[str, str], tuple[object, str]] = {}
    left_out = []
    for run in runs:
        for name, result in [*run.results.items()]:
            own = _facts(result)
            wrong = [key for key in own if key in first and first[key][0] != own[key]]
            if wrong:
                known, system = first[wrong[0]]
                why = f"{wrong[0][1]} {own[wrong[0]]}, but {known} in {system}"
                left_out.append(f"{run.system}, {name} is left out: {why}.")
                del run.results[name]
            else:
                first = {key: (value, run.system) for key, value in own.items()} | first
    return runs, left_out


def _facts(result: Result) -> dict[tuple[str, str], object]:
    return {
        (result.name if name == LEARNED_FROM else data_name(result.name), name): value
        for name, value in {**facts(result), "n": result.n}.items()
        if value is not None
    }
