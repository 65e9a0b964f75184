"""Every form of a module, loaded by the libraries that it is for, in an environment of theirs."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from common import sts
from export.__main__ import main
from export.options import FORMATS
from tests.conftest import call, sample_world
from tests.test_pretrained import MODULE

HERE = Path(__file__).parent
TEXTS = [
    "How old are you?",
    "it\u2019s a hackysack",
    "Crème brûlée, 1,234.50 € ... and ÜBERGRÖSSE",
    "x",
    "?!",
    "the street " * 60,
]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def libraries():
    """Runs a program of this folder with the libraries' interpreter; returns what it prints.

    Their environment is installed once for each content of `requirements.txt`, into `.libraries/`,
    which git ignores.
    """
    requirements, environments = HERE / "requirements.txt", HERE.parents[2] / ".libraries"
    folder = environments / hashlib.sha256(requirements.read_bytes()).hexdigest()[:16]
    interpreter, installed = folder / "bin" / "python", folder / "installed"
    if not installed.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = (interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        subprocess.run([*pip, "--requirement", requirements], check=True)
        installed.touch()

    def run(program, *arguments):
        done = subprocess.run(
            [interpreter, HERE / program, *arguments],
            capture_output=True,
            text=True,
            env=os.environ | {"HF_HUB_OFFLINE": "1"},
            check=False,
        )
        assert not done.returncode, done.stderr[-4000:]
        return done.stdout

    return run


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """The pretrained module in each form."""
    folder = tmp_path_factory.mktemp("forms")
    for form in FORMATS:
        output = str(folder / form)
        main(["formats", "--module", str(MODULE), "--to", form, "--output", output])
    return folder


@pytest.mark.parametrize("form", FORMATS)
def test_a_library_gives_the_vectors_of_the_form(libraries, forms, tmp_path, form):
    from evaluation import load_encoder

    (tmp_path / "texts.json").write_text(json.dumps(TEXTS))
    arguments = (tmp_path / "texts.json", tmp_path / "vectors.npy")
    libraries("encode.py", form, forms / form, *arguments)
    found = np.load(tmp_path / "vectors.npy")
    expected = load_encoder(forms / ("model2vec" if form == "onnx" else form))
    np.testing.assert_allclose(found, expected.encode(TEXTS), atol=1e-6)


def test_mteb_gives_the_scores_of_evaluation(libraries, forms, tmp_path):
    path = sample_world(tmp_path / "world", "--comments", 1000) / "stsb" / "sts-test.csv"
    pairs = sts.read(*sts.sources(path)).pairs
    rows = [[pair.gold, pair.sentence1, pair.sentence2] for pair in pairs]
    (tmp_path / "pairs.json").write_text(json.dumps(rows))
    module = forms / "sentence-transformers"
    found = json.loads(libraries("score.py", module, tmp_path / "pairs.json").splitlines()[-1])
    call("evaluation", "sts", "--module", module, "--data", path, "--output", tmp_path / "results")
    result = json.loads((tmp_path / "results" / "sts-test.json").read_text())
    assert result["n"] == len(pairs) > 50
    # Rounding swaps the ranks of pairs with nearly the same score.
    expected = result["metrics"]["spearman"]
    assert found["cosine_spearman"] == pytest.approx(expected, abs=1e-5)
    expected = result["metrics"]["cosine_pearson"]
    assert found["cosine_pearson"] == pytest.approx(expected, abs=1e-6)
