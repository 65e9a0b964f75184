"""Markdown pages: RESULTS.md, with the paper's tables and every row trained here; mistakes.md.

RESULTS.md has numbers only: the texts behind them are other people's.
"""

import datetime
import json
from collections.abc import Sequence
from pathlib import Path

from evaluation.data import overlap
from evaluation.data.files import with_data_as_dir, write_whole
from evaluation.errors import InputError
from evaluation.report import growth, paper, tables
from evaluation.report.tables import BASELINE, OURS, Cell, Row, System, Table
from evaluation.results import store
from evaluation.results.result import Result

MARKER = "COMPLETED"
SHOWN_CHARACTERS = 200


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

    `results` and `runs` are those of `tables.read_runs`, `pairs` is a folder of training pairs;
    `contamination` and `mistakes` are folders that these commands have written. `learned`, a
    Markdown file, goes to the end. `about` is a line on what made the results, and on what machine;
    `data_dir` is a folder that the commands on the page show as DIR.

    Raises:
      InputError: if a folder is not what it must be.
    """
    if output.suffix in (".json", ".svg"):
        raise InputError(f"--output is {output}; the name of a Markdown file is accepted")
    systems, shares = growth.split(tables.read_runs(results, runs))
    of_files = training_pairs(pairs)
    end = _text_of(learned) if learned is not None else ""
    overlaps = _of_task("contamination", contamination) if contamination is not None else []
    found_wrong = _of_task("mistakes", mistakes) if mistakes is not None else []
    head = ", ".join(filter(None, (about, _when(results)))) + f". {sum(of_files):,} training pairs."
    parts = ["# Results on real data", head, _how_to_read(systems)]
    made = [*tables.tables(systems), _table_5(systems)]
    parts += [tables.markdown(table) for table in made if table is not None]
    parts.append(_commands(systems))
    if shares:
        parts += _growth(shares, of_files, output.with_name(f"{output.stem}-growth.svg"))
    if (overlap_table := tables.contamination(overlaps)) is not None:
        parts += ["## Evaluation items in the training data", tables.markdown(overlap_table)]
        parts.append(f"    {overlaps[0].command}")
    if found_wrong:
        parts.append("## Mistakes")
    for found in found_wrong:
        parts += [tables.markdown(tables.mistakes(found)), f"    {found.command}"]
    if end:
        parts.append(end)
    write_whole(output, with_data_as_dir(data_dir, "\n\n".join(parts) + "\n"))


def _text_of(learned: Path) -> str:
    try:
        return learned.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise InputError(f"--learned {learned}: not UTF-8 text ({error.reason})") from error


def _growth(shares: dict[int, System], of_files: Sequence[int], picture: Path) -> list[str]:
    """Write the figure of growth; return what the page says of it."""
    found = growth.points(shares, of_files=of_files)
    write_whole(picture, growth.picture(found))
    shown = f"![Scores by the number of training pairs]({picture.name})"
    parts = ["## Growth", tables.markdown(growth.table(found)), shown]
    if growth.has_lines(found):
        times = growth.PAPERS_PAIRS / sum(of_files)
        parts.append(
            f"The dotted lines go through the last {growth.LINE_THROUGH} points, log-odds by the "
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
    found = store.read_results(folder)
    if other := next((one for one in found if one.task != task), None):
        raise InputError(
            f"{folder}: has {other.name}, of {other.task}; accepted is what {task} writes"
        )
    return found


def _how_to_read(systems: Sequence[System]) -> str:
    trained = [system for system in systems if system.kind == OURS]
    seeds = (f"{system.label} {', '.join(map(str, system.seeds))}" for system in trained)
    said = f"Seeds: {'; '.join(seeds)}."
    if any(len(system.seeds) > 1 for system in trained):
        said += " Where there are several, the mean ± the standard deviation over them."
    return said


def _commands(systems: Sequence[System]) -> str:
    """Return the commands behind the row with the most results and behind a baseline."""
    found = [
        one.command
        for kind in (OURS, BASELINE)
        for system in sorted(
            (system for system in systems if system.kind == kind),
            key=lambda system: -len(system.runs[0]),
        )[:1]
        for one in system.runs[0].values()
    ]
    lines = "\n".join(f"    {command}" for command in dict.fromkeys(found))
    return (
        f"The commands of one row and of the baselines; other rows name other folders:\n\n{lines}"
    )


def _table_5(systems: Sequence[System]) -> Table | None:
    """Return the scores of the paper's own examples, which are in STS-B's test set."""
    scores = {system.label: _by_texts(system.named("sts-test")) for system in systems}
    known = {name: of for name, of in scores.items() if of}
    rows = []
    for kind, papers, gold, *texts in paper.TABLE_5:
        found = [of.get(tuple(map(overlap.normalize, texts)), []) for of in known.values()]
        if any(found):
            cells = [Cell(gold, decimals=1), Cell(papers, decimals=2), *map(tables.mean, found)]
            rows.append(Row(f"{kind}: {texts[0]} / {texts[1]}", cells, OURS))
    if not rows:
        return None
    title = "Table 5: the paper's examples, scored by -arccos(cosine)"
    return Table(title, ["gold score", "the paper", *known], rows)


def _by_texts(results: Sequence[Result]) -> dict[tuple[str, ...], list[float]]:
    """Return the score of each run by the pair's normalized texts."""
    found: dict[tuple[str, ...], list[float]] = {}
    for result in results:
        for item in result.items:
            texts = tuple(overlap.normalize(item[key]) for key in ("sentence1", "sentence2"))
            found.setdefault(texts, []).append(item["score"])
    return found


def mistakes(results: Sequence[Result]) -> str:
    """Return the errors by kind of text, and the worst items with their texts."""
    parts = []
    for found in results:
        parts += [f"# {found.name}", tables.markdown(tables.mistakes(found))]
        for item in found.items:
            shown = (
                f"- {key}: {_short(value) if isinstance(value, str) else round(value, 2)}"
                for key, value in item.items()
            )
            parts.append("\n".join(shown))
    return "\n\n".join(parts) + "\n"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
