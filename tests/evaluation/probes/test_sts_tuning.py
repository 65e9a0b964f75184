"""What is learned on top of embeddings: a matrix for STS, a map from inputs to responses."""

import numpy as np
import pytest
import scipy.optimize

from common.errors import InputError
from common.sts import Pair, SimilarityData
from evaluation.data import ranking_files
from evaluation.probes import linear_map, sts_tuning
from evaluation.tasks import sts
from tests.evaluation.conftest import FakeEncoder

DIM = 6


@pytest.fixture(scope="module")
def world():
    """An encoder, and train, dev and test whose gold scores are of its first two dimensions.

    Its other four are louder and mean nothing.
    """
    random = np.random.default_rng(0)
    encoder = FakeEncoder({})

    def data(name, count):
        pairs = []
        for i in range(count):
            texts = [f"{name} {i} {side}" for side in "ab"]
            meaning = random.normal(size=(2, 2))
            for text, row in zip(texts, meaning, strict=True):
                encoder.vectors[text] = [*row, *(3 * random.normal(size=DIM - 2))]
            cosine = meaning[0] @ meaning[1] / np.prod(np.linalg.norm(meaning, axis=1))
            pairs.append(Pair(*texts, 5 * (1 - np.arccos(cosine) / np.pi), "main-news"))
        return SimilarityData(name, pairs)

    return encoder, data("sts-train", 400), data("sts-dev", 150), data("sts-test", 150)


def test_the_matrix_finds_what_the_scores_are_about(world):
    encoder, train, dev, test = world
    tuned = sts_tuning.learn(encoder, train, dev)
    assert tuned.matrix.shape == (DIM, DIM)
    assert tuned.matrix.dtype == np.float32
    before = sts.evaluate(encoder, test)
    after = sts.evaluate(encoder, test, matrix=tuned.matrix)
    assert before.metrics["pearson"] < 0.4
    assert after.metrics["pearson"] > 0.9
    assert (after.name, after.system) == ("sts-test-tuned", "module_tuned")
    untuned = after.baselines["untuned"]
    assert untuned == {name: before.metrics[name] for name in ("pearson", "spearman")}
    found = sts.evaluate(encoder, dev, matrix=tuned.matrix)
    assert found.metrics["pearson"] == pytest.approx(tuned.scores["dev"], abs=1e-6)
    assert tuned.scores["dev"] > tuned.scores["dev_untuned"]


def test_the_gradient_is_the_slope():
    random = np.random.default_rng(1)
    left, right = random.normal(size=(2, 30, 4))
    left /= np.linalg.norm(left, axis=1, keepdims=True)
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    pairs = sts_tuning.Pairs(left, right, random.random(30))
    at = (np.eye(4) + 0.3 * random.normal(size=(4, 4))).ravel()

    def value(flat):
        return sts_tuning._loss(flat.reshape(4, 4), pairs, penalty=0.01)[0]

    slope = sts_tuning._loss(at.reshape(4, 4), pairs, penalty=0.01)[1]
    assert slope == pytest.approx(scipy.optimize.approx_fprime(at, value, 1e-6), abs=1e-4)
    assert np.abs(slope).max() > 0.01


def test_the_start_evens_the_directions_out(world):
    pairs = sts_tuning.embedded(*world[:2])
    spread = (pairs.left @ sts_tuning._start(pairs, 1.0)).std(axis=0)
    assert spread.max() < 1.3 * spread.min()


def test_it_stops_two_steps_after_the_best(world, monkeypatch):
    pairs, scores = sts_tuning.embedded(*world[:2]), [0.1, 0.2, 0.15, 0.3, 0.25, 0.4, 0.1, 0.2]
    monkeypatch.setattr(sts_tuning.Pairs, "pearson", lambda _: scores.pop(0))
    _, step = sts_tuning._descend(pairs, pairs, penalty=0.001)
    assert (step, scores) == (5, [])


class Turned:
    """A word has a random vector; as a response, the numbers of the vector stand in reverse."""

    path = "turned"

    def encode_inputs(self, sentences):
        rows = [np.random.default_rng(int(text)).standard_normal(8) for text in sentences]
        return np.array(rows, dtype=np.float32)

    def encode_responses(self, sentences):
        return self.encode_inputs(sentences)[:, ::-1]

    def provenance(self):
        return {"path": self.path, "fingerprint": "f", "pretrained": True}


def made(numbers):
    return [ranking_files.Pair(str(n), str(n), f"i{n}", f"r{n}") for n in numbers]


@pytest.mark.slow
def test_the_map_finds_what_turns_inputs_into_responses():
    encoder = linear_map.LinearMap(Turned(), made(range(2000)), made(range(5000, 5100)))
    encoder.fit(["1"])
    found = encoder.provenance()
    assert found["path"] == "turned mapped"
    assert found["pretrained"]
    assert found["about"].startswith("rate 0.01, penalty 0")
    assert "on 2,000 pairs; P@1 of 100 on 100 validation pairs" in found["about"]
    unseen = [str(n) for n in range(9000, 9100)]
    scores = encoder.encode_inputs(unseen) @ encoder.encode_responses(unseen).T
    plain = Turned().encode_inputs(unseen) @ Turned().encode_responses(unseen).T
    right = np.arange(100)
    assert np.mean(scores.argmax(axis=1) == right) > 0.9
    assert np.mean(plain.argmax(axis=1) == right) < 0.1


def test_without_a_gain_on_validation_pairs_the_map_changes_nothing_and_few_are_refused(
    monkeypatch,
):
    monkeypatch.setattr(linear_map, "LEARNING_RATES", (1e-2,))
    monkeypatch.setattr(linear_map, "PENALTIES", (0.0,))

    class Same(Turned):
        encode_responses = Turned.encode_inputs

    learned = linear_map.LinearMap(Same(), made(range(100)), made(range(5000, 5100))).fit([])
    assert not learned.weights.any()
    assert learned.about.startswith("W is 0, on 100 pairs; P@1 of 100 on 100 validation pairs 1.0")
    with pytest.raises(InputError, match="99 training"):
        linear_map.LinearMap(Turned(), made(range(99)), made(range(100)))
    with pytest.raises(InputError, match="99 validation"):
        linear_map.LinearMap(Turned(), made(range(100)), made(range(99)))
