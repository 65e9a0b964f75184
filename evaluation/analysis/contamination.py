"""Overlaps of an evaluation set with training data, and the scores without them.

The official metrics stay the headline: those without overlapping items are groups beside them.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from common import statistics, sts
from common.errors import InputError
from common.text_files import Source, TextPairs
from common.tfrecord import Features, parse_records
from evaluation.data import cqa_files, overlap, ranking_files, snli_files
from evaluation.data.overlap import Overlap, TextPair
from evaluation.options import ContaminationOptions
from evaluation.results import measure, store
from evaluation.results.result import TASKS, Group, Result, data_name
from evaluation.results.store import Evaluation

TRAINING = ("train-*.tfrecord", "nli-*.tfrecord")  # of conversations, and of NLI
GROUPS = {"pairs": "without pairs in training", "texts": "without texts in training"}
SHOWN = 100  # overlapping items that a result lists
NOTE = (
    "Texts are the same if their letters and digits are, in any case. A pair is in training if one "
    "record has both its texts, in either order; a text, if any record has it."
)


def run(options: ContaminationOptions) -> None:
    """Read the training data once; write and print the overlaps of each evaluation set."""
    sets: dict[Source, list[TextPair]] = {}
    results = store.read_results(options.results) if options.results else []
    for task in TASKS:
        for path in getattr(options, task):
            for source, items in find(task, path, results, seed=options.seed):
                if source.name in {other.name for other in sets}:
                    raise InputError(f"{path}: an evaluation set {source.name} again")
                sets[source] = items
    scored = {source: one for source in sets for one in results if one.name == source.name}
    for source, own in scored.items():
        if own.data.get("sha256") != source.provenance()["sha256"]:
            raise InputError(f"{source.name}: computed on other data than {source.files[0]}")
        if len(own.items) != len(sets[source]):  # of a file that another version read
            both = f"{len(own.items)} items in --results, {len(sets[source])} in the data"
            raise InputError(f"{source.name}: {both}; compute it again with --again")
    if options.results and not scored:
        names = ", ".join(source.name for source in sets)
        raise InputError(f"--results {options.results}: no result of {names}")
    found = (ranking_files.find_files(path, *TRAINING) for path in options.training)
    files = tuple(chain.from_iterable(found))
    records = (texts for file in files for texts in parse_records(file, training_texts))
    overlaps = overlap.find(sets, tqdm(records, desc="training records", unit="", leave=False))
    if not any(one.records for one in overlaps.values()):
        raise InputError(f"--training {', '.join(map(str, options.training))}: no records")
    compute = partial(result_of, seed=options.seed)
    evaluations = [
        Evaluation(
            source=source,
            compute=partial(compute, overlaps[source], source.name, items, scored.get(source)),
            module=getattr(scored.get(source), "module", None),
            learned_from=[Source("training", files)],
        )
        for source, items in sets.items()
    ]
    store.results(evaluations, output=options.output, again=True)


def find(
    task: str, path: Path, results: Sequence[Result] = (), *, seed: int = 0
) -> list[tuple[Source, list[TextPair]]]:
    """Return every evaluation set of a task in a file or folder, as that task finds them.

    With each come the texts of its items, in the order of its result's. Response ranking chooses
    and orders its items by the settings of each result of the same data, without any by `seed`.
    Files without text, which CQA has, are left out.
    """
    found: Any
    match task:
        case "sts":
            found = [(source, sts.read(source)) for source in sts.sources(path)]
        case "snli":
            splits = snli_files.find(path)
            if len(splits) > 1:
                splits.pop("train", None)
            found = [(one, snli_files.read(one)) for of in splits.values() for one in of]
        case "cqa":
            every = [(source, cqa_files.read(source)) for source in cqa_files.find(path)]
            found = [(source, data) for source, data in every if data.pairs[0].query]
        case _:
            source, found = ranking_files.find(path), []
            sha256 = source.provenance()["sha256"]
            asked: dict[str, Any] = {
                one.name: one.settings
                for one in results
                if one.task == task and one.data.get("sha256") == sha256
                if data_name(one.name) == one.name  # in context it has the same items
            }
            for name, settings in (asked or {source.name: {"seed": seed}}).items():
                own_replies = settings.get("own_replies", False)
                pairs = ranking_files.read(source, own_replies=own_replies).pairs
                pairs = ranking_files.shuffled(pairs, seed=settings["seed"])
                found.append((replace(source, name=name), TextPairs(name, pairs)))
    return [(source, data.texts()) for source, data in found]


def training_texts(features: Features) -> tuple[str, ...]:
    """Return the two texts of a training record, and the context turns that it has."""
    names = ("premise", "hypothesis") if "premise" in features else ("input", "response")
    context = sorted(name for name in features if name.startswith("context/"))
    return tuple(ranking_files.text(features, name) for name in (*names, *context))


def result_of(
    found: Overlap, name: str, items: list[TextPair], scored: Result | None, *, seed: int
) -> Result:
    """Return the overlaps as a result; with the task's own result, its metrics without them."""
    overlapping = {"pairs": found.pairs, "texts": found.texts}
    counts = {f"{level}_in_training": len(rows) for level, rows in overlapping.items()}
    about: dict[str, Any]
    if scored is None:
        shares = {name: count / len(items) for name, count in counts.items()}
        about = {"system": "none", "metrics": shares}
    else:
        groups: dict[str, Group] = {}
        for level, rows in overlapping.items():
            left = [item for row, item in enumerate(scored.items) if row not in rows]
            groups[GROUPS[level]] = {"n": len(left), "metrics": dict.fromkeys(scored.metrics)}
            if left:
                sample = measure.sample_of(replace(scored, items=left))
                ends = statistics.intervals(sample, seed=seed)
                groups[GROUPS[level]] |= {"metrics": sample.once(), "intervals": ends}
        about = {"metrics": scored.metrics, "intervals": scored.intervals, "groups": groups}
    return Result(
        task="contamination",
        name=f"contamination-{name}",
        n=len(items),
        counts={"training_records": found.records} | counts,
        settings={"seed": seed, "resamples": statistics.RESAMPLES},
        notes=[NOTE],
        items=[
            {"row": row, "texts": list(items[row]), "pair": row in overlapping["pairs"]}
            for row in sorted(set.union(*overlapping.values()))[:SHOWN]
        ],
        **about,
    )
