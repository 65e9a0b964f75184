"""Several systems, each trained with one seed or several, as rows of the paper's tables.

A folder of results NAME-SEED is one run; all runs of a name are one row, whose figures are means
over the seeds, with the standard deviation where there are several.
"""

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tabulate import tabulate

from evaluation.analysis import overlap
from evaluation.errors import InputError
from evaluation.report import paper, scores, systems
from evaluation.results import result
from evaluation.results.result import Result
from evaluation.tasks import snli

_RUN = re.compile(r"(?P<name>.+)-(?P<seed>\d+)")
SPLITS = ("dev", "test")
NONE = "-"


@dataclass(frozen=True)
class Row:
    """A system: by seed, its results by name."""

    label: str
    runs: tuple[Mapping[str, Result], ...]
    seeds: tuple[int, ...] = ()
    """Of the runs, where they have any."""

    def figures(self, name: str, key: str, *, group: str | None = None) -> list[float]:
        """Return one figure of each run that has it."""
        found = [run[name] for run in self.runs if name in run]
        values = [_metrics(one, group).get(key) for one in found]
        return [value for value in values if value is not None]


def _metrics(found: Result, group: str | None) -> Mapping[str, float | None]:
    if group is None:
        return found.metrics
    return found.groups.get(group, {}).get("metrics", {})


def read(folder: Path, runs: Sequence[str] = ()) -> tuple[list[Row], list[Row]]:
    """Read the rows of a folder of folders NAME-SEED, and the baselines' in `baselines/`.

    Args:
      folder: where they are.
      runs: those to read, as NAME-SEED; all that have results if none is named.

    Raises:
      InputError: if there is no such folder, or a file in it is no result.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of results")
    for run in runs:
        if not _RUN.fullmatch(run) or not (folder / run).is_dir():
            names = sorted(path.name for path in folder.iterdir() if _RUN.fullmatch(path.name))
            there = ", ".join(names) or "none"
            raise InputError(f"--runs {run}: no such folder of results; {folder} has {there}")
    found: dict[str, dict[int, Mapping[str, Result]]] = {}
    for path in [folder / run for run in runs] or sorted(folder.iterdir()):
        if (match := _RUN.fullmatch(path.name)) and (runs or any(path.glob("*.json"))):
            found.setdefault(match["name"], {})[int(match["seed"])] = _by_name(path)
    if not found:
        raise InputError(f"{folder}: no results here (folders NAME-SEED of *.json are needed)")
    trained = [
        Row(_label(name), tuple(by_seed.values()), tuple(by_seed))
        for name, by_seed in found.items()
    ]
    beside = folder / systems.BASELINES
    baselines = [
        Row(_label(path.name), (_by_name(path),))
        for path in (sorted(beside.iterdir()) if beside.is_dir() else [])
        if any(path.glob("*.json"))
    ]
    return trained, baselines


def _label(name: str) -> str:
    return name.replace("_", " ")


def _by_name(folder: Path) -> dict[str, Result]:
    return {found.name: found for found in result.read_all(folder)}


def figure(values: Sequence[float], *, percent: bool = False) -> str:
    """Return the mean, and the standard deviation where there are several; a dash for nothing."""
    if not values:
        return NONE
    factor, decimals = (100, 1) if percent else (1, 3)
    # Added to 0, what rounds to -0 is 0.
    shown = f"{round(factor * statistics.fmean(values), decimals) + 0.0:.{decimals}f}"
    if len(values) > 1:
        shown += f" ± {factor * statistics.stdev(values):.{decimals}f}"
    return shown


def tables(trained: Sequence[Row], baselines: Sequence[Row]) -> str:
    """Return tables 1 to 6 as Markdown, with every row that has a figure."""
    own = [*trained, *_beside_tuned(trained)]
    return "\n\n".join(
        part
        for part in (
            _table_1([*trained, *baselines], references=trained),
            _table_2([*trained, *baselines]),
            _table_3([*own, *baselines], references=trained),
            _table_4([*own, *baselines]),
            _table_5(trained),
            _table_6([*trained, *baselines], references=trained),
        )
        if part
    )


def _beside_tuned(trained: Iterable[Row]) -> list[Row]:
    """Return the rows of the tuned matrices, as rows of their own under the untuned's names."""
    found = []
    for row in trained:
        runs = tuple(
            {
                name.removesuffix("-tuned"): one
                for name, one in run.items()
                if name.endswith("-tuned")
            }
            for run in row.runs
        )
        if any(runs):
            found.append(Row(f"{row.label}, tuned", runs))
    return found


def _markdown(title: str, headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a titled table without rows that are all dashes; nothing if none is left."""
    kept = [row for row in rows if any(cell != NONE for cell in row[1:])]
    if not kept:
        return ""
    aligned = ["left"] + ["right"] * (len(headers) - 1)
    body = tabulate(kept, headers, "pipe", disable_numparse=True, colalign=aligned)
    return f"**{title}**\n\n{body}"


def _names(rows: Iterable[Row], task: str) -> list[str]:
    found = [
        one.name for row in rows for run in row.runs for one in run.values() if one.task == task
    ]
    return list(dict.fromkeys(found))


def _reference(trained: Sequence[Row], name: str, column: str, key: str) -> list[float]:
    """Return the figure of what stands beside a result, such as the word overlap of its data."""
    for row in trained:
        for run in row.runs:
            if name in run and (value := run[name].baselines.get(column, {}).get(key)) is not None:
                return [value]
    return []


def _table_1(rows: Sequence[Row], *, references: Sequence[Row]) -> str:
    keys = list(paper.TABLE_1["DAN"])
    parts = []
    for name in _names(rows, "response_ranking"):
        body = [
            [row.label, *(figure(row.figures(name, key), percent=True) for key in keys)]
            for row in rows
        ]
        overlaps = [_reference(references, name, "word_overlap", key) for key in keys]
        body.append(
            [scores.SYSTEMS["word_overlap"], *(figure(of, percent=True) for of in overlaps)]
        )
        body += [
            [f"{label}, the paper", *(figure([of[key]], percent=True) for key in keys)]
            for label, of in paper.TABLE_1.items()
        ]
        title = "Table 1: the true response among 100, precision at N (%)"
        parts.append(_markdown(title, ["", *map(scores.label, keys)], body))
    return "\n\n".join(parts)


def _table_2(rows: Sequence[Row]) -> str:
    names = [f"snli-{split}" for split in SPLITS]
    body = [
        [row.label, *(figure(row.figures(name, "accuracy"), percent=True) for name in names)]
        for row in rows
    ]
    body += [
        [f"{label}, the paper", NONE, figure([value], percent=True)]
        for label, value in paper.TABLE_2.items()
    ]
    table = _markdown("Table 2: inference, accuracy (%)", ["", *SPLITS], body)
    own = [row.label for row in rows if any(_labels_itself(row, name) for name in names)]
    if not table or not own:
        return table
    return (
        f"{table}\n\nLabels of {', '.join(own)} are the module's own; those of the other rows that "
        "were scored here are told by a classifier that is trained on their embeddings as they are."
    )


def _labels_itself(row: Row, name: str) -> bool:
    return any(name in run and snli.OWN_LABELS in run[name].notes for run in row.runs)


def _table_3(rows: Sequence[Row], *, references: Sequence[Row]) -> str:
    body = [
        [row.label, *(figure(row.figures(f"sts-{split}", "pearson")) for split in SPLITS)]
        for row in rows
    ]
    overlap = [_reference(references, f"sts-{s}", "word_overlap", "pearson") for s in SPLITS]
    body.append([scores.SYSTEMS["word_overlap"], *map(figure, overlap)])
    body += [
        [f"{label}, the paper", *(figure([of[split]]) for split in SPLITS)]
        for label, of in paper.TABLE_3.items()
    ]
    return _markdown("Table 3: Pearson's r on the STS Benchmark", ["", *SPLITS], body)


def _table_4(rows: Sequence[Row]) -> str:
    headers = [f"{split} {genre}" for split in SPLITS for genre in paper.GENRES]
    body = []
    for row in rows:
        cells = [
            row.figures(
                f"sts-{split}", "pearson", group=None if genre == "all" else f"main-{genre}"
            )
            for split in SPLITS
            for genre in paper.GENRES
        ]
        body.append([row.label, *map(figure, cells)])
    body += [
        [f"{label}, the paper", *(figure([r]) for split in SPLITS for r in of[split])]
        for label, of in paper.TABLE_4.items()
    ]
    return _markdown("Table 4: Pearson's r by genre", ["", *headers], body)


def _table_5(rows: Sequence[Row]) -> str:
    """Return the scores of the paper's own examples, which stand in STS-B's test set."""
    found = [[_by_texts(run) for run in row.runs] for row in rows]
    known = [(row, by_texts) for row, by_texts in zip(rows, found, strict=True) if any(by_texts)]
    body = []
    for kind, papers, gold, *texts in paper.TABLE_5:
        pair = tuple(map(overlap.normalize, texts))
        scored = [[one[pair] for one in by_texts if pair in one] for _, by_texts in known]
        if any(scored):
            shown = [f"{kind}: {texts[0]} / {texts[1]}", f"{gold:.1f}", f"{papers:.2f}"]
            body.append([*shown, *(figure(values) for values in scored)])
    title = "Table 5: the paper's examples, minus the angle between them"
    headers = ["", "gold score", "the paper", *(row.label for row, _ in known)]
    return _markdown(title, headers, body)


def _by_texts(run: Mapping[str, Result]) -> dict[tuple[str, ...], float]:
    """Return the untuned scores of STS-B's test pairs by their normalized texts."""
    items = run["sts-test"].items if "sts-test" in run else []
    return {
        (overlap.normalize(item["sentence1"]), overlap.normalize(item["sentence2"])): item["score"]
        for item in items
    }


def _table_6(rows: Sequence[Row], *, references: Sequence[Row]) -> str:
    names = _names(rows, "cqa")
    body = [
        [row.label, *(figure(_of_module(row, name), percent=True) for name in names)]
        for row in rows
    ]
    for column in ("search_engine", "ceiling"):
        found = [
            _reference(references, name, column, "map") or _of_engine(references, name, column)
            for name in names
        ]
        body.append([scores.SYSTEMS[column], *(figure(one, percent=True) for one in found)])
    papers = [
        name
        for name in names
        if any(
            run[name].n == paper.CQA_QUERIES.get(name)
            for row in rows
            for run in row.runs
            if name in run
        )
    ]
    body += [
        [
            f"{label}, the paper",
            *(figure([of] if name in papers else [], percent=True) for name in names),
        ]
        for label, of in paper.TABLE_6.items()
    ]
    title = "Table 6: community question answering, mean average precision (%)"
    return _markdown(title, ["", *(name.removeprefix("cqa-") for name in names)], body)


def _of_module(row: Row, name: str) -> list[float]:
    """Return the figures of a module: a file without texts scores the search engine alone."""
    runs = tuple(
        {key: one for key, one in run.items() if one.system == "module"} for run in row.runs
    )
    return Row(row.label, runs).figures(name, "map")


def _of_engine(rows: Iterable[Row], name: str, column: str) -> list[float]:
    """Return what a file without texts says of its own system."""
    for row in rows:
        for run in row.runs:
            if name in run and run[name].system == column:
                value = run[name].metrics["map"]
                return [] if value is None else [value]
    return []
