"""Markdown pages: RESULTS.md, with the paper's tables and every row trained here; mistakes.md.

RESULTS.md has numbers only: the texts behind them are other people's.
"""

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from common.errors import InputError
from common.files import write_text
from evaluation.report import diagnostics, growth, nli_shares, opening, paper_tables, pictures
from evaluation.report.cells import BASELINE, OURS, Table, markdown
from evaluation.report.data_dir import with_data_as_dir
from evaluation.report.systems import BASELINES, System, left_out, read_runs, row_label
from evaluation.report.systems import shares as shares_of
from evaluation.results import store
from evaluation.results.result import Result

MARKER = "COMPLETED"
TEXTS = ("protocol", "ablations", "learned")
SHOWN_CHARACTERS = 200


def training_pairs(folders: Sequence[Path]) -> list[int]:
    """Return how many training pairs the files of one number hold in all folders together.

    Raises:
      InputError: if a folder has no manifest, or one without training files, or another number of
        files than the first.
    """
    found = [_pairs_of_files(folder) for folder in folders]
    for folder, of_files in zip(folders, found, strict=True):
        if len(of_files) != len(found[0]):
            raise InputError(
                f"--pairs: {folder} has {len(of_files)} files train-*, {folders[0]} has "
                f"{len(found[0])}; the same number in each is accepted"
            )
    return [sum(of_all) for of_all in zip(*found, strict=True)]


def _pairs_of_files(folder: Path) -> list[int]:
    """Return how many training pairs each file of the pipeline holds, by its manifest."""
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


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What the page of results is made from.

    Of the folders, `pairs` hold the training pairs, as the pipeline wrote them, `contamination`
    and `mistakes` what these commands wrote, and `models` the rows' models, for `chosen.json`. The
    Markdown files are shown as they are: `protocol` after the first table, `ablations` and
    `learned` at the end. `outside` says by a row's name what it has from outside the training data.
    `about` is a line on what made the results, and on what machine; commands show the folder
    `data_dir` as DIR.
    """

    pairs: Sequence[Path]
    models: Path | None = None
    contamination: Path | None = None
    mistakes: Path | None = None
    protocol: Path | None = None
    ablations: Path | None = None
    learned: Path | None = None
    outside: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    data_dir: str = ""


def write(results: Path, output: Path, contents: Contents, *, runs: Sequence[str] = ()) -> None:
    """Write the page, and its figures beside it as `<name>-growth.svg` and so on.

    `results` and `runs` are those of `systems.read_runs`.

    Raises:
      InputError: if a folder is not what it must be.
    """
    if output.suffix in (".json", ".svg"):
        raise InputError(f"--output is {output}; the name of a Markdown file is accepted")
    read = read_runs(results, runs)
    systems, shares = shares_of(read, growth.NAME)
    systems, nli = shares_of(systems, nli_shares.NAME)
    outside = _outside(systems, contents.outside)
    of_files = training_pairs(contents.pairs)
    pictures_at = partial(_beside, output)
    texts = {name: _text_of(name, getattr(contents, name)) for name in TEXTS}
    overlaps = _of_task("contamination", contents.contamination)
    wrong = _of_task("mistakes", contents.mistakes)
    parts = ["# Results on real data", *opening.markdown(systems, outside)]
    parts += [texts["protocol"], _head(contents.about, results, runs, of_files), _seeds(systems)]
    parts += [" ".join(left_out(read))]
    parts += ["## The paper's tables", *map(markdown, _paper_tables(systems))]
    parts += _figure_7(systems, outside, pictures_at("figure7"))
    parts += _figure_8(nli, pictures_at("figure8"))
    if shares:
        rates = growth.chosen_rates(contents.models, shares, of_files) if contents.models else {}
        parts += _growth(shares, of_files, rates, pictures_at("growth"))
    parts += _checks(overlaps, wrong)
    parts += ["## Commands", _commands(systems), texts["ablations"], texts["learned"]]
    page = "\n\n".join(part for part in parts if part) + "\n"
    write_text(output, with_data_as_dir(contents.data_dir, page))


def _beside(output: Path, name: str) -> Path:
    return output.with_name(f"{output.stem}-{name}.svg")


def _outside(systems: Sequence[System], given: Mapping[str, str]) -> dict[str, str]:
    """Return what rows have from outside by their labels.

    Raises:
      InputError: if there is no such row.
    """
    found = {row_label(name): what for name, what in given.items()}
    trained = [system.label for system in systems if system.kind == OURS]
    if unknown := found.keys() - set(trained):
        raise InputError(f"--outside: no row {min(unknown)}; there are {', '.join(trained)}")
    return found


def _paper_tables(systems: Sequence[System]) -> list[Table]:
    made = [opening.differences(systems), *paper_tables.tables(systems)]
    made.append(paper_tables.table_5(systems))
    return [table for table in made if table is not None]


def _figure_7(systems: Sequence[System], outside: Mapping[str, str], picture: Path) -> list[str]:
    """Draw the scores of the first of the best rows on STS-B test; return what the page says."""
    for system in opening.best_rows(systems, outside).values():
        for found in system.named("sts-test")[:1]:
            if found.items:
                write_text(picture, pictures.scatter(found))
                text = f"Figure 7: `{system.label}` on STS-B test, {found.n:,} pairs."
                return [f"**{text}**", f"![Scores against human judgement]({picture.name})"]
    return []


def _figure_8(shares: dict[int, System], picture: Path) -> list[str]:
    """Draw r by the share of NLI pairs; return what the page says of it."""
    found = nli_shares.points(shares)
    if not found:
        return []
    write_text(picture, pictures.nli_share(found))
    shown = f"![Pearson's r by share of the NLI pairs]({picture.name})"
    return [f"**Figure 8**\n\n{shown}", markdown(nli_shares.table(found))]


def _growth(
    shares: dict[int, System], of_files: Sequence[int], rates: Mapping[int, float], picture: Path
) -> list[str]:
    """Write the figure of growth; return what the page says of it."""
    found = growth.points(shares, of_files=of_files)
    write_text(picture, growth.picture(found))
    shown = f"![Scores by the number of training pairs]({picture.name})"
    times = growth.PAPERS_PAIRS / sum(of_files)
    note = (
        "A dotted line is drawn where the interval of the slope excludes 0, and it ends with the "
        f"data: the paper's 600 million pairs are {times:,.0f} times as many, and these data "
        "do not show how scores grow that far. One seed a point: intervals are over items alone."
    )
    return ["## Growth", markdown(growth.table(found, rates)), shown, note]


def _checks(overlaps: Sequence[Result], wrong: Sequence[Result]) -> list[str]:
    """Return the tables of `contamination` and of `mistakes`, with their commands."""
    parts = []
    if (overlap_table := diagnostics.contamination(overlaps)) is not None:
        parts += ["## Evaluation items in the training data", markdown(overlap_table)]
        parts.append(f"    {overlaps[0].command}")
    if wrong:
        parts.append("## Mistakes")
    for found in wrong:
        parts += [markdown(diagnostics.mistakes(found)), f"    {found.command}"]
    return parts


def _head(about: str, results: Path, runs: Sequence[str], of_files: Sequence[int]) -> str:
    folders = [
        *([results / run for run in runs] or results.glob("*")),
        *results.glob(f"{BASELINES}/*"),
    ]
    said = ", ".join(filter(None, (about, _when(folders))))
    return f"{said}. {sum(of_files):,} training pairs."


def _text_of(name: str, path: Path | None) -> str:
    try:
        text = path.read_text(encoding="utf-8").strip() if path is not None else ""
    except UnicodeDecodeError as error:
        raise InputError(f"--{name} {path}: not UTF-8 text ({error.reason})") from error
    # The headings of a page become those of a section.
    return re.sub(r"^#", "##", text, flags=re.MULTILINE) if text.startswith("# ") else text


def _when(folders: Sequence[Path]) -> str:
    """Return the day on which the results were written, or the first and the last of them."""
    times = [path.stat().st_mtime for folder in folders for path in folder.glob("*.json")]
    days = [f"{datetime.date.fromtimestamp(time):%-d %B %Y}" for time in (min(times), max(times))]
    return " to ".join(dict.fromkeys(days))


def _of_task(task: str, folder: Path | None) -> list[Result]:
    """Return the results of a folder, all of one task; none without a folder."""
    found = store.read_results(folder) if folder is not None else []
    if other := next((one for one in found if one.task != task), None):
        raise InputError(
            f"{folder}: has {other.name}, of {other.task}; accepted: what {task} writes"
        )
    return found


def _seeds(systems: Sequence[System]) -> str:
    trained = [system for system in systems if system.kind == OURS]
    seeds = (f"{system.label} {', '.join(map(str, system.seeds))}" for system in trained)
    return f"Seeds: {'; '.join(seeds)}."


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


def mistakes(results: Sequence[Result]) -> str:
    """Return the errors by kind of text, and the worst items with their texts."""
    parts = []
    for found in results:
        parts += [f"# {found.name}", markdown(diagnostics.mistakes(found))]
        for item in found.items:
            shown = (
                f"- {key}: {_quoted(value) if isinstance(value, str) else round(value, 2)}"
                for key, value in item.items()
            )
            parts.append("\n".join(shown))
    return "\n\n".join(parts) + "\n"


def _quoted(text: str) -> str:
    """Return the beginning of other people's text, with nothing that Markdown or HTML acts on."""
    text = " ".join(text.split())
    short = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
    return re.sub(r"([\\`*_\[\]<>&|~])", r"\\\1", short)
