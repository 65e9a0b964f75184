"""`run`: folds, what is resumed, results and tables; nothing is learned from what is held out."""

import json
import math
import shutil

import numpy as np
import pytest
import tensorflow as tf

from evaluation.__main__ import main as evaluate
from model.sts_regression import run, settings, training
from model.sts_regression.__main__ import main
from model.sts_regression.data import prepared
from model.sts_regression.experiments import COSINE, TABLE_2, TUNED_COSINE
from model.sts_regression.options import RunOptions
from model.sts_regression.run import Fold

ROW = "sif_perceptron"


def test_table_2_has_its_11_rows_in_its_order():
    scores = [experiment.paper[0] for experiment in TABLE_2.values()]
    assert len(scores) == 11
    assert scores == sorted(scores, reverse=True)
    assert {e.epochs for name, e in TABLE_2.items() if name.startswith("lstm")} == {50}
    assert TABLE_2["sif_perceptron"].epochs == TABLE_2["l2_lstm_100"].epochs == 100


def test_the_paper_preset_is_the_papers():
    found = settings.PRESETS["paper"]
    assert (found.folds, found.epoch_share, found.learning_rate, found.units) == (10, 1, 1e-4, 0)
    assert (found.gates, found.padding, found.clip_norm) == ("printed", "masked", 0)
    given = RunOptions(data=".", vectors=".", output=".", preset="quick", folds=7).settings()
    assert (given.folds, given.units, given.seed) == (7, 50, 0)


def test_a_result_has_what_the_report_reads(results):
    ways = ("random", "sentences", "random_carried", "sentences_carried")
    names = {f"{way}-{ROW}" for way in ways}
    names |= {f"{way}-{row}" for way in ways[:2] for row in (COSINE, TUNED_COSINE)}
    assert set(results) == {f"sts2016-{name}" for name in names}
    found = results[f"sts2016-random-{ROW}"]
    assert (found["task"], found["n"], found["settings"]["epochs"]) == ("sts_regression", 24, 12)
    assert found["counts"]["words_without_vector"] > 0
    assert set(found["intervals"]) == {"pearson", "mse", "pearson_sts2017_track5"}
    for name, (low, high) in found["intervals"].items():
        assert low < found["metrics"][name] < high
    folds = [fold["out_of_sample"]["pearson"] for fold in found["items"]]
    assert found["metrics"]["pearson"] == pytest.approx(sum(folds) / 2)
    # Folds with carried weights depend on each other; the pairs of the test do not.
    carried = results[f"sts2016-random_carried-{ROW}"]
    assert set(carried["intervals"]) == {"pearson_sts2017_track5"}
    cosine = results[f"sts2016-random-{COSINE}"]
    assert cosine["system"] == "module"
    assert set(cosine["module"]) == {"path", "fingerprint"}


def test_tests_that_share_sentences_with_the_corpus_are_counted(results, corpora):
    def sentences(folder):
        return {
            " ".join(words.lower().split())
            for path in (corpora / folder).iterdir()
            for line in path.read_text().splitlines()
            for words in line.split("\t")[-2:]
        }

    trained = sentences("sts2016")
    lines = (corpora / "sts2017_track5" / "STS.input.track5.txt").read_text().splitlines()
    expected = sum(any(text.lower() in trained for text in line.split("\t")) for line in lines)
    (found,) = results[f"sts2016-random-{ROW}"]["data"]["tests"].values()
    assert found["pairs_with_a_sentence_that_trains"] == expected


def test_tables_and_report_show_all_ways(finished, tmp_path):
    table = (finished / "table_2.md").read_text()
    assert "24 pairs, 2 folds, sentences, fresh weights.** 0 of the 24 pairs held out" in table
    assert "**Fresh or carried weights, folds: random.**" in table
    assert "Cosine of the module, tuned" in table
    assert (finished / "folds_random.svg").exists()
    page = tmp_path / "report.html"
    assert not evaluate(["report", "--results", str(finished / "results"), "--output", str(page)])
    shown = page.read_text()
    assert "sts2016-sentences" in shown
    assert "2 LSTM Stack and 2 LSTM Stack" in shown  # the paper's rows


def folds_of(folder, way):
    paths = sorted((folder / "folds" / way / ROW).glob("*.json"))
    return [json.loads(path.read_text()) for path in paths]


def test_carried_weights_begin_where_the_fold_before_ended(finished):
    fresh, carried = (folds_of(finished, way) for way in ("random", "random_carried"))
    assert carried[0]["predicted"] == fresh[0]["predicted"]
    assert carried[0]["losses"] == fresh[0]["losses"]
    assert carried[1]["held_out"] == fresh[1]["held_out"]
    assert carried[1]["predicted"] != fresh[1]["predicted"]


def test_what_is_done_is_not_done_again_and_rows_may_come_later(
    command, finished, tmp_path, capsys
):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    before = folds_of(folder, "random_carried")
    of_row = folder / "folds" / "random_carried" / ROW
    (of_row / "01.json").unlink()
    (of_row / "01.npz").rename(of_row / "00.npz")  # as if it had stopped before the second fold
    first = folder / "folds" / "random" / ROW / "00.json"
    marked = json.loads(first.read_text()) | {"seconds": 12345.0}
    first.write_text(json.dumps(marked))
    weights = ("--folds", 2, "--weights_between_folds", "fresh", "carried")
    main(command("run", folder, "--rows", ROW, "l2_lstm_50", *weights))
    assert json.loads(first.read_text()) == marked
    again = folds_of(folder, "random_carried")
    assert again[0] == before[0]
    # It began with the weights that were there, which here are its own last ones.
    assert again[1]["losses"][0] < before[1]["losses"][0]
    assert "| L2-LSTM 50 epochs" in (folder / "table_2.md").read_text()
    with pytest.raises(SystemExit) as ended:
        main([*command("run", folder, "--rows", ROW, *weights), "--seed", "3"])
    assert "seed 0, now it is 3" in ended.value.code


def test_sts_benchmark_has_its_own_split(command, tmp_path):
    main(command("run", tmp_path, "--corpus", "stsb", "--rows", ROW))
    (path,) = (tmp_path / "results").iterdir()
    found = json.loads(path.read_text())
    assert [found["items"][0][key] for key in ("pairs_training", "pairs_held_out")] == [12, 12]
    assert found["intervals"].keys() == {"pearson", "pearson_sts-test"}
    assert "24 pairs, its own split" in (tmp_path / "table_2.md").read_text()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--rows", "lstm7"), "--rows: 'lstm7'; accepted: lstm2_lstm2,"),
        (("--folds", 25), "--folds: 25"),
        (("--learning_rate", 0), "--learning_rate: 0.0"),
        (("--seed", 2**32), "--seed: 4294967296"),
        (("--dim", 300), "300"),
        (("--corpus", "stsb", "--weights_between_folds", "carried"), "stsb has its own split"),
    ],
)
def test_what_cannot_be_run_is_told_in_a_line(command, tmp_path, options, named):
    with pytest.raises(SystemExit) as ended:
        main(command("run", tmp_path / "run", *options))
    assert named in ended.value.code
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def data(corpora, glove):
    """The corpus of 24 pairs, with embeddings as a module would give them."""
    quick = settings.Settings(folds=2, epoch_share=0.04, learning_rate=1e-2)
    found = prepared.prepare(corpora, "sts2016", settings=quick, vectors_path=glove)
    draw = np.random.default_rng(0)

    def embedded(some):
        sides = (draw.normal(size=(len(some.scores), 5)) for _ in range(2))
        units = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides)
        return some._replace(embeddings=prepared.Embeddings(*units))

    tests = {name: embedded(test) for name, test in found.tests.items()}
    return found._replace(corpus=embedded(found.corpus), tests=tests)


@pytest.fixture
def compute(tmp_path):
    """The first fold of a row."""
    quick = settings.Settings(folds=2, epoch_share=0.04, learning_rate=1e-2)
    return lambda row, data: run.compute(Fold(row, "random", 0), quick, data, output=tmp_path)


@pytest.mark.parametrize("row", [ROW, COSINE, pytest.param(TUNED_COSINE, marks=pytest.mark.slow)])
def test_nothing_is_learned_from_the_scores_of_pairs_held_out_and_tests(row, data, compute):
    def changed(some, indices):
        scores = some.scores.copy()
        scores[indices] = 5 - scores[indices]
        return some._replace(scores=scores)

    training_pairs, held_out = data.splits["random"][0]
    tests = {name: changed(test, slice(None)) for name, test in data.tests.items()}
    other = data._replace(corpus=changed(data.corpus, held_out), tests=tests)
    one, two = (compute(row, each) for each in (data, other))
    assert one["predicted"] == two["predicted"]
    assert one["in_sample"] == two["in_sample"]
    assert one["out_of_sample"]["mse"] != two["out_of_sample"]["mse"]
    # And what does train is learned from.
    if row != COSINE:
        third = compute(row, data._replace(corpus=changed(data.corpus, training_pairs)))
        assert one["predicted"] != third["predicted"]


def test_nothing_is_learned_from_the_sentences_of_pairs_held_out(data, compute):
    """SIF has word frequencies and a common component of its training fold alone."""
    first = list(data.corpus.first)
    for index in data.splits["random"][0].held_out[1:]:
        first[index] = [2, 2, 2, 2]
    other = data._replace(corpus=data.corpus._replace(first=first))
    one, two = (compute(ROW, each) for each in (data, other))
    assert one["losses"] == two["losses"]
    assert one["predicted"][0] == two["predicted"][0]


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_a_fold_that_diverged(data, compute, monkeypatch, value):
    def train(regressor, *_, **__):
        bias = regressor.trainable_variables[-1]
        bias.assign(bias + tf.cast(value, tf.float32))
        return [1.0, 0.5]

    monkeypatch.setattr(training, "train", train)
    found = compute(ROW, data)
    assert found["diverged_in_epoch"] == 4
    assert "predicted" not in found
