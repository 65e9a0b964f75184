"""`export`: a SavedModel from strings to scores."""

import json

import numpy as np
import pytest
import tensorflow as tf

from evaluation.__main__ import main as evaluate


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "regressor"
    run("export", folder, "--row", "sif_perceptron")
    return folder


@pytest.fixture(scope="module")
def score(exported):
    module = tf.saved_model.load(str(exported))

    def score(first, second):
        similarity = module.signatures["similarity"]
        return similarity(sentences1=tf.constant(first), sentences2=tf.constant(second))["score"]

    return score


@pytest.mark.slow
def test_evaluation_scores_it_like_any_other_module(exported, score, corpora, tmp_path):
    data = corpora / "sts2016"
    options = ["--module", exported, "--data", data, "--output", tmp_path]
    assert not evaluate(["sts", *map(str, options)])
    found = json.loads((tmp_path / "sts-sts2016.json").read_text())
    lines = [line for path in sorted(data.iterdir()) for line in path.read_text().splitlines()]
    golds, *sides = zip(*(line.split("\t") for line in lines if line[0] != "\t"), strict=True)
    expected = np.corrcoef(score(*map(list, sides)), [float(gold) for gold in golds])[0, 1]
    assert found["metrics"]["pearson"] == pytest.approx(expected, abs=1e-4)


def test_it_scores_pairs_of_strings(score):
    found = score(["Cats purr today.", "unheard of"], ["dogs bark here .", "cats purr"])
    assert (found.dtype, found.shape) == (tf.float32, (2,))
    assert ((found.numpy() >= 0) & (found.numpy() <= 5)).all()
    alone = score(["cats purr today ."], ["dogs bark here ."])
    np.testing.assert_allclose(found[0], alone[0], atol=1e-5)


@pytest.mark.parametrize(
    ("first", "second", "named"),
    [
        (["cats", " "], ["cats", "cats"], "sentences1: no words in the sentences at"),
        (["cats"], [""], "sentences2: no words in the sentences at"),
        (["cats", "dogs"], ["cats"], "sentences1 and sentences2 differ in number"),
    ],
)
def test_bad_input_is_named(score, first, second, named):
    with pytest.raises(tf.errors.InvalidArgumentError, match=named):
        score(first, second)


def test_nothing_but_a_regressor_is_replaced(run, exported, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SystemExit) as ended:
        run("export", tmp_path, "--row", "sif_perceptron")
    assert "mine.txt" in ended.value.code
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    before = (exported / "fingerprint.pb").stat().st_ino
    run("export", exported, "--row", "sif_perceptron")
    assert (exported / "fingerprint.pb").stat().st_ino != before
