"""`run`: folds, what is resumed, results and tables; nothing is learned from what is held out."""

import json
import math
import re
import shutil

import pytest
import tensorflow as tf

from evaluation.__main__ import main as evaluate
from model.sts_regression import data, options, regressor
from model.sts_regression.data import TEST
from model.sts_regression.run import compute

ROW = "sif_perceptron"


def test_the_paper_preset_is_the_papers():
    found = options.PRESETS["paper"]
    assert (found.folds, found.epoch_share, found.learning_rate, found.units) == (10, 1, 1e-4, 0)
    assert (found.gates, found.clip_norm) == ("printed", 0)
    given = {"data": ".", "vectors": ".", "output": ".", "preset": "quick"}
    found = options.RunOptions(**given, folds=7, seed=3).settings()
    assert (found.folds, found.units, found.seed) == (7, 50, 3)
    assert options.RunOptions(**given).settings().folds == 3


def test_a_result_has_what_the_report_reads(results):
    ways = ("random", "sentences", "random_carried", "sentences_carried")
    assert set(results) == {f"sts2016-{way}-{ROW}" for way in ways}
    found = results[f"sts2016-random-{ROW}"]
    assert (found["task"], found["n"], found["settings"]["epochs"]) == ("sts_regression", 24, 12)
    assert found["counts"]["words_without_vector"] > 0
    assert set(found["intervals"]) == {"pearson", "mse", f"pearson_{TEST}"}
    for name, (low, high) in found["intervals"].items():
        assert low < found["metrics"][name] < high
    folds = [fold["out_of_sample"]["pearson"] for fold in found["items"]]
    assert found["metrics"]["pearson"] == pytest.approx(sum(folds) / 2)
    # Folds with carried weights depend on each other; the pairs of the test do not.
    carried = results[f"sts2016-random_carried-{ROW}"]
    assert set(carried["intervals"]) == {f"pearson_{TEST}"}


def test_pairs_of_tests_with_a_sentence_of_the_corpus_are_counted(results, corpora):
    files = (corpora / "sts2016").iterdir()
    trained = {text for path in files for text in re.split("[\t\n]", path.read_text().lower())}
    lines = (corpora / TEST / "STS.input.track5.txt").read_text().lower().splitlines()
    (found,) = results[f"sts2016-random-{ROW}"]["data"]["tests"].values()
    expected = sum(not trained.isdisjoint(line.split("\t")) for line in lines)
    assert found["pairs_with_a_sentence_that_trains"] == expected > 0


def test_table_and_report_show_all_ways(finished, tmp_path):
    table = (finished / "table_2.md").read_text()
    assert table.count("\n") == 2 + 4
    page = tmp_path / "report.html"
    assert not evaluate(["report", "--results", str(finished / "results"), "--output", str(page)])
    shown = page.read_text()
    assert "sts2016-sentences" in shown
    assert "sts2016-random" in shown


def folds_of(folder, way):
    paths = sorted((folder / "folds" / way / ROW).glob("*.json"))
    return [json.loads(path.read_text()) for path in paths]


def test_carried_weights_begin_where_the_fold_before_ended(finished):
    fresh, carried = (folds_of(finished, way) for way in ("random", "random_carried"))
    assert carried[0]["predicted"] == fresh[0]["predicted"]
    assert carried[0]["losses"] == fresh[0]["losses"]
    assert carried[1]["held_out"] == fresh[1]["held_out"]
    assert carried[1]["predicted"] != fresh[1]["predicted"]


def test_what_is_done_is_not_done_again_and_rows_may_come_later(run, finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    before = folds_of(folder, "random_carried")
    of_row = folder / "folds" / "random_carried" / ROW
    (of_row / "01.json").unlink()
    (of_row / "01.npz").rename(of_row / "00.npz")  # as if it had stopped before the second fold
    first = folder / "folds" / "random" / ROW / "00.json"
    marked = json.loads(first.read_text()) | {"seconds": 12345.0}
    first.write_text(json.dumps(marked))
    run("run", folder, "--rows", ROW, "l2_lstm_50", "--weights_between_folds", "fresh", "carried")
    assert json.loads(first.read_text()) == marked
    again = folds_of(folder, "random_carried")
    assert again[0] == before[0]
    # It began with the weights that were there, which here are its own last ones.
    assert again[1]["losses"][0] < before[1]["losses"][0]
    assert "| L2-LSTM 50 epochs" in (folder / "table_2.md").read_text()


def test_another_seed_is_refused(run, finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    with pytest.raises(SystemExit) as ended:
        run("run", folder, "--rows", ROW, "--seed", 3)
    assert "seed 0, now it is 3" in ended.value.code


@pytest.mark.parametrize("given", [("--rows", "lstm7"), ("--folds", 25)])
def test_what_cannot_be_run_is_told_in_a_line(run, tmp_path, given):
    with pytest.raises(SystemExit, match=given[0]):
        run("run", tmp_path / "run", *given)
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def prepared(corpora, glove):
    """The corpus of 24 pairs."""
    small = options.Settings(folds=2, epoch_share=0.04, learning_rate=1e-2)
    return data.prepare(corpora, small, vectors_path=glove)


def first_fold(prepared):
    return compute(ROW, 0, prepared.splits["random"][0], prepared)


def test_nothing_is_learned_from_the_scores_of_pairs_held_out_and_tests(prepared):
    def changed(some, indices):
        scores = some.scores.copy()
        scores[indices] = 5 - scores[indices]
        return some._replace(scores=scores)

    split, corpus = prepared.splits["random"][0], prepared.corpus
    test = changed(prepared.test, slice(None))
    other = prepared._replace(corpus=changed(corpus, split.held_out), test=test)
    one, two = map(first_fold, (prepared, other))
    assert one["predicted"] == two["predicted"]
    assert one["in_sample"] == two["in_sample"]
    assert one["out_of_sample"]["mse"] != two["out_of_sample"]["mse"]
    # And what does train is learned from.
    third = first_fold(prepared._replace(corpus=changed(corpus, split.training)))
    assert one["predicted"] != third["predicted"]


def test_nothing_is_learned_from_the_sentences_of_pairs_held_out(prepared):
    """SIF has word frequencies and a common component of its training fold alone."""
    first = list(prepared.corpus.first)
    for index in prepared.splits["random"][0].held_out[1:]:
        first[index] = [2, 2, 2, 2]
    other = prepared._replace(corpus=prepared.corpus._replace(first=first))
    one, two = map(first_fold, (prepared, other))
    assert one["losses"] == two["losses"]
    assert one["predicted"][0] == two["predicted"][0]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_a_fold_that_diverged(prepared, monkeypatch, value):
    def train(made, *_, **__):
        bias = made.trainable_variables[-1]
        bias.assign(bias + tf.cast(value, tf.float32))
        return [1.0, 0.5]

    monkeypatch.setattr(regressor, "train", train)
    found = first_fold(prepared)
    assert found["diverged_in_epoch"] == 4
    assert "predicted" not in found
