import json
import random

import numpy as np
import pytest

from model.sts_regression.__main__ import main
from model.sts_regression.choices import Choices
from model.sts_regression.data import vectors

TOPICS = ("cats purr", "dogs bark", "rain falls", "trains run")
EXTRAS = ("today", "again", "here", "softly", "often", "loudly")
DIM = 6


def sentence(topic, draw):
    return f"{TOPICS[topic]} {' '.join(draw.sample(EXTRAS, draw.randint(1, 4)))} ."


def rows(count, seed):
    """Pairs that say the same (4 to 5) or not (0 to 1), which one word tells."""
    draw = random.Random(seed)
    for number in range(count):
        first = draw.randrange(len(TOPICS))
        second = first if number % 2 else (first + 1) % len(TOPICS)
        score = round((4 if number % 2 else 0) + draw.random(), 2)
        yield score, sentence(first, draw), sentence(second, draw)


@pytest.fixture(scope="session")
def corpora(tmp_path_factory):
    """A folder of data as SemEval's files are: 24 pairs, 6 test pairs, STS-B 12, 6 and 6."""
    folder = tmp_path_factory.mktemp("corpora")
    for name in ("sts2016", "sts2017_track5", "stsb"):
        (folder / name).mkdir()
    for seed, genre in enumerate(("headlines", "plagiarism")):
        lines = [f"{score}\t{a}\t{b}\n" for score, a, b in rows(12, seed)]
        lines.insert(3, "\tnobody judged\tthis one\n")
        (folder / "sts2016" / f"{genre}.test.tsv").write_text("".join(lines))
    track5 = list(rows(6, 2))
    texts = "".join(f"{a}\t{b}\n" for _, a, b in track5)
    (folder / "sts2017_track5" / "STS.input.txt").write_text(texts)
    golds = "".join(f"{score}\n" for score, *_ in track5)
    (folder / "sts2017_track5" / "STS.gs.txt").write_text(golds)
    for seed, (split, count) in enumerate((("train", 12), ("dev", 6), ("test", 6)), start=3):
        lines = [
            f"main-news\tx\t2016\t{n}\t{s}\t{a}\t{b}\n"
            for n, (s, a, b) in enumerate(rows(count, seed))
        ]
        (folder / "stsb" / f"sts-{split}.csv").write_text("".join(lines))
    return folder


@pytest.fixture(scope="session")
def glove(tmp_path_factory):
    """Word vectors of all words but "loudly"."""
    words = [word for topic in TOPICS for word in topic.split()] + [*EXTRAS[:-1], "."]
    path = tmp_path_factory.mktemp("vectors") / "glove.txt"
    vectors.write(path, words, np.random.default_rng(0).normal(size=(len(words), DIM)))
    return path


@pytest.fixture(scope="session")
def choices():
    """Small and quick."""
    return Choices(folds=2, epoch_share=0.04, batch=8, learning_rate=1e-2)


@pytest.fixture(scope="session")
def command(corpora, glove):
    """The command line that runs some rows, small and quick."""

    def line(name, output, *more):
        folds = ("--folds", 2) if name == "run" else ()
        sizes = ("--epoch_share", 0.04, "--batch", 8, "--learning_rate", 0.01, *folds)
        parts = (name, "--data", corpora, "--vectors", glove, "--output", output, *sizes, *more)
        return [str(part) for part in parts]

    return line


@pytest.fixture(scope="session")
def finished(command, tmp_path_factory):
    """The folder of a row, in both ways of making folds."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    row = ("--rows", "sif_perceptron", "--folds_by", "random", "sentences")
    assert main(command("run", folder, *row, "--jobs", 1)) == 0
    return folder


@pytest.fixture(scope="session")
def results(finished):
    """Its result files, by name."""
    return {path.stem: json.loads(path.read_text()) for path in (finished / "results").iterdir()}
