"""The command `baselines`."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.conftest import REPOSITORY

ROWS = "".join(
    f"main-news\tf\t2012\t{i}\t{gold}\tthe dog {'runs ' * i}\tthe dog runs\n"
    for i, gold in enumerate([1, 2, 4, 5])
)


@pytest.fixture
def installed(sentence_transformers):
    """Letters counted."""
    sentence_transformers(lambda text: [1.0, text.count("r"), len(text)])


def test_the_command_scores_them_all(write_text, xml_file, tmp_path, installed, run):
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
        found = json.loads((folder / "sts-test.json").read_text())
        assert found["metrics"]["pearson"] is not None
        name = found["module"]["path"].removeprefix(f"{tmp_path}/")
        assert re.sub(r"[ (/=]+", "_", name).rstrip(")") == folder.name
        assert (folder / "cqa-dev.json").exists()
    found = json.loads((folders[1] / "cqa-dev.json").read_text())
    assert found["metrics"]["map"] == 1.0
    assert run(*argv).count("already there") == 25


BASELINES, STS = "baselines --sts stsb ", "sts --module m --data d "


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("baselines", "--response_ranking"),
        (BASELINES + "--training_pairs pairs", "--response_ranking"),
        (BASELINES + "--queries q --documents d", "--relevant"),
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
    found = json.loads(path.read_text())
    assert found["metrics"]["p_at_1"] == 1.0
    assert "on 200 pairs; P@1 of 100 on 100 validation pairs" in found["module"]["about"]
    tuned = {path.parent.name for path in (results / "baselines").glob("*/sts-test-tuned.json")}
    untrained = {"untrained_words_SIF", "untrained_words_and_letters_SIF"}
    assert tuned == {*untrained, "toy_SIF", "toy_averaged"}
