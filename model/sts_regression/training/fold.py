"""One fold of one row: trained or tuned, then scored."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tf_keras

from model.errors import InputError
from model.sts_regression import cosine
from model.sts_regression.choices import CARRIED, FRESH, Choices
from model.sts_regression.data.prepared import Part, Prepared
from model.sts_regression.experiments import TUNED_COSINE, Experiment
from model.sts_regression.layers import regressor as regressors
from model.sts_regression.results import measures
from model.sts_regression.training import training

Score = Callable[[Part, np.ndarray], np.ndarray]
"""A part and indices of its pairs -> their scores in [0, 5]."""


class Job(NamedTuple):
    """One fold of one row."""

    row: str
    way: str
    """How pairs are put into folds."""
    number: int
    weights: str = FRESH
    """Where its weights begin: `Choices.weights_between_folds`."""

    def path(self, output: Path) -> Path:
        """The file of its result."""
        way = self.way if self.weights == FRESH else f"{self.way}_{self.weights}"
        return output / "folds" / way / self.row / f"{self.number:02d}.json"

    def weights_path(self, output: Path) -> Path:
        """The file of its last weights, for the fold that goes on with them."""
        return self.path(output).with_suffix(".npz")


def compute(
    job: Job,
    experiment: Experiment | None,
    choices: Choices,
    prepared: Prepared,
    *,
    output: Path | None = None,
) -> dict:
    """The result of a fold, for JSON; `diverged_in_epoch` in place of scores if it diverged.

    Args:
      job: the fold.
      experiment: of its row; None for the cosine of a module.
      choices: everything else.
      prepared: the pairs, their folds and their vectors.
      output: the folder of weights that are carried from fold to fold.

    Raises:
      InputError: if the weights of the fold before are missing.
    """
    began = time.perf_counter()
    split = prepared.splits[job.way][job.number]
    found = {
        "pairs_training": len(split.training),
        "pairs_held_out": len(split.held_out),
        "pairs_held_out_with_a_sentence_that_trains": prepared.shared[job.way][job.number],
    }
    if experiment is None:
        found |= _scores(_cosine(job, choices, prepared), prepared, job) or {}
    else:
        found |= _trained(job, experiment, choices, prepared, output)
    return found | {"seconds": round(time.perf_counter() - began, 1)}


def _cosine(job: Job, choices: Choices, prepared: Prepared) -> Score:
    """The cosine of a module's embeddings; for its row, tuned on the training pairs."""
    training_pairs = prepared.splits[job.way][job.number].training
    matrix = None
    if job.row == TUNED_COSINE:
        gold = prepared.corpus.data.scores[training_pairs]
        embeddings = prepared.corpus.embedded(training_pairs)
        matrix = cosine.tune(embeddings, gold, seed=choices.seed)
    return lambda part, indices: cosine.score(part.embedded(indices), matrix)


def _trained(
    job: Job, experiment: Experiment, choices: Choices, prepared: Prepared, output: Path | None
) -> dict:
    """Losses and scores of a regressor, or the epoch in which it diverged."""
    data = prepared.corpus.data.take(prepared.splits[job.way][job.number].training)
    seed = 1000 * choices.seed + job.number
    regressor = regressors.build(
        experiment,
        choices,
        table=prepared.vectors.table,
        training=data.sentences(),
        seed=seed,
    )
    if job.weights == CARRIED:
        assert output is not None
        _load_weights(regressor, job, output)
    epochs = choices.epochs(experiment.epochs)
    ends: list[float] = []
    try:
        losses = training.train(
            regressor,
            data,
            choices,
            epochs=epochs,
            seed=seed,
            epoch_ended=lambda: ends.append(time.perf_counter()),
        )
    except training.DivergedError as error:
        return {"diverged_in_epoch": error.epoch}
    finally:
        if job.weights == CARRIED:
            assert output is not None
            _save_weights(regressor, job, output)
    scorer = regressors.scorer(regressor)
    scores = _scores(
        lambda part, indices: training.predict(scorer, part.data.take(indices)), prepared, job
    )
    return {
        "losses": [round(loss, 5) for loss in losses],
        # The first epoch also traces the graph.
        "seconds_an_epoch": round(float(np.median(np.diff(ends))), 3) if len(ends) > 1 else None,
    } | (scores or {"diverged_in_epoch": epochs})


def _load_weights(regressor: tf_keras.Model, job: Job, output: Path) -> None:
    """Gives a regressor the trained weights of the fold before; SIF keeps those of its own fold."""
    if job.number == 0:
        return
    path = job._replace(number=job.number - 1).weights_path(output)
    try:
        with np.load(path) as weights:
            for index, variable in enumerate(regressor.trainable_variables):
                variable.assign(weights[str(index)])
    except (OSError, KeyError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); remove {path.parent} to begin with its first fold"
        ) from error


def _save_weights(regressor: tf_keras.Model, job: Job, output: Path) -> None:
    path = job.weights_path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(".partial.npz")
    variables = regressor.trainable_variables
    np.savez(aside, **{str(index): variable.numpy() for index, variable in enumerate(variables)})
    aside.rename(path)


def _scores(score: Score, prepared: Prepared, job: Job) -> dict | None:
    """Scores in sample, out of sample and on the tests, with the predictions of the last two.

    None if a prediction is not finite: a network may diverge on pairs held out alone.
    """
    split, corpus = prepared.splits[job.way][job.number], prepared.corpus
    gold = corpus.data.scores
    held_out, trained = score(corpus, split.held_out), score(corpus, split.training)
    tested = {
        name: score(part, np.arange(len(part.data.scores))) for name, part in prepared.tests.items()
    }
    if not all(np.isfinite(some).all() for some in (held_out, trained, *tested.values())):
        return None
    return {
        "in_sample": measures.scores(trained, gold[split.training]),
        "out_of_sample": measures.scores(held_out, gold[split.held_out]),
        "held_out": split.held_out.tolist(),
        "predicted": _rounded(held_out),
        "tests": {
            name: measures.scores(predicted, prepared.tests[name].data.scores)
            | {"predicted": _rounded(predicted)}
            for name, predicted in tested.items()
        },
    }


def _rounded(predicted: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in predicted]
