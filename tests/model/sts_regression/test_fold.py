"""One fold: what trains, what is held out, and what is kept of it."""

import dataclasses
import math

import numpy as np
import pytest
import tensorflow as tf

from model.errors import InputError
from model.sts_regression.data import prepared
from model.sts_regression.experiments import COSINE, TABLE_2, TUNED_COSINE
from model.sts_regression.training import fold, training
from model.sts_regression.training.fold import Job


@pytest.fixture(scope="module")
def data(corpora, glove, choices):
    """The corpus of 24 pairs, with embeddings as a module would give them."""
    found = prepared.prepare(
        corpora,
        "sts2016",
        choices=choices,
        ways=["random"],
        vectors_path=glove,
        dim=None,
        module=None,
    )
    draw = np.random.default_rng(0)

    def embedded(part):
        sides = (draw.normal(size=(len(part.data.scores), 5)) for _ in range(2))
        units = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides)
        return part._replace(embeddings=prepared.Embeddings(*units))

    tests = {name: embedded(part) for name, part in found.tests.items()}
    return found._replace(corpus=embedded(found.corpus), tests=tests)


def computed(row, data, choices):
    return fold.compute(Job(row, "random", 0), TABLE_2.get(row), choices, data)


@pytest.mark.parametrize(
    "row",
    [
        "sif_perceptron",
        pytest.param("lstm1_perceptron", marks=pytest.mark.slow),
        COSINE,
        pytest.param(TUNED_COSINE, marks=pytest.mark.slow),
    ],
)
def test_nothing_is_learned_from_the_scores_of_pairs_held_out_and_tests(row, data, choices):
    def changed(part, indices):
        scores = part.data.scores.copy()
        scores[indices] = 5 - scores[indices]
        return part._replace(data=part.data._replace(scores=scores))

    held_out = data.splits["random"][0].held_out
    tests = {name: changed(part, slice(None)) for name, part in data.tests.items()}
    other = data._replace(corpus=changed(data.corpus, held_out), tests=tests)
    one, two = (computed(row, each, choices) for each in (data, other))
    assert one["predicted"] == two["predicted"]
    assert one["in_sample"] == two["in_sample"]
    assert one["out_of_sample"]["mse"] != two["out_of_sample"]["mse"]
    # And what does train is learned from.
    if row != COSINE:
        training_pairs = data.splits["random"][0].training
        third = computed(row, data._replace(corpus=changed(data.corpus, training_pairs)), choices)
        assert one["predicted"] != third["predicted"]


@pytest.mark.slow
def test_nothing_is_learned_from_the_sentences_of_pairs_held_out(data, choices):
    """SIF has word frequencies and a common component of its training fold alone."""
    split = data.splits["random"][0]
    first = list(data.corpus.data.first)
    for index in split.held_out[1:]:
        first[index] = [2, 2, 2, 2]
    corpus = data.corpus._replace(data=data.corpus.data._replace(first=first))
    one, two = (
        computed("sif_perceptron", each, choices) for each in (data, data._replace(corpus=corpus))
    )
    assert one["losses"] == two["losses"]
    assert one["predicted"][0] == two["predicted"][0]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_a_fold_that_diverged(data, choices, monkeypatch, value):
    def train(regressor, *_, **__):
        bias = regressor.trainable_variables[-1]
        bias.assign(bias + value)
        return [1.0, 0.5]

    monkeypatch.setattr(training, "train", train)
    found = computed("sif_perceptron", data, choices)
    assert found["diverged_in_epoch"] == choices.epochs(100)
    assert "predicted" not in found


def test_the_module_matters_to_its_own_rows_alone(data, choices):
    from model.sts_regression.training import run

    one, two = (data._replace(module={"path": "m", "fingerprint": f}) for f in ("1", "2"))
    for row, differ in ((COSINE, True), (TUNED_COSINE, True), ("sif_perceptron", False)):
        abouts = [
            run.about(Job(row, "random", 0), TABLE_2.get(row), choices, each) for each in (one, two)
        ]
        assert (abouts[0] != abouts[1]) == differ
    others = dataclasses.replace(choices, learning_rate=0.5)
    job = Job("sif_perceptron", "random", 0)
    assert run.about(job, TABLE_2[job.row], choices, one) != run.about(
        job, TABLE_2[job.row], others, one
    )


def test_tests_that_share_sentences_with_the_corpus_are_counted(data, corpora):
    def sentences(folder):
        return {
            " ".join(words.lower().split())
            for path in (corpora / folder).iterdir()
            for line in path.read_text().splitlines()
            for words in line.split("\t")[-2:]
        }

    trained = sentences("sts2016")
    lines = (corpora / "sts2017_track5" / "STS.input.txt").read_text().splitlines()
    expected = sum(any(text.lower() in trained for text in line.split("\t")) for line in lines)
    assert data.shared_tests == {"sts2017_track5": expected}


@pytest.mark.parametrize("weights", ["fresh", "carried"])
def test_a_fold_begins_with_new_weights_or_those_of_the_fold_before(
    data, choices, monkeypatch, tmp_path, weights
):
    begins, ends = [], []

    def train(regressor, *_, **__):
        begins.append([variable.numpy() for variable in regressor.trainable_variables])
        for variable in regressor.trainable_variables:
            variable.assign_add(tf.ones_like(variable))
        ends.append([variable.numpy() for variable in regressor.trainable_variables])
        return [1.0, 0.5]

    monkeypatch.setattr(training, "train", train)
    row = "sif_perceptron"
    for number in (0, 1):
        job = Job(row, "random", number, weights)
        fold.compute(job, TABLE_2[row], choices, data, output=tmp_path)
    same = [np.array_equal(one, two) for one, two in zip(ends[0], begins[1], strict=True)]
    assert all(same) if weights == "carried" else not any(same)


def test_carried_weights_that_are_missing_are_named(data, choices, tmp_path):
    job = Job("sif_perceptron", "random", 1, "carried")
    with pytest.raises(InputError, match=r"00.npz: cannot be read .* begin with its first fold"):
        fold.compute(job, TABLE_2[job.row], choices, data, output=tmp_path)
