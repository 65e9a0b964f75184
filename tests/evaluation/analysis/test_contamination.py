import dataclasses
import json

import numpy as np
import pytest

from common import sts as sts_files
from common.errors import InputError
from common.tfrecord import parse_records
from evaluation.analysis import contamination
from evaluation.data import overlap, ranking_files
from evaluation.results import store
from evaluation.results.store import Evaluation
from evaluation.tasks import evaluate, sts
from tests.evaluation.report.results_of import ranking

PAIRS = [
    (5, "A dog runs.", "The dog is running"),
    (4, "Birds fly south", "birds are flying"),
    (3, "he is at home", "she is at work"),
    (2, "the sun", "a moon and stars"),
    (1, "no", "it rains a lot"),
    (0, "green tea", "an old car"),
]
ROWS = "".join(f"main-news\tf\t2012\t1\t{score}\t{a}\t{b}\n" for score, a, b in PAIRS)


def test_pairs_in_either_order_and_texts_anywhere():
    items = {"set": [(left, right) for _, left, right in PAIRS]}
    training = [
        ("the dog is RUNNING!", "a dog, runs"),  # the first pair, turned round
        ("Birds fly south.", "something else"),  # one text of the second
        ("whatever", "else", "HE is\tat\u2026 \uff28ome", ""),  # one of the third, as context
        ("a moon and stars", "green tea"),  # texts of two, but no pair
        ("no", "whatever"),  # too short to tell anything
    ]
    found = overlap.find(items, iter(training))["set"]
    assert (found.pairs, found.texts, found.records) == ({0}, {0, 1, 2, 3, 5}, 5)


def test_training_files_of_every_kind(write_records, tmp_path):
    in_context = {"input": "c", "response": "d", "context/1": "f", "context/0": "e"}
    pairs = write_records(
        "pairs/train-0.tfrecord", [{"input": "a", "response": "b", "thread_id": "t"}, in_context]
    )
    of_nli = write_records(
        "pairs/nli-0.tfrecord", [{"premise": "p", "hypothesis": "h"}, {"premise": "q"}]
    )
    found = ranking_files.find_files(tmp_path / "pairs", *contamination.TRAINING)
    assert found == (of_nli, pairs)
    texts, nli = (parse_records(path, contamination.training_texts) for path in (pairs, of_nli))
    assert list(texts) == [("a", "b"), ("c", "d", "e", "f")]
    with pytest.raises(InputError, match=r"nli-0\.tfrecord: record 2: .*hypothesis"):
        list(nli)
    with pytest.raises(InputError, match="nothing"):
        ranking_files.find_files(tmp_path / "nothing", *contamination.TRAINING)


@pytest.fixture
def stored(write_text, tmp_path, word_encoder):
    """The data, and a module's result on them."""
    write_text("stsb/sts-dev.csv", ROWS)
    (source,) = sts_files.sources(tmp_path / "stsb")
    one = Evaluation(
        source=source,
        compute=lambda: sts.evaluate(word_encoder, sts_files.read(source)),
        module={"path": "m", "fingerprint": "c0"},
    )
    (found,) = store.results([one], output=tmp_path / "results", command="c")
    return found


def test_scores_without_what_overlaps(stored, write_records, tmp_path, run, fails):
    records = [("the dog is running", "A dog runs"), ("else", "nothing")]
    train = write_records(
        "train-1.tfrecord", [{"input": left, "response": right} for left, right in records]
    )
    argv = ["contamination", "--training", train, "--sts", tmp_path / "stsb"]
    argv += ["--output", tmp_path / "out"]
    assert "records 2, pairs in training 1" in run(*argv, "--results", tmp_path / "results")
    path = tmp_path / "out" / "contamination-sts-dev.json"
    found = json.loads(path.read_text())
    assert found["metrics"] == stored.metrics  # the official figure stays the headline
    left = found["groups"]["without pairs in training"]
    scores = np.array([item["score"] for item in stored.items])
    assert left["n"] == 5
    assert left["metrics"]["pearson"] == pytest.approx(
        np.corrcoef(scores[1:], [4, 3, 2, 1, 0])[0, 1]
    )
    assert found["items"] == [{"row": 0, "texts": list(PAIRS[0][1:]), "pair": True}]
    assert found["data"]["learned_from"]["files"] == ["train-1.tfrecord"]
    run(*argv)
    shares = {"pairs_in_training": 1 / 6, "texts_in_training": 1 / 6}
    assert json.loads(path.read_text())["metrics"] == pytest.approx(shares)
    empty = write_records("train-0.tfrecord", [])
    assert str(empty) in fails("contamination", "--training", empty, *argv[3:])


def test_sets_of_other_tasks_that_are_scored_and_have_text(
    write_text, xml_file, write_records, tmp_path, run
):
    nli = json.dumps({"premise": "a man sleeps", "hypothesis": "he rests", "label": "neutral"})
    for split in ("train", "dev"):
        write_text(f"snli/snli_1.0_{split}.jsonl", f"{nli}\n")
    xml_file("cqa/dev.xml", [("Q1", "red house", "", "R1", 1, "Relevant", "the red house")])
    write_text("cqa/test.xml.subtaskB.relevancy", "Q\tR\t1\t1\ttrue\n")
    train = write_records("train-0.tfrecord", [{"input": "He rests!", "response": "a man sleeps"}])
    argv = ["--training", train, "--snli", tmp_path / "snli", "--cqa", tmp_path / "cqa"]
    run("contamination", *argv, "--output", tmp_path / "out")
    found = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "out").iterdir()}
    counts = {name: one["counts"]["pairs_in_training"] for name, one in found.items()}
    assert counts == {"contamination-snli-dev": 1, "contamination-cqa-dev": 0}


def test_results_must_be_of_the_same_data_and_order(
    stored, write_text, write_records, tmp_path, fails
):
    """Before the training data, which are damaged here, are read."""
    base = ["contamination", "--training", write_text("x.csv", "x\n"), "--output", tmp_path / "out"]
    assert "--sts" in fails(*base)
    stsb = ["--sts", tmp_path / "stsb"]
    assert "sts-dev" in fails(*base, *stsb, tmp_path / "stsb")
    fewer = dataclasses.replace(stored, items=stored.items[1:], n=len(PAIRS) - 1)
    store.write(fewer, tmp_path / "fewer")
    assert f"{len(PAIRS) - 1} items" in fails(*base, *stsb, "--results", tmp_path / "fewer")
    write_text("stsb/sts-dev.csv", ROWS + ROWS)
    results = ["--results", tmp_path / "results"]
    assert "other data" in fails(*base, *stsb, *results)
    other = write_text("sts-other.csv", ROWS)
    assert "sts-other" in fails(*base, "--sts", other, *results)
    store.write(ranking(1, 2, settings={"seed": 0}), tmp_path / "results")
    pairs = write_records("test-0.tfrecord", [{"input": "a", "response": "b"}])
    assert "other data" in fails(*base, "--response_ranking", pairs, *results)


def test_pairs_are_chosen_ordered_and_named_as_their_results_have_them(
    write_records, word_encoder, tmp_path, run
):
    word_encoder.provenance = lambda: {"path": "m", "fingerprint": "c0"}
    records = [
        {"input": text, "input_id": text, "response": f"answer {n}", "response_id": str(n)}
        | {"own_reply": "true" if n < 2 else "false"}
        for n, text in enumerate(f"question {n}" for n in range(9))
    ]
    pairs = write_records("pairs/test-0.tfrecord", records)
    asked = [{}, {"own_replies": True, "name": "own"}, {"seed": 3, "name": "other"}]
    for settings in asked:
        of = {"candidates": 4, "output": tmp_path / "results", **settings}
        evaluate(word_encoder, "response_ranking", pairs, **of)
    train = write_records("train-0.tfrecord", [records[0], records[5]])
    argv = ["contamination", "--training", train, "--response_ranking", pairs]
    run(*argv, "--results", tmp_path / "results", "--output", tmp_path / "out")
    names = {"response_ranking": 1, "response_ranking-own": 2, "response_ranking-other": 1}
    for name, leaked in names.items():
        found, scored = (
            json.loads((tmp_path / folder / f"{prefix}{name}.json").read_text())
            for folder, prefix in (("out", "contamination-"), ("results", ""))
        )
        assert found["counts"]["pairs_in_training"] == leaked
        assert found["groups"]["without pairs in training"]["n"] == scored["n"] - leaked
        assert len(found["items"]) == leaked
        for item in found["items"]:
            assert item["texts"][0] == scored["items"][item["row"]]["input_id"]
