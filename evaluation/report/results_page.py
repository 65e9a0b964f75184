"""RESULTS.md: the paper's tables with every row that was trained here, growth, mistakes.

Figures only: the texts behind them are other people's.
"""

import datetime
import json
from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from evaluation.analysis import growth
from evaluation.analysis.contamination import GROUPS
from evaluation.data.files import with_data_as_dir, write_whole
from evaluation.errors import InputError
from evaluation.report import rows, scores
from evaluation.report.rows import Row
from evaluation.results import result
from evaluation.results.result import Result

MARKER = "COMPLETED"
# The first of them that a result has is what it is known by.
_HEADLINES = ("p_at_1", "map", "pearson", "accuracy")


def training_pairs(folder: Path) -> list[int]:
    """Return how many training pairs each file of the pipeline holds, by its manifest.

    Raises:
      InputError: if it has no manifest, or one without training files.
    """
    path = folder / MARKER
    try:
        outputs = json.loads(path.read_text(encoding="utf-8"))["outputs"]
        found = [of["records"] for name, of in sorted(outputs.items()) if name.startswith("train-")]
        total = sum(found)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: no manifest of the pipeline ({error})") from error
    if not total > 0:
        raise InputError(f"{path}: names no files train-* with records")
    return found


def write(
    results: Path,
    output: Path,
    *,
    runs: Sequence[str] = (),
    pairs: Path,
    contamination: Path | None,
    mistakes: Path | None,
    learned: Path | None,
    about: str,
    data_dir: str = "",
) -> None:
    """Write the page, and the figure of growth beside it as `<name>-growth.svg`.

    Args:
      results: folders NAME-SEED of results; see `rows.read`.
      output: the page.
      runs: those of the results to show, as NAME-SEED; all if none is named.
      pairs: the folder of training pairs.
      contamination: a folder that `contamination` has written.
      mistakes: a folder that `mistakes` has written.
      learned: a Markdown file, put at the end.
      about: a line: what made these results, and on what machine; the page says when.
      data_dir: stands as `DIR` in the commands on the page.

    Raises:
      InputError: if a folder is not what it must be.
    """
    if output.suffix in (".json", ".svg"):
        raise InputError(f"--output is {output}; the name of a Markdown file is accepted")
    trained, baselines = rows.read(results, runs)
    trained, shares = growth.split(trained)
    of_files = training_pairs(pairs)
    end = _text_of(learned) if learned is not None else ""
    overlaps = _overlaps(contamination) if contamination is not None else ""
    found_wrong = _of_task("mistakes", mistakes) if mistakes is not None else []
    head = ", ".join(filter(None, (about, _when(results)))) + f". {sum(of_files):,} training pairs."
    parts = ["# Results on real data", head, _how_to_read(trained)]
    parts += [rows.tables(trained, baselines), _commands(trained, baselines)]
    if shares:
        parts += _growth(shares, of_files, output.with_name(f"{output.stem}-growth.svg"))
    if overlaps:
        parts += ["## What of the evaluation sets was trained on", overlaps]
    if found_wrong:
        parts += ["## Where it is wrong", *map(_by_kind, found_wrong)]
    if end:
        parts.append(end)
    write_whole(output, with_data_as_dir(data_dir, "\n\n".join(parts) + "\n"))


def _text_of(learned: Path) -> str:
    try:
        return learned.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise InputError(f"--learned {learned}: not UTF-8 text ({error.reason})") from error


def _growth(shares: dict[int, Row], of_files: Sequence[int], picture: Path) -> list[str]:
    """Write the figure of growth; return what the page says of it."""
    found = growth.points(shares, of_files=of_files)
    write_whole(picture, growth.document(found))
    shown = f"![Scores by the number of training pairs]({picture.name})"
    parts = ["## Growth", growth.table(found), shown]
    if growth.has_lines(found):
        times = growth.PAPERS_PAIRS / sum(of_files)
        parts.append(
            f"The lines go through the last {growth.LINE_THROUGH} points, log-odds by the "
            f"logarithm of the pairs: an extrapolation to {times:,.0f} times the pairs, not a "
            "measurement."
        )
    return parts


def _when(results: Path) -> str:
    """Return the day on which the results were written, or the first and the last of them."""
    times = [path.stat().st_mtime for path in results.glob("*/*.json")]
    days = [f"{datetime.date.fromtimestamp(time):%-d %B %Y}" for time in (min(times), max(times))]
    return " to ".join(dict.fromkeys(days))


def _of_task(task: str, folder: Path) -> list[Result]:
    """Return the results of a folder, all of one task."""
    found = result.read_all(folder)
    if other := next((one for one in found if one.task != task), None):
        raise InputError(
            f"{folder}: has {other.name}, of {other.task}; accepted is what {task} writes"
        )
    return found


def _how_to_read(trained: Sequence[Row]) -> str:
    seeds = (f"{row.label} {', '.join(map(str, row.seeds))}" for row in trained)
    said = f"Seeds: {'; '.join(seeds)}."
    if any(len(row.seeds) > 1 for row in trained):
        said += " Where there are several, the mean ± the standard deviation over them."
    return said


def _commands(trained: Sequence[Row], baselines: Sequence[Row]) -> str:
    """Return the commands behind the row with the most results and behind a baseline."""
    found = [
        one.command
        for group in (trained, baselines)
        for row in sorted(group, key=lambda row: -len(row.runs[0]))[:1]
        for one in row.runs[0].values()
    ]
    lines = "\n".join(f"    {command}" for command in dict.fromkeys(found))
    return (
        f"The commands of one row and of the baselines; other rows name other folders:\n\n{lines}"
    )


def _overlaps(folder: Path) -> str:
    """Return a table: of each evaluation set, how many items stand in the training data."""
    found = _of_task("contamination", folder)
    body = []
    for one in found:
        key = next((key for key in _HEADLINES if key in one.metrics), None)
        figures = [
            one.metrics,
            *(one.groups.get(g, {}).get("metrics", {}) for g in GROUPS.values()),
        ]
        body.append(
            [
                one.name.removeprefix("contamination-"),
                f"{one.n:,}",
                *(f"{one.counts[key]:,}" for key in ("pairs_in_training", "texts_in_training")),
                scores.label(key) if key else rows.NONE,
                *(rows.figure([of[key]] if of.get(key) is not None else []) for of in figures),
            ]
        )
    headers = ["", "items", "trained on as pairs", "of which a text was trained on", "figure"]
    headers += ["of all", *GROUPS.values()]
    aligned = ["left"] + ["right"] * 3 + ["left"] + ["right"] * 3
    made = tabulate(body, headers, "pipe", disable_numparse=True, colalign=aligned)
    return f"{made}\n\n    {found[0].command}"


def _by_kind(found: Result) -> str:
    names = list(found.metrics)
    body = [
        [kind, f"{group['n']:,}", *(rows.figure(_one(group["metrics"], name)) for name in names)]
        for kind, group in (
            {"all": {"n": found.n, "metrics": found.metrics}} | found.groups
        ).items()
    ]
    aligned = ["left"] + ["right"] * (len(names) + 1)
    made = tabulate(
        body,
        [found.name.removeprefix("mistakes-"), "n", *map(scores.label, names)],
        "pipe",
        disable_numparse=True,
        colalign=aligned,
    )
    return f"{made}\n\n    {found.command}"


def _one(metrics: dict, name: str) -> list[float]:
    return [] if metrics[name] is None else [metrics[name]]
