"""The folds of all rows: each is trained or tuned, then scored, and kept in a file of its own."""

import dataclasses
import gc
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tf_keras
from tqdm import tqdm

from common.errors import InputError
from common.files import aside, write_json
from model.sts_regression import cosine, training
from model.sts_regression.data.prepared import Data, Prepared
from model.sts_regression.experiments import COSINES, TABLE_2, TUNED_COSINE
from model.sts_regression.layers import regressor as regressors
from model.sts_regression.results import measures
from model.sts_regression.settings import CARRIED, FRESH, Settings

SETTINGS = "settings.json"
"""In the output folder: what all its rows have in common."""


class Fold(NamedTuple):
    """One fold of one row."""

    row: str
    folds_by: str
    number: int
    weights: str = FRESH

    def path(self, output: Path) -> Path:
        """The file of its result."""
        way = self.folds_by if self.weights == FRESH else f"{self.folds_by}_{self.weights}"
        return output / "folds" / way / self.row / f"{self.number:02d}.json"

    def weights_path(self, output: Path) -> Path:
        """The file of its last weights, for the fold that continues with them."""
        return self.path(output).with_suffix(".npz")

    @property
    def before(self) -> "Fold":
        """The fold whose weights it continues with, if they are carried."""
        return self._replace(number=self.number - 1)


def run(
    rows: Sequence[str],
    prepared: Prepared,
    settings: Settings,
    *,
    output: Path,
    weights: Sequence[str] = (FRESH,),
) -> dict[Fold, dict]:
    """Computes the folds that are missing in `output`, and returns the result of each fold.

    Args:
      rows: names of experiments; a module's cosine has no weights, and is computed once.
      prepared: the data.
      settings: everything else.
      output: the folder of results.
      weights: `fresh`, `carried` or both.

    Raises:
      InputError: if `output` has results of other settings.
    """
    wanted = [
        Fold(row, folds_by, number, start)
        for start in dict.fromkeys(weights)
        for folds_by, splits in prepared.splits.items()
        for row in dict.fromkeys(rows)
        for number in range(len(splits))
        if start == FRESH or row not in COSINES
    ]
    _require_same(output / SETTINGS, prepared, settings)
    done = {}
    for fold in tqdm(wanted, "training", unit=" folds", dynamic_ncols=True):
        path = fold.path(output)
        if not path.exists():
            write_json(path, compute(fold, settings, prepared, output=output))
            if fold.weights == CARRIED and fold.number > 0:
                fold.before.weights_path(output).unlink(missing_ok=True)
        done[fold] = json.loads(path.read_text(encoding="utf-8"))
    return done


def _require_same(path: Path, prepared: Prepared, settings: Settings) -> None:
    """All rows are compared with each other, also those and the module that a later run adds."""
    about = dataclasses.asdict(settings) | prepared.identity()
    before = json.loads(path.read_text(encoding="utf-8"))["about"] if path.exists() else {}
    for name in about.keys() & before.keys():
        if before[name] != about[name]:
            raise InputError(
                f"--output: {path} was made with {name} {before[name]}, now it is {about[name]}; "
                "name another folder, or the same settings"
            )
    write_json(path, {"about": before | about})


def compute(fold: Fold, settings: Settings, prepared: Prepared, *, output: Path) -> dict:
    """The result of a fold, for JSON; `diverged_in_epoch` in place of scores if it diverged.

    Args:
      fold: what to compute.
      settings: how regressors are trained.
      prepared: the pairs, their folds and their vectors.
      output: the folder of weights that are carried from fold to fold.
    """
    began = time.perf_counter()
    split = prepared.splits[fold.folds_by][fold.number]
    found = {
        "pairs_training": len(split.training),
        "pairs_held_out": len(split.held_out),
        "pairs_held_out_with_a_sentence_that_trains": prepared.shared[fold.folds_by][fold.number],
    }
    try:
        if fold.row in COSINES:
            found |= _cosine(fold, settings, prepared)
        else:
            found |= _trained(fold, settings, prepared, output)
    except training.DivergedError as error:
        found["diverged_in_epoch"] = error.epoch
    # Keras and TensorFlow keep the graphs of each model: 70 MB a fold for one LSTM.
    tf_keras.backend.clear_session()
    gc.collect()
    return found | {"seconds": round(time.perf_counter() - began, 1)}


def _cosine(fold: Fold, settings: Settings, prepared: Prepared) -> dict:
    """The cosine of a module's embeddings; for its row, tuned on the training pairs."""
    corpus, training_pairs = prepared.corpus, prepared.splits[fold.folds_by][fold.number].training
    matrix = None
    if fold.row == TUNED_COSINE:
        embeddings = corpus.embeddings.take(training_pairs)
        matrix = cosine.tune(embeddings, corpus.scores[training_pairs], seed=settings.seed)
    return _scores(
        lambda data, pairs: cosine.score(data.embeddings.take(pairs), matrix), fold, prepared
    )


def _trained(fold: Fold, settings: Settings, prepared: Prepared, output: Path) -> dict:
    """Losses and scores of a regressor, or the epoch in which it diverged."""
    data = prepared.corpus.take(prepared.splits[fold.folds_by][fold.number].training)
    experiment, seed = TABLE_2[fold.row], 1000 * settings.seed + fold.number
    table = prepared.vectors.table
    regressor = regressors.build(
        experiment, settings, table=table, training=data.sentences(), seed=seed
    )
    if fold.weights == CARRIED and fold.number > 0:
        # SIF keeps the component of its own fold, which is not trained.
        with np.load(fold.before.weights_path(output)) as weights:
            for name, variable in enumerate(regressor.trainable_variables):
                variable.assign(weights[str(name)])
    epochs = settings.epochs(experiment.epochs)
    try:
        losses = training.train(regressor, data, settings, epochs=epochs, seed=seed)
        scorer = regressors.scorer(regressor)
        scores = _scores(
            lambda data, pairs: training.predict(scorer, data.take(pairs)), fold, prepared, epochs
        )
    finally:
        if fold.weights == CARRIED:
            path = fold.weights_path(output)
            kept = {str(n): v.numpy() for n, v in enumerate(regressor.trainable_variables)}
            with aside(path) as new, new.open("wb") as file:
                np.savez(file, **kept)
    return {"losses": [round(loss, 5) for loss in losses]} | scores


def _scores(
    score: Callable[[Data, np.ndarray], np.ndarray], fold: Fold, prepared: Prepared, epoch: int = 0
) -> dict:
    """Scores in sample, out of sample and on the tests, with the predictions of the last two.

    Args:
      score: pairs and indices of some of them -> their scores in [0, 5].
      fold: which pairs train and which are held out.
      prepared: the data.
      epoch: after which the scores are.

    Raises:
      DivergedError: if a score is not finite: a network may diverge on pairs held out alone.
    """
    split, corpus = prepared.splits[fold.folds_by][fold.number], prepared.corpus
    gold = corpus.scores
    held_out, trained = score(corpus, split.held_out), score(corpus, split.training)
    tested = {
        name: score(test, np.arange(len(test.scores))) for name, test in prepared.tests.items()
    }
    if not all(np.isfinite(some).all() for some in (held_out, trained, *tested.values())):
        raise training.DivergedError("a score", epoch)
    return {
        "in_sample": measures.scores(trained, gold[split.training]),
        "out_of_sample": measures.scores(held_out, gold[split.held_out]),
        "held_out": split.held_out.tolist(),
        "predicted": _rounded(held_out),
        "tests": {
            name: measures.scores(predicted, prepared.tests[name].scores)
            | {"predicted": _rounded(predicted)}
            for name, predicted in tested.items()
        },
    }


def _rounded(predicted: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in predicted]
