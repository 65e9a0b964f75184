"""`contamination`: overlaps of evaluation sets with training data, and scores without them."""

import argparse
import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path

from evaluation.cli import options
from evaluation.errors import InputError
from evaluation.results.result import TASKS


def add(commands) -> None:
    """Add the command `contamination`."""
    summary = "overlaps between training records and evaluation sets, and scores without them"
    parser = options.command(commands, "contamination", run, summary=summary)
    parser.add_argument(
        "--training",
        type=Path,
        action="extend",
        nargs="+",
        required=True,
        help="files or folders: .tfrecord pairs, SNLI's .jsonl or .txt, STS Benchmark's .csv",
    )
    for task in TASKS:
        parser.add_argument(
            f"--{task}",
            type=Path,
            action="extend",
            nargs="+",
            default=[],
            help=f"data as of the command {task}",
        )
    parser.add_argument(
        "--results", type=Path, help="results on these data, to score without the overlaps"
    )
    options.folder_output(parser, help="folder for the result files")
    options.seeded(parser)


def run(arguments: argparse.Namespace, *, command: str) -> None:
    """Read the training data once; write and print the overlaps of each evaluation set."""
    from tqdm import tqdm

    from evaluation.analysis import contamination
    from evaluation.data import overlap, training_texts
    from evaluation.results import store
    from evaluation.results.result import stamped
    from evaluation.results.text import printed

    started = time.perf_counter()
    sets = [
        found
        for task in TASKS
        for path in getattr(arguments, task)
        for found in contamination.find(task, path, seed=arguments.seed)
    ]
    if not sets:
        raise InputError(f"no evaluation sets: give some of --{', --'.join(TASKS)}")
    names = [each.source.name for each in sets]
    if again := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{again}: two evaluation sets of this name; give one of them")
    scored = _scored(arguments.results, sets, seed=arguments.seed)
    files = [file for path in arguments.training for file in training_texts.find(path)]
    count = 0

    def records() -> Iterator:
        nonlocal count
        for file in files:
            for record in training_texts.read(file):
                count += 1
                yield record

    shown = tqdm(records(), desc="training records", unit="", leave=False)
    overlaps = overlap.find({each.source.name: each.items for each in sets}, shown)
    if not count:
        named = ", ".join(map(str, arguments.training))
        raise InputError(f"--training {named}: no records; accepted: files with training records")
    for each in sets:
        mine = scored.get(each.source.name)
        found = contamination.result_of(
            overlaps[each.source.name], of=each, records=count, scored=mine, seed=arguments.seed
        )
        found = stamped(
            found,
            data=dataclasses.replace(each.source, learned_from=tuple(files)).provenance(),
            module=mine.module if mine else None,
            command=command,
            seconds=time.perf_counter() - started,
        )
        path = store.write(found, arguments.output)
        print(f"{printed(found)}\n-> {path}\n")


def _scored(folder: Path | None, sets: list, *, seed: int) -> dict:
    """Return the results on these sets by name, after checking that they are of the same data."""
    if folder is None:
        return {}
    from evaluation.analysis import contamination
    from evaluation.results import store

    found = {one.name: one for one in store.read_results(folder)}
    mine = {each.source.name: each for each in sets if each.source.name in found}
    if not mine:
        wanted = ", ".join(each.source.name for each in sets)
        raise InputError(f"--results {folder}: has {', '.join(found)}, and no result of {wanted}")
    for name, each in mine.items():
        contamination.check_fits(found[name], each, seed=seed)
    return {name: found[name] for name in mine}
