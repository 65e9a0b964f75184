"""Cross-validation: folds are trained, scored and kept in files of their own.

OUTPUT/settings.json                        what all rows have in common
OUTPUT/folds/random/lstm2_lstm2/00.json     scores of a fold; random_carried: carried weights
OUTPUT/results/sts_regression-sts2016-random-lstm2_lstm2.json
OUTPUT/table_2.md
"""

import gc
import json
import shlex
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import tf_keras
from tqdm import tqdm

from common.errors import InputError
from common.files import aside, claim, write_json, write_text
from model.sts_regression import regressor as regressors
from model.sts_regression import results
from model.sts_regression.data import TEST, Prepared, Split, prepare
from model.sts_regression.layers import Network
from model.sts_regression.options import CARRIED, TABLE_2, RunOptions
from model.sts_regression.results import DIVERGED


def run(options: RunOptions) -> None:
    """Computes the folds that are missing; writes results and a table of all there are.

    Raises:
      InputError: if the output has results of other settings, or every fold diverged.
    """
    rows, output = options.rows or tuple(TABLE_2), options.output
    command = shlex.join(["python", "-m", "model.sts_regression", *sys.argv[1:]])
    has_diverged = []
    with claim(output):
        prepared = prepare(
            options.data,
            options.settings(),
            vectors_path=options.vectors,
            folds_by=options.folds_by,
        )
        counts, dim = prepared.counts, prepared.about["word_dim"]
        print(
            f"{len(prepared.corpus.scores):,} pairs; {dim}-d word vectors; "
            f"{counts['words_without_vector']:,} of {counts['words']:,} words without one"
        )
        _require_same(output / "settings.json", prepared.identity())
        for weights, folds_by, row in product(options.weights_between_folds, prepared.splits, rows):
            ways = {"folds_by": folds_by, "weights": weights}
            folder = output / "folds" / results.way_of(**ways) / row
            folds = cross_validate(row, prepared, folder=folder, **ways)
            found = results.result(row, folds, prepared, **ways, command=command)
            write_json(output / "results" / f"{found['name']}.json", found)
            has_diverged += [DIVERGED in fold for fold in folds]
        # Also those of earlier runs.
        paths = sorted((output / "results").glob(f"{results.TASK}-*.json"))
        text = results.markdown([json.loads(path.read_text(encoding="utf-8")) for path in paths])
        write_text(output / "table_2.md", text)
    print(f"\n{text}\n-> {output}/results")
    if all(has_diverged):
        raise InputError("every fold of every row diverged; --preset quick has bounded gates")


def _require_same(path: Path, about: dict) -> None:
    """All rows are compared with each other, also those that a later run adds."""
    before = json.loads(path.read_text(encoding="utf-8"))["about"] if path.exists() else about
    for name in sorted(before.keys() | about.keys()):
        if before.get(name) != about.get(name):
            raise InputError(
                f"--output: {path} was made with {name} {before.get(name)}, now it is "
                f"{about.get(name)}; name another folder, or the same settings"
            )
    write_json(path, {"about": about})


def cross_validate(
    row: str, prepared: Prepared, *, folds_by: str, weights: str, folder: Path
) -> list[dict]:
    """The scores of each fold of a row; those that are in the folder are not computed again."""
    folds = []
    splits = tqdm(prepared.splits[folds_by], f"{row}, {folds_by}, {weights}", unit=" folds")
    for number, split in enumerate(splits):
        path = folder / f"{number:02d}.json"
        if not path.exists():
            last = path.with_suffix(".npz") if weights == CARRIED else None
            start = folder / f"{number - 1:02d}.npz" if last and number else None
            write_json(path, compute(row, number, split, prepared, start=start, last=last))
            if start:
                start.unlink()
        folds.append(json.loads(path.read_text(encoding="utf-8")))
    return folds


def compute(
    row: str,
    number: int,
    split: Split,
    prepared: Prepared,
    *,
    start: Path | None = None,
    last: Path | None = None,
) -> dict:
    """Losses and scores of a fold, for JSON; `diverged_in_epoch` instead if it diverged.

    `start` and `last` are files: of weights that it starts with, and that get its last ones.
    """
    began, settings = time.perf_counter(), prepared.settings
    experiment, seed = TABLE_2[row], 1000 * settings.seed + number
    training, held_out = map(prepared.corpus.take, (split.training, split.held_out))
    sentences = training.sentences()
    network = Network(experiment, settings, table=prepared.table, training=sentences, seed=seed)
    regressor = network.model()
    variables = regressor.trainable_variables
    if start:
        # SIF keeps the component of its own fold, which is not trained.
        with np.load(start) as weights:
            for variable, value in zip(variables, weights.values(), strict=True):
                variable.assign(value)
    epochs = settings.epochs(experiment.epochs)
    found: dict[str, Any] = {
        "pairs_training": len(split.training),
        "pairs_held_out": len(split.held_out),
        results.SHARED: split.shared,
    }
    try:
        losses = regressors.train(regressor, training, settings, epochs=epochs, seed=seed)
        in_sample, predicted, of_test = (
            regressors.predict(regressor, pairs, epochs=epochs)
            for pairs in (training, held_out, prepared.test)
        )
        found |= {
            "losses": [round(loss, 5) for loss in losses],
            "in_sample": results.scores(in_sample, training.scores),
            "out_of_sample": results.scores(predicted, held_out.scores),
            "held_out": split.held_out.tolist(),
            "predicted": _listed(predicted),
            "tests": {
                TEST: results.scores(of_test, prepared.test.scores)
                | {"predicted": _listed(of_test)}
            },
        }
    except regressors.DivergedError as error:
        found[DIVERGED] = error.epoch
    finally:
        if last:
            with aside(last) as new, new.open("wb") as file:
                np.savez(file, *(variable.numpy() for variable in variables))
    # Keras and TensorFlow keep the graphs of each model: 70 MB a fold for one LSTM.
    tf_keras.backend.clear_session()
    gc.collect()
    return found | {"seconds": round(time.perf_counter() - began, 1)}


def _listed(predicted: np.ndarray) -> list[float]:
    return np.round(predicted.astype(float), 4).tolist()
