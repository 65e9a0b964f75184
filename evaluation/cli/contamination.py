"""`contamination`: overlaps of evaluation sets with training data, and scores without them."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tqdm import tqdm

from common.errors import InputError
from common.text_files import Source
from evaluation.analysis import contamination
from evaluation.cli.options import ContaminationOptions, command
from evaluation.data import overlap, training_texts
from evaluation.results import store
from evaluation.results.evaluation import Evaluation, Store
from evaluation.results.result import TASKS, Result


def run(options: ContaminationOptions) -> None:
    """Read the training data once; write and print the overlaps of each evaluation set."""
    sets = {}
    for task in TASKS:
        for path in getattr(options, task):
            for each in contamination.find(task, path, seed=options.seed):
                if each.source.name in sets:
                    raise InputError(f"{path}: an evaluation set {each.source.name} again")
                sets[each.source.name] = each
    scored = _scored(options.results, sets, seed=options.seed)
    files = [file for path in options.training for file in training_texts.find(path)]
    count = 0

    def records() -> Iterator:
        nonlocal count
        for file in files:
            for record in training_texts.read(file):
                count += 1
                yield record

    shown = tqdm(records(), desc="training records", unit="", leave=False)
    overlaps = overlap.find({name: each.items for name, each in sets.items()}, shown)
    if not count:
        raise InputError(f"--training {', '.join(map(str, options.training))}: no records")
    found = partial(contamination.result_of, records=count, seed=options.seed)
    evaluations = [
        Evaluation(
            source=each.source,
            compute=partial(found, overlaps[name], of=each, scored=scored.get(name)),
            module=scored[name].module if name in scored else None,
            learned_from=[Source("training", tuple(files))],
            resampled=False,
        )
        for name, each in sets.items()
    ]
    said = command(options, "contamination")
    Store(output=options.output, command=said, again=True).results(evaluations)


def _scored(folder: Path | None, sets: dict, *, seed: int) -> dict[str, Result]:
    """Return the results on these sets by name, after checking that they are of the same data."""
    if folder is None:
        return {}
    results = {one.name: one for one in store.read_results(folder) if one.name in sets}
    if not results:
        raise InputError(f"--results {folder}: no result of {', '.join(sets)}")
    for name, result in results.items():
        contamination.check_fits(result, sets[name], seed=seed)
    return results
