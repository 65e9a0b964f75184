"""What each choice of the recipe does to the scores, on pairs of held-out threads and STS-B dev.

    python -m benchmarks.ablations --pairs runs/reproduce/pairs --nli runs/reproduce/nli \
        --sts_dev stsb/sts-dev.csv --work_dir runs/ablations --output benchmarks/ablations.md

Trains `laptop_dan` with words of 500 numbers by `python -m model`, once a row: with three seeds as
it stands, then with one choice changed. From the first of these on, `laptop_dan_nli` likewise.
Validates once, at the end, on `validation-*`, STS-B dev and `nli/dev`; no test set is read. What
seeds differ by, no choice shows. Rows that are done stay done, in `--work_dir`; with `--at_once N`
so many train beside each other, each on cores of its own.
"""

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import yaml
from tabulate import tabulate

from benchmarks import machine, runs
from benchmarks.options import at_least, file_to_write
from benchmarks.recipes import (
    AS_IT_STANDS,
    BASE,
    BEGUN,
    INFERENCE,
    NLI_FOLDERS,
    NLI_WAYS,
    PASSES,
    SELECTION,
    WARMUP,
    WAYS,
    Recipe,
)
from evaluation.data.files import with_data_as_dir

DONE = "ablation.json"
"""In the folder of a row that is done: what was asked, and what was found."""

LEGEND = (
    "P@N of 100 is that of validation pairs, threads of the training months, so it is not that of "
    "the month which RESULTS.md ranks. In brackets: the change from the mean of the three seeds, "
    "one run each; what is less than seeds differ by tells nothing. Accuracy is that of whole "
    "batches of 100 of the dev pairs."
)
Data = Callable[[dict[str, object]], dict[str, object]]
"""A row's parameters -> those that say what it trains on, and how long."""


def selection_data(pairs: str, sts_dev: str, count: int) -> Data:
    """What a way of response selection trains on: so many pairs, whatever its batches."""

    def data(way: dict[str, object]) -> dict[str, object]:
        preset = 512
        batch = int(str(way.get("task.train_data.global_batch_size", preset)))
        many = int(count * float(str(way.get(PASSES, 1)))) * preset // batch
        _, found = runs.brought_to(SELECTION.preset, many, folder=pairs, sts_dev=sts_dev)
        del found[WARMUP]  # as in `make reproduce`, the preset's
        return found

    return data


def inference_data(pairs: str, sts_dev: str, nli: str, begun: Path) -> Data:
    """What a way of both tasks trains on, from a model of response selection."""

    def data(way: dict[str, object]) -> dict[str, object]:
        folders = str(way.get(NLI_FOLDERS, "train again")).split()
        trained_on = ",".join(f"{nli}/{name}/nli-*" for name in folders)
        return {
            BEGUN: begun,
            "task.train_data.input_path": f"{pairs}/train-*",
            "task.validation_data.input_path": f"{pairs}/validation-*",
            "task.nli.train_data.input_path": f"'{trained_on}'",  # quoted, for the commas
            "task.nli.validation_data.input_path": f"{nli}/dev/nli-*",
            "task.sts_dev": sts_dev,
            "trainer.validation_interval": 2400,
        }

    return data


def override_of(way: dict[str, object], data: Data) -> dict[str, object]:
    """All that a row overrides of its preset."""
    parameters = {key: value for key, value in way.items() if "." in key}
    return data(way) | BASE | parameters


def train(
    recipe: Recipe, name: str, folder: Path, data: Data, *, cores: str | None
) -> dict[str, float]:
    """Trains one row, or reads what it came to earlier: the figures of its validation."""
    done = folder / DONE
    override = override_of(recipe.ways[name], data)
    preset = yaml.safe_load((runs.CONFIGS / f"{recipe.preset}.yaml").read_text())
    asked = {"override": {key: str(value) for key, value in override.items()}, "preset": preset}
    if begun := override.get(BEGUN):
        asked["begun"] = (Path(str(begun)) / DONE).read_text()
    if done.exists() and (stored := json.loads(done.read_text()))["asked"] == asked:
        return stored["found"]
    shutil.rmtree(folder, ignore_errors=True)
    experiment = {"experiment": recipe.experiment, "mode": "train_and_eval"}
    runs.wait(runs.start(folder, recipe.preset, override, cores=cores, **experiment))
    last = runs.last(folder / "validation")
    found = {key: last[key] for key in recipe.figures}
    if name != AS_IT_STANDS[0]:  # inference begins with that one's
        for path in (*folder.glob("ckpt*"), *folder.glob("best/ckpt*")):
            path.unlink()
    machine.write_whole(done, json.dumps({"asked": asked, "found": found}))
    return found


def table(recipe: Recipe, found: dict[str, dict[str, float]]) -> str:
    """The rows as Markdown, each with what it changes of the mean of the seeds."""
    known = [found[name] for name in AS_IT_STANDS if name in found]
    body = []
    for name, row in found.items():
        cells = []
        for key in recipe.figures:
            change = row[key] - sum(one[key] for one in known) / len(known) if known else None
            cells.append(f"{row[key]:.3f}" + (f" ({change:+.3f})" if change is not None else ""))
        body.append([name, *cells])
    aligned = ["left"] + ["right"] * len(recipe.figures)
    headers = ["", *recipe.figures.values()]
    return tabulate(body, headers, "pipe", disable_numparse=True, colalign=aligned)


def page(tables: dict[str, str], arguments: Sequence[str], *, about: str, data_dir: str) -> str:
    """The tables by their titles under the command that made them, in Markdown.

    `data_dir` stands as `DIR` on it.
    """
    command = shlex.join(["python", "-m", "benchmarks.ablations", *arguments])
    parts = ["# Ablations", about, f"    {command}", LEGEND]
    for title, made in tables.items():
        parts += [f"## {title}", made]
    return with_data_as_dir(data_dir, "\n\n".join(parts) + "\n")


def train_all(
    recipe: Recipe, names: Sequence[str], work_dir: Path, data: Data, *, at_once: int
) -> dict[str, dict[str, float]]:
    """Trains rows beside each other, each on cores of its own."""
    free: SimpleQueue[str | None] = SimpleQueue()
    for group in machine.core_groups(at_once):
        free.put(group)

    def one(name: str) -> dict[str, float]:
        cores = free.get()
        try:
            found = train(recipe, name, folder_of(recipe, name, work_dir), data, cores=cores)
            print(f"{recipe.preset}, {name}: {found}", flush=True)
            return found
        finally:
            free.put(cores)

    with ThreadPoolExecutor(at_once) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))


def folder_of(recipe: Recipe, name: str, work_dir: Path) -> Path:
    """Where a row trains."""
    return work_dir / recipe.preset / name.replace(" ", "_").replace(",", "")


def recipes(given: argparse.Namespace, begun: Path) -> list[tuple[Recipe, Data]]:
    """What is looked at, each with its data; inference begins with the model in `begun`."""
    found = [(SELECTION, selection_data(given.pairs, given.sts_dev, given.train_pairs))]
    if given.nli:
        data = inference_data(given.pairs, given.sts_dev, given.nli, begun)
        found.append((INFERENCE, data))
    return found


def rows_of(recipe: Recipe, chosen: Sequence[str] | None) -> list[str]:
    """The rows of a recipe that were asked for, the first among them."""
    return [name for name in recipe.ways if not chosen or name in chosen or name == AS_IT_STANDS[0]]


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    root = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    root.add_argument("--pairs", required=True, metavar="DIR", help="with train-*, validation-*")
    root.add_argument("--sts_dev", required=True, metavar="FILE", help="STS Benchmark's")
    help_nli = "with train/, again/, all/ and dev/; without, no inference"
    root.add_argument("--nli", metavar="DIR", help=help_nli)
    root.add_argument(
        "--train_pairs", type=at_least(1), default=548_000, metavar="N", help="of each row"
    )
    root.add_argument(
        "--rows", nargs="+", choices=[*WAYS, *NLI_WAYS], metavar="NAME", help="beside the first"
    )
    root.add_argument("--work_dir", type=Path, default=Path("runs/ablations"), metavar="DIR")
    root.add_argument(
        "--at_once", type=at_least(1), default=1, metavar="N", help="rows, in processes"
    )
    root.add_argument("--output", type=file_to_write, metavar="FILE.md")
    root.add_argument("--data_dir", default="", help="stands as DIR on the page")
    return root


def main() -> None:
    """Trains what is not done yet, prints and writes the tables."""
    given = parser().parse_args()
    runs.end_with_what_it_started()
    begun = folder_of(SELECTION, AS_IT_STANDS[0], given.work_dir).absolute()
    titles = (
        f"Response selection: {given.train_pairs:,} pairs a row",
        "Both tasks, from the first of these models",
    )
    tables = {}
    asked = recipes(given, begun)
    for recipe, data in asked:
        for name in rows_of(recipe, given.rows):
            override_of(recipe.ways[name], data)  # refuses too few pairs
    for title, (recipe, data) in zip(titles, asked, strict=False):
        names = rows_of(recipe, given.rows)
        found = train_all(recipe, names, given.work_dir, data, at_once=given.at_once)
        tables[title] = table(recipe, found)
        print(tables[title], flush=True)
    if given.output:
        text = page(tables, sys.argv[1:], about=machine.about(), data_dir=given.data_dir)
        machine.write_whole(given.output, text)


if __name__ == "__main__":
    main()
