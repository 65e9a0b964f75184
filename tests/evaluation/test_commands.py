"""The commands that score, from files to results and the report; the public names."""

import doctest
import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import evaluation
from tests.conftest import REPOSITORY

ROWS = "".join(
    f"main-news\tf\t2012\t{i}\t{gold}\tthe dog {'runs ' * i}\tthe dog runs\n"
    for i, gold in enumerate([1, 2, 4, 5])
)


def stored(path):
    return json.loads(path.read_text())


def test_the_way_through(module, write_text, xml_file, tmp_path, run):
    data, results = tmp_path / "data", tmp_path / "results"
    write_text("data/sts-dev.csv", ROWS)
    write_text("data/sts-test.csv.gz", ROWS)
    xml_file(
        "data/cqa/dev.xml",
        [
            ("Q1", "red house", "", "R1", 1, "Irrelevant", "nuts and oats"),
            ("Q1", "red house", "", "R2", 2, "Relevant", "the red house"),
        ],
    )
    write_text("data/cqa/test.xml.subtaskB.relevancy", "Q\tR\t1\t1\ttrue\n")
    common = ["--module", module, "--output", results]
    printed = run("sts", "--data", data, *common) + run("cqa", "--data", data / "cqa", *common)
    for said in ("Pearson", "word overlap", "search engine"):
        assert said in printed
    names = sorted(path.name for path in results.iterdir())
    assert names == [*("cqa-dev.json", "cqa-test.json", "sts-dev.json", "sts-test.json")]
    found = stored(results / "sts-test.json")
    assert found["n"] == 4
    assert found["data"]["file"] == "sts-test.csv.gz"
    assert len(found["data"]["sha256"]) == 64
    assert found["module"]["path"] == str(module)
    assert int(found["module"]["fingerprint"], 16)
    packages = {"tensorflow", "tensorflow_text", "numpy", "scipy"}
    assert set(found["versions"]) == {"python", *packages}
    words = found["command"].split()
    assert words[:4] == ["python", "-m", "evaluation", "sts"]
    assert words[words.index("--data") + 1] == str(data)
    assert found["seconds"] > 0
    assert found["settings"] == {"seed": 0, "resamples": 2000}
    low, high = found["intervals"]["pearson"]
    assert -1 <= low < found["metrics"]["pearson"] < high <= 1
    assert set(found["groups"]["main-news"]) == {"n", "metrics", "intervals"}
    assert "word_overlap" in found["baseline_intervals"]
    assert stored(results / "cqa-dev.json")["metrics"]["map"] == 1.0
    assert stored(results / "cqa-test.json")["module"] is None

    page = tmp_path / "site" / "report.html"
    printed = run("report", "--results", results, "--output", page)
    assert "sts-test" in printed
    for text in (printed, page.read_text()):
        assert f"{found['metrics']['pearson']:.4f}" in text
    assert [path.name for path in page.parent.iterdir()] == ["report.html"]


def test_tuning_goes_on_beside_the_untuned_scores(module, write_text, tmp_path, run, fails):
    write_text("data/sts-dev.csv", ROWS)
    results = tmp_path / "results"
    argv = ["sts", "--tune", "--module", module, "--data", tmp_path / "data", "--output", results]
    assert "sts-train.csv" in fails(*argv)
    write_text("data/sts-train.csv", ROWS + ROWS.replace("dog", "hound"))
    write_text("data/sts-test.csv", ROWS)
    assert "sts_matrix: start" in run(*argv)
    matrix = results / "sts_matrix.npz"
    names = {f"sts-{split}{end}.json" for split in ("dev", "test") for end in ("", "-tuned")}
    assert {path.name for path in results.iterdir()} == {*names, matrix.name}
    found = stored(results / "sts-test-tuned.json")
    assert found["system"] == "module_tuned"
    assert set(found["baselines"]) == {"untuned", "word_overlap"}
    assert found["data"]["learned_from"]["files"] == ["sts-train.csv", "sts-dev.csv"]
    before = matrix.stat().st_mtime_ns
    assert run(*argv).count("already there") == 4
    assert matrix.stat().st_mtime_ns == before


def test_response_ranking_passes_its_settings(module, write_records, tmp_path, run, fails):
    words = ["had", "hound", "rent", "toast", "sort", "nose", "dust"]
    write_records(
        "test-0.tfrecord", [{"input": word, "response": f"{word} {word}"} for word in words]
    )
    argv = ["response_ranking", "--module", module, "--data", tmp_path, "--output", tmp_path]
    for wrong in (1, 100):
        assert "--candidates" in fails(*argv, "--candidates", wrong)
    run(*argv, "--candidates", 5, "--seed", 3)
    found = stored(tmp_path / "response_ranking.json")
    assert found["settings"] == {"candidates": 5, "seed": 3, "resamples": 2000}
    low, high = found["intervals"]["p_at_3"]
    assert low <= found["metrics"]["p_at_3"] <= high
    assert found["n"] == 7
    assert set(found["metrics"]) == {"p_at_1", "p_at_3", "p_at_10"}
    mistakes = ["mistakes", "--module", "nowhere", "--response_ranking", tmp_path]
    assert "--candidates" in fails(*mistakes, "--output", tmp_path)


def test_data_of_ones_own(module, write_text, tmp_path, run, fails):
    pairs = "".join(f"the dog {'runs ' * i},the dog runs,{10 * i}\n" for i in range(7))
    pairs = write_text("pairs.csv", f'left,right,score\nred house,"a ""red"" house",90\n{pairs}')
    files = {
        "--queries": write_text("queries.tsv", "q1\tred house\nq2\tnuts\n"),
        "--documents": write_text("documents.tsv", "d1\tthe red house\nd2\tnuts and oats\n"),
        "--relevant": write_text("qrels.txt", "q1 0 d1 1\nq2 0 d2 1\n"),
    }
    retrieval = [part for option in files.items() for part in option]
    results = tmp_path / "results"
    common = ["--module", module, "--output", results]
    columns = ("left", "right", "score")
    printed = run("sts", "--data", pairs, "--columns", *columns, *common)
    assert "sts-pairs" in printed
    assert "BM25" in run("retrieval", *retrieval, *common)
    found = stored(results / "sts-pairs.json")
    assert found["settings"]["columns"] == "left, right, score"
    assert set(found["intervals"]) == {"pearson", "spearman", "cosine_pearson"}
    found = stored(results / "retrieval-qrels.json")
    assert found["metrics"]["mrr_at_10"] == 1.0
    assert found["data"]["files"] == ["queries.tsv", "documents.tsv", "qrels.txt"]

    baselines = ["baselines", "--sts", pairs, "--columns", *columns, "--quotes", "none"]
    run(*baselines, *retrieval, "--output", results)
    found = stored(results / "baselines" / "TF-IDF" / "sts-pairs.json")
    assert found["settings"]["quotes"] is False
    assert found["items"][0]["sentence2"] == '"a ""red"" house"'
    assert (results / "baselines" / "TF-IDF" / "retrieval-qrels.json").exists()

    page = tmp_path / "report.html"
    run("report", "--results", results, "--output", page)
    table = page.read_text().partition("retrieval</h2>")[2].partition("<h2>")[0]
    for system, kind in (("this module", "ours"), ("TF-IDF", "baseline"), ("BM25", "baseline")):
        assert f'<tr class="{kind}"><th>{system}</th>' in table
    # Other columns, or none, are other data.
    for other in (
        ["--columns", "right", "left", "score"],
        ["--columns", *columns, "--quotes", "none"],
    ):
        assert "already there" in fails("sts", "--data", pairs, *other, *common)
    again = [*retrieval, *common, "--ignore_identical_ids"]
    assert "ignore_identical_ids" in fails("retrieval", *again)
    run("retrieval", *again, "--again")
    assert stored(results / "retrieval-qrels.json")["settings"]["ignore_identical_ids"] is True
    assert "ignore_identical_ids" in fails("retrieval", *retrieval, *common)


def test_bad_data_are_found_before_the_module_is_loaded(write_text, xml_file, tmp_path, fails):
    bad = write_text("sts-dev.csv", ROWS + "main-news\tonly\tthree\n")
    output = ["--output", tmp_path / "results"]
    assert f"{bad}:5" in fails("sts", "--module", tmp_path, "--data", bad, *output)
    good = write_text("good.csv", ROWS)
    assert str(tmp_path) in fails("sts", "--module", tmp_path, "--data", good, *output)
    assert "nowhere" in fails("cqa", "--data", tmp_path / "nowhere", *output)
    labels = write_text("labels.relevancy", "Q\tR\t1\t1\ttrue\n")
    assert str(labels) in fails("cqa", "--data", labels, "--output", labels / "results")
    row = ("Q1", "red house", "", "R1", 1, "Relevant", "nuts and oats")
    assert "--module" in fails("cqa", "--data", xml_file("q.xml", [row]), *output)
    assert not (tmp_path / "results").exists()


def test_stored_results_are_looked_at_before_any_is_computed(module, write_text, tmp_path, fails):
    for split in ("dev", "test"):
        write_text(f"stsb/sts-{split}.csv", ROWS)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sts-test.json").write_text("{")
    sts = ["sts", "--module", module, "--data", tmp_path / "stsb", "--output", tmp_path / "out"]
    assert "sts-test.json" in fails(*sts)
    assert not (tmp_path / "out" / "sts-dev.json").exists()
    # Scores that are all the same are an error, and no result.
    same = "".join(f"main-news\tf\t2012\t{i}\t{i}\tthe dog\tthe dog\n" for i in range(3))
    write_text("stsb/sts-dev.csv", same)
    assert "sts-dev" in fails(*sts[:4], tmp_path / "stsb" / "sts-dev.csv", *sts[5:])
    assert not (tmp_path / "out" / "sts-dev.json").exists()


def test_the_examples_run(module, tmp_path, monkeypatch):
    shutil.copytree(module, tmp_path / "module")
    (tmp_path / "stsb").mkdir()
    rows = [
        (5, "the dog", "the dogs"),
        (2, "a house", "north"),
        (0, "run", "a tree"),
        (3, "a", "do"),
    ]
    lines = [f"main-news\tf\t2012\t{i}\t{gold}\t{a}\t{b}" for i, (gold, a, b) in enumerate(rows)]
    (tmp_path / "stsb" / "sts-dev.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(evaluation, raise_on_error=True).attempted > 10
    assert (tmp_path / "report.html").exists()


def test_every_public_name_is_there_and_no_other():
    assert all(hasattr(evaluation, name) for name in evaluation.__all__)
    assert not hasattr(evaluation, "other")


@pytest.fixture
def installed(sentence_transformers):
    """Letters counted."""
    sentence_transformers(lambda text: [1.0, text.count("r"), len(text)])


def test_baselines_are_scored_on_all(write_text, xml_file, tmp_path, installed, run):
    write_text("data/sts-dev.csv", ROWS)
    write_text("data/sts-test.csv", ROWS)
    rows = [
        ("Q", "red house", "", f"R{i}", i, label, text)
        for i, label, text in [(1, "Irrelevant", "nuts and oats"), (2, "Relevant", "the red house")]
    ]
    xml_file("data/cqa/dev.xml", rows)
    glove = write_text("toy.txt", "dog 1 0\nruns 1 2\nred 0 1\nnuts 1 0\n")
    argv = ["baselines", "--sts", tmp_path / "data", "--cqa", tmp_path / "data" / "cqa"]
    argv += ["--vectors", glove, "--sentence_transformers", "some/model"]
    (tmp_path / "lm").mkdir()
    argv += [tmp_path / "lm", f"called=it={tmp_path}", "--output", tmp_path / "results"]
    run(*argv)
    folders = sorted((tmp_path / "results" / "baselines").iterdir())
    names = ["BM25", "TF-IDF", "called_it", "lm", "some_model", "toy_SIF", "toy_averaged"]
    names += ["untrained_words_SIF", "untrained_words_and_letters_SIF"]
    assert [path.name for path in folders] == names
    assert [path.name for path in folders[0].glob("*.json")] == ["cqa-dev.json"]
    for folder in folders[1:]:
        found = stored(folder / "sts-test.json")
        assert found["metrics"]["pearson"] is not None
        name = found["module"]["path"].removeprefix(f"{tmp_path}/")
        assert re.sub(r"[ (/=]+", "_", name).rstrip(")") == folder.name
        assert (folder / "cqa-dev.json").exists()
    found = stored(folders[1] / "cqa-dev.json")
    assert found["metrics"]["map"] == 1.0
    assert run(*argv).count("already there") == 25


BASELINES, STS = "baselines --sts stsb ", "sts --module m --data d "


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("baselines", "--response_ranking"),
        (BASELINES + "--training_pairs pairs", "--response_ranking"),
        (BASELINES + "--queries q --documents d", "--relevant"),
        ("baselines --snli d --columns a b c", "--sts"),
        (BASELINES + "--tune", "sts-train.csv"),
        (BASELINES + "--vectors nowhere", "nowhere"),
        (BASELINES + "--module_words nowhere", "nowhere"),
        (BASELINES + "--vectors a/x.txt b/x.vec.gz", "baselines/x"),
        (BASELINES + "--modules a/m b/m", "baselines/m"),
        (BASELINES + "--modules BM25", "baselines/BM25"),
        (BASELINES + "--sentence_transformers missing", "missing: missing is not a model"),
        (STS + "--columns a a s", "--columns"),
        (STS + "--columns a b c --tune", "--tune"),
        (STS + "--quotes none", "--quotes"),
        (STS + "--columns a b c --escape xx", "--escape"),
    ],
)
def test_what_cannot_be_is_refused_before_any(
    asked, named, module, installed, fails, tmp_path, write_text, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("a/x.txt", "b/x.vec.gz"):
        write_text(name, "")
    for name in ("a/m", "b/m", "BM25"):
        shutil.copytree(module, name)
    write_text("stsb/sts-dev.csv", ROWS)
    assert named in fails(*asked.split(), "--output", "out")
    assert not (tmp_path / "out").exists()


def test_sentence_transformers_are_loaded_before_tensorflow(write_text, tmp_path):
    """Behind it, PyTorch's compiler ends the process: both bring an LLVM."""
    write_text("sentence_transformers.py", "import sys; raise ImportError(sys.modules.keys())")
    write_text("data/sts-dev.csv", ROWS)
    command = [sys.executable, "-m", "evaluation", "baselines", "--sentence_transformers", "any"]
    done = subprocess.run(
        [*command, "--sts", tmp_path / "data", "--output", tmp_path / "results"],
        cwd=REPOSITORY,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "error: any: dict_keys(" in done.stderr
    assert "'tensorflow'" not in done.stderr


@pytest.mark.slow
def test_maps_are_learned_on_training_pairs_and_embeddings_tuned(
    write_text, write_records, tmp_path, run, fails
):
    def records(name, numbers):
        """The response repeats a word of the input."""
        texts = [{"input": f"word{n} and", "response": f"word{n} or"} for n in numbers]
        return write_records(f"pairs/{name}-00000-of-00001.tfrecord", texts)

    for split in ("dev", "test", "train"):
        write_text(f"stsb/sts-{split}.csv", ROWS)
    records("test", range(100))
    results = tmp_path / "results"
    argv = ["baselines", "--response_ranking", tmp_path / "pairs", "--output", results]
    argv += ["--training_pairs", tmp_path / "pairs", "--tune", "--sts", tmp_path / "stsb"]
    known = ["dog", "runs", *(f"word{n}" for n in range(600))]
    numbers = np.random.default_rng(0).normal(size=(len(known), 8)).astype(str)
    rows = "".join(" ".join([known[i], *numbers[i]]) + "\n" for i in range(len(known)))
    argv += ["--vectors", write_text("toy.txt", rows)]
    assert "train-" in fails(*argv)
    assert not results.exists()
    records("train", range(200, 400))
    records("validation", range(500, 600))
    run(*argv)
    folders = {path.name for path in (results / "baselines").iterdir()}
    mapped = {name for name in folders if name.endswith("_mapped")}
    assert mapped == {"toy_SIF_mapped"}
    (path,) = (results / "baselines" / "toy_SIF_mapped").glob("*.json")
    found = stored(path)
    assert found["metrics"]["p_at_1"] == 1.0
    assert "on 200 pairs; P@1 of 100 on 100 validation pairs" in found["module"]["about"]
    tuned = {path.parent.name for path in (results / "baselines").glob("*/sts-test-tuned.json")}
    untrained = {"untrained_words_SIF", "untrained_words_and_letters_SIF"}
    assert tuned == {*untrained, "toy_SIF", "toy_averaged"}
