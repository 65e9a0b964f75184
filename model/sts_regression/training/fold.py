"""One fold of one row: trained or tuned, scored, and kept as a file."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.errors import InputError
from model.sts_regression import cosine
from model.sts_regression.choices import Choices
from model.sts_regression.data.prepared import Part, Prepared
from model.sts_regression.experiments import TUNED_COSINE, Experiment
from model.sts_regression.results import measures

Score = Callable[[Part, np.ndarray], np.ndarray]


class Job(NamedTuple):
    """One fold of one row."""

    row: str
    way: str
    number: int

    def path(self, output: Path) -> Path:
        """Its file."""
        return output / "folds" / self.way / self.row / f"{self.number:02d}.json"


def compute(
    job: Job,
    experiment: Experiment | None,
    choices: Choices,
    prepared: Prepared,
    *,
    tell: Callable[[], None],
) -> dict:
    """What came of the fold; `diverged_in_epoch` instead of scores where something did."""
    began = time.perf_counter()
    split = prepared.splits[job.way][job.number]
    found: dict = {"pairs_training": len(split.training), "pairs_held_out": len(split.held_out)}
    found["pairs_held_out_with_a_sentence_that_trains"] = prepared.shared[job.way][job.number]
    score, more = _fitted(job, experiment, choices, prepared, tell)
    found |= more
    if score is not None:
        scores = _scores(score, prepared, job)
        last = len(found.get("losses", ()))
        found |= {"diverged_in_epoch": last} if scores is None else scores
    return found | {"seconds": round(time.perf_counter() - began, 1)}


def _fitted(
    job: Job,
    experiment: Experiment | None,
    choices: Choices,
    prepared: Prepared,
    tell: Callable[[], None],
) -> tuple[Score | None, dict]:
    """What scores pairs of a part, and what there is to say about how it was made."""
    split = prepared.splits[job.way][job.number]
    corpus = prepared.corpus
    if experiment is None:
        embeddings = _embeddings(corpus).take(split.training)
        gold = corpus.data.scores[split.training]
        tuned = job.row == TUNED_COSINE
        matrix = cosine.tune(embeddings, gold, seed=choices.seed) if tuned else None
        tell()
        return lambda part, some: cosine.score(_embeddings(part).take(some), matrix), {}
    from model.sts_regression.training import training

    ends: list[float] = []

    def epoch_ended() -> None:
        ends.append(time.perf_counter())
        tell()

    try:
        regressor, losses = training.train(
            experiment,
            choices,
            corpus.data.take(split.training),
            table=prepared.vectors.table,
            seed=1000 * choices.seed + job.number,
            tell=epoch_ended,
        )
    except training.DivergedError as error:
        return None, {"diverged_in_epoch": error.epoch}
    return lambda part, some: training.predict(regressor, part.data.take(some)), {
        "losses": [round(loss, 5) for loss in losses],
        # The first one builds the graph.
        "seconds_an_epoch": round(float(np.median(np.diff(ends))), 3) if len(ends) > 1 else None,
    }


def _embeddings(part: Part) -> cosine.Embeddings:
    if part.embeddings is None:
        raise ValueError("embeddings: none, as no module was given")
    return part.embeddings


def _scores(score: Score, prepared: Prepared, job: Job) -> dict | None:
    """In sample, out of sample and on the tests, with the predictions of all but the first.

    None where one is not finite: on pairs held out a network may diverge that did not in training.
    """
    split, corpus = prepared.splits[job.way][job.number], prepared.corpus
    gold = corpus.data.scores
    held_out, trained = score(corpus, split.held_out), score(corpus, split.training)
    tested = {
        name: score(part, np.arange(len(part.data.scores))) for name, part in prepared.tests.items()
    }
    if not all(np.isfinite(some).all() for some in (held_out, trained, *tested.values())):
        return None
    found = {
        "in_sample": measures.scores(trained, gold[split.training]),
        "out_of_sample": measures.scores(held_out, gold[split.held_out]),
        "held_out": split.held_out.tolist(),
        "predicted": _rounded(held_out),
        "tests": {},
    }
    for name, part in prepared.tests.items():
        predicted = tested[name]
        scores = measures.scores(predicted, part.data.scores)
        found["tests"][name] = scores | {"predicted": _rounded(predicted)}
    return found


def _rounded(predicted: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in predicted]


def write(path: Path, value: dict) -> None:
    """Writes JSON aside and renames it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
        aside.write_text(text + "\n", encoding="utf-8")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def read(path: Path, about: dict) -> dict | None:
    """What an earlier run left, if it did the same.

    Raises:
      InputError: if it did something else; names what.
    """
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        before = dict(found["about"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a fold of this program ({error})") from error
    for name, value in about.items():
        if before.get(name) != value:
            raise InputError(
                f"{path}: made with {name}={before.get(name)}, now it is {value}; "
                "name another --output, or the same settings"
            )
    return found
