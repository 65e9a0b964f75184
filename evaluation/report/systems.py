"""What a table has rows of: modules and baselines, read from folders of results.

A system that was trained with several seeds has several runs: its cells are means over them, with
the standard deviation.

What stands in one table is of the same items: a result of other data or settings than the first of
its name, or one learned or chosen on other data, is left out when results are read, and `left_out`
says so.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from common.errors import InputError
from evaluation.report.table import BASELINE, OTHER, OURS, Cell, mean
from evaluation.results import store
from evaluation.results.result import RETRIEVAL, TASKS, VARIANTS, Result, data_name
from evaluation.results.text import SYSTEMS, module_name

BASELINES = "baselines"
"""The folder in a folder of results that the command `baselines` writes to."""
ALL = "all"
"""The group that all items of a result are in."""
NOT_SHOWN = ("untuned",)  # a row of its own elsewhere
ITEMS_BY = {"response_ranking": ("candidates", "seed"), "sts": ("columns", "quotes")}
"""Settings of a task on which its items depend."""
_RUN = re.compile(r"(?P<name>.+)-(?P<seed>\d+)")


@dataclass(frozen=True)
class System:
    """A module or baseline: its results by name, one mapping a run."""

    label: str
    kind: str
    runs: tuple[Mapping[str, Result], ...]
    seeds: tuple[int, ...] = ()
    """Of the runs, where they have any."""
    left_out: tuple[str, ...] = ()
    """Sentences: which results are not among the runs, and why."""

    def named(self, name: str) -> list[Result]:
        """Return the result of this name of each run that has it."""
        return [run[name] for run in self.runs if name in run]

    def results(self) -> Iterator[Result]:
        """Yield the results of all runs."""
        for run in self.runs:
            yield from run.values()

    @property
    def pretrained(self) -> bool:
        """Whether it is, or starts from, a model that was trained elsewhere."""
        return any((result.module or {}).get("pretrained") for result in self.results())


@dataclass(frozen=True)
class Scored:
    """A system's metrics on one data set.

    `column` is the name of the system among the baselines of the results, None if it is what they
    are of.
    """

    label: str
    kind: str
    results: Sequence[Result]
    column: str | None = None
    pretrained: bool = False

    def cell(self, key: str, *, group: str = ALL, percent: bool = False, decimals: int = 3) -> Cell:
        """Return one metric, of all items or of a group of them."""
        found = [self._figures(one, group) for one in self.results]
        found = [(of, ends) for of, ends in found if of.get(key) is not None]
        values = [of[key] for of, _ in found]
        intervals = [ends.get(key) for _, ends in found]
        return mean(values, intervals=intervals, percent=percent, decimals=decimals)

    def _figures(self, result: Result, group: str) -> tuple[Mapping, Mapping]:
        """Return metrics and intervals."""
        if self.column is not None:
            of, ends = result.baselines, result.baseline_intervals
            return of.get(self.column, {}), ends.get(self.column, {})
        if group == ALL:
            return result.metrics, result.intervals
        found: Mapping = result.groups.get(group, {})
        return found.get("metrics", {}), found.get("intervals", {})


def read_module(folder: Path, others: Sequence[Path] = ()) -> list[System]:
    """Read the results of a module and of its baselines, and those of other modules.

    The module has its folder's name, another the name of its folder of results, or the whole path
    where that name is taken.

    Raises:
      InputError: if a folder has no results, or a file is none.
    """
    own = _by_name(folder)
    of_module = next((found for found in own.values() if found.module), None)
    systems = [System(module_name(of_module) if of_module else SYSTEMS["module"], OURS, (own,))]
    for other in dict.fromkeys(others):
        label = other.name
        if label == systems[0].label or [path.name for path in others].count(label) > 1:
            label = str(other)
        systems.append(System(label, OTHER, (_by_name(other),)))
    for path in _baselines(folder):
        results = _by_name(path)
        module = next((found.module for found in results.values() if found.module), None)
        # The last two parts of a long path.
        label = "/".join(module["path"].split("/")[-2:]) if module else path.name
        taken = {system.label for system in systems if system.kind == BASELINE}
        systems.append(System(path.name if label in taken else label, BASELINE, (results,)))
    return _on_the_same_items(systems)


def read_runs(folder: Path, runs: Sequence[str] = ()) -> list[System]:
    """Read a system for each name among folders NAME-SEED, then the baselines in `baselines/`.

    Args:
      folder: where they are.
      runs: those to read, as NAME-SEED; all that have results if none is named.

    Raises:
      InputError: if a folder has no results, or a file in it is none.
    """
    there = sorted(path.name for path in folder.glob("*") if any(path.glob("*.json")))
    found: dict[str, dict[int, Mapping[str, Result]]] = {}
    for run in runs or there:
        if match := _RUN.fullmatch(run):
            found.setdefault(match["name"], {})[int(match["seed"])] = _by_name(folder / run)
        elif runs:
            raise InputError(f"--runs: {run}; accepted: NAME-SEED, such as {', '.join(there)}")
    if not found:
        raise InputError(f"{folder}: no results here (folders NAME-SEED of *.json are needed)")
    trained = [
        System(row_label(name), OURS, tuple(by_seed.values()), tuple(by_seed))
        for name, by_seed in found.items()
    ]
    baselines = [
        System(row_label(path.name), BASELINE, (_by_name(path),)) for path in _baselines(folder)
    ]
    return _on_the_same_items([*trained, *baselines])


def left_out(systems: Sequence[System]) -> list[str]:
    """Return the sentences on what is in no table."""
    return [sentence for system in systems for sentence in system.left_out]


def _on_the_same_items(systems: Sequence[System]) -> list[System]:
    """Return the systems without the results of other items than the first of the same name."""
    first: dict[tuple[str, str], tuple[str, Mapping]] = {}
    found: list[System] = []
    for system in systems:
        runs: list[Mapping[str, Result]] = []
        sentences: list[str] = []
        for run in system.runs:
            kept = {}
            for name, result in run.items():
                for kind, known in (("items", data_name(name)), ("learned", name)):
                    facts = _facts(result, kind)
                    own = system.label, facts
                    of, others = first.setdefault((kind, known), own) if facts else own
                    if difference := _difference(facts, others):
                        sentences.append(
                            f"{system.label}, {name} is left out: {difference} in {of}."
                        )
                        break
                else:
                    kept[name] = result
            runs.append(kept)
        found.append(replace(system, runs=tuple(runs), left_out=tuple(sentences)))
    return found


def _facts(result: Result, kind: str) -> Mapping[str, object]:
    """Return what tells the items of results apart, or the data that they learned from."""
    digest = result.data.get("learned_from", {}).get("sha256")
    if kind == "learned":
        return {"learned or chosen on data of SHA-256": digest[:12]} if digest else {}
    if result.task not in (*TASKS, RETRIEVAL):
        return {}
    settings = {name: result.settings.get(name) for name in ITEMS_BY.get(result.task, ())}
    digest = result.data.get("sha256")
    return {"n": result.n, **settings, "SHA-256 of the data": digest and digest[:12]}


def _difference(facts: Mapping, others: Mapping) -> str:
    """Return in what two results differ, as far as both tell; else empty."""
    for name, value in facts.items():
        known = others.get(name)
        if None not in (value, known) and value != known:
            return f"{name} {value}, but {known}"
    return ""


def row_label(name: str) -> str:
    """Return how a row's name is shown."""
    return name.replace("_", " ")


def shares(systems: Sequence[System], name: str) -> tuple[list[System], dict[int, System]]:
    """Return the other systems, and by its share in percent each that is called `name SHARE`."""
    pattern = re.compile(rf"{name} (\d+)")
    found = {int(match[1]): one for one in systems if (match := pattern.fullmatch(one.label))}
    return [one for one in systems if one not in found.values()], dict(sorted(found.items()))


def _baselines(folder: Path) -> list[Path]:
    """Return the folders of baselines that have results."""
    beside = folder / BASELINES
    paths = sorted(beside.iterdir()) if beside.is_dir() else []
    return [path for path in paths if path.is_dir() and any(path.glob("*.json"))]


def _by_name(folder: Path) -> dict[str, Result]:
    return {found.name: found for found in store.read_results(folder)}


def names(systems: Sequence[System], task: str) -> list[str]:
    """Return the names of all results of a task, the first system's first."""
    found = [r.name for system in systems for r in system.results() if r.task == task]
    return list(dict.fromkeys(found))


def scored(systems: Sequence[System], name: str) -> Iterator[Scored]:
    """Yield every system's metrics on one data set, in order; those of `VARIANTS` behind its own.

    Last come the baselines that every result of these data holds, such as word overlap.
    """
    seen: list[Result] = []
    for system in systems:
        for of_name, of_label in {"": "", **VARIANTS}.items():
            found = system.named(name + of_name)
            own = [result for result in found if result.system.startswith("module")]
            if own:
                label = system.label + of_label
                yield Scored(label, system.kind, own, pretrained=system.pretrained)
            elif found and not seen:
                # What no module was scored on is the same in every folder.
                yield Scored(SYSTEMS.get(found[0].system, found[0].system), BASELINE, found[:1])
            seen += found
    first = next((result for result in seen if result.baselines), None)
    if first is None:
        return
    for column in first.baselines:
        if column not in NOT_SHOWN:
            yield Scored(SYSTEMS.get(column, column), BASELINE, [first], column)
