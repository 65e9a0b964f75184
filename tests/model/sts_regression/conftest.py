import json
import random

import numpy as np
import pytest

from model.sts_regression import options
from model.sts_regression.__main__ import main

TOPICS = ("cats purr", "dogs bark", "rain falls", "trains run")
EXTRAS = ("today", "again", "here", "softly", "often", "loudly")
DIM = 6
SMALL = options.Settings(folds=2, epoch_share=0.12, learning_rate=0.01)


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
    """A folder of data as SemEval's files are: 24 pairs, and 12 of the test."""
    folder = tmp_path_factory.mktemp("corpora")
    for name in ("sts2016", "sts2017_track5"):
        (folder / name).mkdir()
    for seed, genre in enumerate(("headlines", "plagiarism")):
        lines = [f"{score}\t{a}\t{b}\n" for score, a, b in rows(12, seed)]
        lines.insert(3, "\tnobody judged\tthis one\n")
        (folder / "sts2016" / f"{genre}.test.tsv").write_text("".join(lines))
    track5 = list(rows(12, 2))
    texts = "".join(f"{a}\t{b}\n" for _, a, b in track5)
    (folder / "sts2017_track5" / "STS.input.track5.txt").write_text(texts)
    golds = "".join(f"{score}\n" for score, *_ in track5)
    (folder / "sts2017_track5" / "STS.gs.track5.txt").write_text(golds)
    return folder


@pytest.fixture(scope="session")
def glove(tmp_path_factory):
    """Word vectors of all words but "loudly"."""
    words = [word for topic in TOPICS for word in topic.split()] + [*EXTRAS[:-1], "."]
    rows = np.random.default_rng(0).normal(size=(len(words), DIM))
    path = tmp_path_factory.mktemp("vectors") / "glove.txt"
    np.savetxt(path, rows, fmt="%.6g")
    lines = zip(words, path.read_text().splitlines(), strict=True)
    path.write_text("".join(f"{word} {row}\n" for word, row in lines))
    return path


@pytest.fixture(scope="session")
def run(corpora, glove):
    """Runs a command on the small corpus, with a preset that takes seconds."""

    def run(name, output, *more):
        parts = (name, "--data", corpora, "--vectors", glove, "--output", output, *more)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(options.PRESETS, "paper", SMALL)
            main([str(part) for part in parts])

    return run


@pytest.fixture(scope="session")
def finished(run, tmp_path_factory):
    """The folder of a row in both ways of making and starting folds."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    ways = ("--folds_by", "random", "sentences", "--weights_between_folds", "fresh", "carried")
    run("run", folder, "--rows", "sif_perceptron", *ways)
    return folder


@pytest.fixture(scope="session")
def results(finished):
    """Its result files, by name without the task."""
    paths = (finished / "results").iterdir()
    return {path.stem.partition("-")[2]: json.loads(path.read_text()) for path in paths}
