import json
from functools import partial

import numpy as np
import pytest
from tqdm import tqdm

from evaluation.__main__ import main
from evaluation.analysis import contamination
from evaluation.data import overlap, sts_files, training_texts
from evaluation.data.files import Source
from evaluation.errors import InputError
from evaluation.tasks import sts
from evaluation.tasks.evaluate import Evaluation, Store

ROW = "main-news\tf\t2012\t1\t{}\t{}\t{}\n"
PAIRS = [
    (5, "A dog runs.", "The dog is running"),
    (4, "Birds fly south", "birds are flying"),
    (3, "he is at home", "she is at work"),
    (2, "the sun", "a moon and stars"),
    (1, "no", "it rains a lot"),
    (0, "green tea", "an old car"),
]


def test_normalization_by_hand():
    assert overlap.normalize("  It\u2019s  a\tDOG\u2026 ") == "it s a dog"
    assert overlap.normalize("\uff21\uff22c_d") == "abc d"
    assert overlap.normalize("STRASSE") == overlap.normalize("stra\u00dfe")


def test_pairs_in_either_order_and_texts_anywhere():
    items = {"set": [(left, right) for _, left, right in PAIRS]}
    training = [
        ("the dog is RUNNING!", "a dog, runs"),  # the first pair, turned round
        ("Birds fly south.", "something else"),  # one text of the second
        ("a moon and stars", "green tea"),  # texts of two, but no pair
        ("no", "whatever"),  # too short to tell anything
    ]
    found = overlap.find(items, iter(training))["set"]
    assert found.pairs == [0]
    assert found.texts == [0, 1, 3, 5]


def test_context_turns_are_texts_of_their_record():
    items = {"set": [("A dog runs.", "the sun"), ("one two", "three four")]}
    found = overlap.find(items, [("one two", "else", "a dog runs", "")])
    assert (found["set"].pairs, found["set"].texts) == ([], [0, 1])


def test_several_sets_are_told_apart():
    items = {"a": [("one two", "three four")], "b": [("five six", "one two")]}
    found = overlap.find(items, [("one two", "three four")])
    assert (found["a"].pairs, found["a"].texts) == ([0], [0])
    assert (found["b"].pairs, found["b"].texts) == ([], [0])


def test_repeats_by_hand():
    rows = [("a b", "c d", 1), ("C d!", "a b", 1), ("c d", "a b", 2), ("x y", "z", 3)]
    assert overlap.repeats(rows) == {"duplicate_pairs": 2, "conflicting_pairs": 3}


def test_training_files_of_every_kind(write_text, tmp_path):
    nli = write_text(
        "nli/train.jsonl.gz",
        "".join(
            json.dumps({"gold_label": label, "sentence1": "p", "sentence2": f"h {label}"}) + "\n"
            for label in ("neutral", "-", "entailment")
        ),
    )
    assert training_texts.find(tmp_path / "nli") == [nli]
    assert list(training_texts.read(nli)) == [("p", "h neutral"), ("p", "h entailment")]
    csv = write_text("sts-train.csv", ROW.format(1, "a", "b"))
    assert list(training_texts.read(csv)) == [("a", "b")]
    with pytest.raises(InputError, match=r"\.tfrecord, \.jsonl, \.txt and \.csv are accepted"):
        list(training_texts.read(write_text("a.xml", "")))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no training files"):
        training_texts.find(tmp_path / "empty")


@pytest.mark.parametrize("is_shown", [True, False])
def test_scores_without_what_overlaps(
    write_text, tmp_path, word_encoder, capsys, monkeypatch, is_shown
):
    monkeypatch.setattr("tqdm.tqdm", partial(tqdm, disable=not is_shown))
    dev = write_text("stsb/sts-dev.csv", "".join(ROW.format(*pair) for pair in PAIRS))
    train = write_text("sts-train.csv", ROW.format(2, "the dog is running", "A dog runs"))
    (source,) = sts_files.find(tmp_path / "stsb")
    assert source == Source("sts-dev", (dev,))
    store = Store(output=tmp_path / "results", command="c")
    one = Evaluation(
        source=source,
        compute=lambda: sts.evaluate(word_encoder, sts_files.read(source)),
        module={"path": "m", "fingerprint": "c0"},
    )
    (scored,) = store.results([one])
    argv = ["contamination", "--training", train, "--sts", tmp_path / "stsb"]
    argv += ["--results", store.output, "--output", tmp_path / "out"]
    assert main([str(argument) for argument in argv]) == 0
    assert "training records 1, pairs in training 1, texts in training 1" in capsys.readouterr().out
    found = json.loads((tmp_path / "out" / "contamination-sts-dev.json").read_text())
    assert found["metrics"] == scored.metrics  # the official figure stays the headline
    left = found["groups"]["without pairs in training"]
    scores = np.array([item["score"] for item in scored.items])
    assert left["n"] == 5
    assert left["metrics"]["pearson"] == pytest.approx(
        np.corrcoef(scores[1:], [4, 3, 2, 1, 0])[0, 1]
    )
    assert found["items"] == [{"row": 0, "texts": list(PAIRS[0][1:]), "pair": True}]
    assert found["data"]["learned_from"]["files"] == ["sts-train.csv"]


def test_results_of_other_data_are_refused(write_text, tmp_path, word_encoder):
    write_text("sts-dev.csv", "".join(ROW.format(*pair) for pair in PAIRS))
    (dev,) = contamination.find("sts", tmp_path, seed=0)
    scored = sts.evaluate(word_encoder, sts_files.read(dev.source))
    nothing = overlap.find({"x": dev.items}, [])["x"]
    with pytest.raises(InputError, match="computed on other data"):
        contamination.result_of(nothing, of=dev, records=0, scored=scored, seed=0)
    found = contamination.result_of(nothing, of=dev, records=9, scored=None, seed=0)
    assert found.metrics == {"pairs_in_training": 0.0, "texts_in_training": 0.0}


def test_an_evaluation_set_is_needed(write_text, tmp_path, capsys):
    train = write_text("sts-train.csv", ROW.format(1, "a", "b"))
    assert main(["contamination", "--training", str(train), "--output", str(tmp_path)]) == 1
    assert "no evaluation sets: give some of --response_ranking" in capsys.readouterr().err


def test_training_data_without_a_record_prove_nothing(write_text, tmp_path, capsys):
    empty = write_text("train-0.tfrecord", "")
    rows = "".join(ROW.format(*pair) for pair in PAIRS)
    test = write_text("sts-test.csv", rows)
    argv = ["contamination", "--training", str(empty), "--sts", str(test)]
    assert main([*argv, "--output", str(tmp_path / "out")]) == 1
    said = f"--training {empty}: no records; accepted: files with training records"
    assert said in capsys.readouterr().err
    assert not list(tmp_path.glob("out/*.json"))


def test_tfrecords_of_pairs_and_of_inference(tmp_path):
    import tensorflow as tf

    def write(name, *records):
        with tf.io.TFRecordWriter(str(tmp_path / name)) as writer:
            for record in records:
                features = {
                    key: tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))
                    for key, text in record.items()
                }
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(example.SerializeToString())

    write("train-0.tfrecord", {"input": "a", "response": "b", "thread_id": "t"})
    in_context = {"input": "c", "response": "d", "context/1": "f", "context/0": "e"}
    write("train-1.tfrecord", in_context)
    write("nli-0.tfrecord", {"premise": "p", "hypothesis": "h"}, {"premise": "q"})
    first, *rest = training_texts.find(tmp_path)
    assert [path.name for path in (first, *rest)] == [
        *("nli-0.tfrecord", "train-0.tfrecord", "train-1.tfrecord"),
    ]
    assert [texts for path in rest for texts in training_texts.read(path)] == [
        ("a", "b"),
        ("c", "d", "e", "f"),
    ]
    with pytest.raises(InputError, match=r"nli-0\.tfrecord: record 2: feature 'hypothesis' has 0"):
        list(training_texts.read(first))
