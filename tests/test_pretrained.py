"""The module in the repository: whole, small, and as good as its card says."""

import doctest
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import conversational_embeddings
import pytest

from export.card import identity, model_card
from export.module import plain

REPOSITORY = Path(__file__).parents[1]
README = REPOSITORY / "README.md"
FOLDER = REPOSITORY / "pretrained"
MODULE = FOLDER / "conversations-small"
DATA = os.environ.get("CONVERSATIONS_DATA")
SCORE = """
import csv, gzip, json, sys
import numpy as np
import tensorflow as tf
import tensorflow_text

module, data = sys.argv[1:]
signatures = tf.saved_model.load(module).signatures


def run(name, output, **texts):
    rows = range(0, len(next(iter(texts.values()))), 500)
    parts = ({k: tf.constant(side[at : at + 500]) for k, side in texts.items()} for at in rows)
    return np.concatenate([signatures[name](**some)[output].numpy() for some in parts])


for split in ("dev", "test"):
    with open(f"{data}/stsb/sts-{split}.csv", encoding="utf-8") as file:
        rows = [line.rstrip("\\n").split("\\t") for line in file]
    gold = [float(row[4]) for row in rows]
    sides = ([row[column] for row in rows] for column in (5, 6))
    found = run("similarity", "score", **dict(zip(("sentences1", "sentences2"), sides)))
    print(json.dumps([f"sts-{split}", "pearson", np.corrcoef(gold, found)[0, 1]]))
with gzip.open(f"{data}/nli/snli_1.0_test.jsonl.gz", "rt", encoding="utf-8") as file:
    pairs = [json.loads(line) for line in file]
sides = ([pair[side] for pair in pairs] for side in ("sentence1", "sentence2"))
best = run("classify_nli", "outputs", **dict(zip(("premise", "hypothesis"), sides))).argmax(axis=1)
labels = ["entailment", "neutral", "contradiction"]
right = [labels[one] == pair["gold_label"] for one, pair in zip(best, pairs)]
print(json.dumps(["snli-test", "accuracy", np.mean(right)]))
"""
"""Scores a module with numpy alone."""


def test_the_files_are_those_of_the_checksums():
    listed = dict(
        reversed(line.split("  ")) for line in (FOLDER / "SHA256SUMS").read_text().splitlines()
    )
    files = [path for path in MODULE.rglob("*") if path.is_file()]
    found = {
        str(path.relative_to(FOLDER)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }
    assert found == listed
    sizes = [
        sum(path.stat().st_size for path in files if (path.name in plain.FILES) == is_plain)
        for is_plain in (True, False)
    ]
    assert max(sizes) <= 20_000_000


def test_the_card_has_scores_with_intervals():
    card = (MODULE / "README.md").read_text()
    for one in model_card.scores(MODULE):
        assert one["name"] in card
        assert one["intervals"]


def test_the_first_lines_of_the_documents_print_what_they_show(monkeypatch):
    assert README.read_text().splitlines()[2].startswith("    >>> import")
    monkeypatch.chdir(REPOSITORY)
    with warnings.catch_warnings(action="ignore"):
        for page in (README, REPOSITORY / "runtime" / "README.md"):
            assert doctest.testfile(str(page), module_relative=False).failed == 0
        failed, attempted = doctest.testmod(conversational_embeddings)
    assert attempted and not failed


def installed_by_the_readme():
    (packages,) = re.findall("`pip install (tensorflow==[^`]*)`", README.read_text())
    return packages.split()


OLDEST = ["tensorflow==2.18.*", "tensorflow-text==2.18.*"]
NEWEST = ["tensorflow==2.21.*", "tensorflow-text==2.21.1"]
"""docs/troubleshooting.md promises them."""


def test_the_readme_installs_what_the_card_names():
    packages = identity.read(MODULE)["packages"]
    named = {f"{name}=={packages[name]}" for name in packages if name.startswith("tensorflow")}
    assert set(installed_by_the_readme()) <= named


@pytest.mark.slow
@pytest.mark.skipif(not DATA, reason="CONVERSATIONS_DATA names no folder of real data")
@pytest.mark.parametrize(
    "packages", [installed_by_the_readme(), OLDEST, NEWEST], ids=["readme", "oldest", "newest"]
)
def test_a_fresh_environment_reproduces_three_scores(packages, tmp_path, monkeypatch):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-cache-dir"]
    runtime = shutil.copytree(REPOSITORY / "runtime", tmp_path / "runtime")
    subprocess.run([*install, *packages, runtime], check=True)
    # Other tests of this process may have imported `model`, which asks for tf_keras.
    monkeypatch.delenv("TF_USE_LEGACY_KERAS", raising=False)
    for page in (README, runtime / "README.md"):
        subprocess.run([python, "-m", "doctest", page], cwd=REPOSITORY, check=True)
    done = subprocess.run(
        [python, "-I", "-c", SCORE, MODULE, DATA], capture_output=True, text=True, check=True
    )
    stored = {one["name"]: one for one in model_card.scores(MODULE)}
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [name for name, _, _ in found] == ["sts-dev", "sts-test", "snli-test"]
    for name, metric, value in found:
        assert value == pytest.approx(stored[name]["metrics"][metric], abs=1e-4)
