import json
import random

import numpy as np
import pytest
import tensorflow as tf

from model.sts_regression.__main__ import main

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
    """A folder of data as SemEval's files are: 24 pairs, 12 test pairs, STS-B 12 of each."""
    folder = tmp_path_factory.mktemp("corpora")
    for name in ("sts2016", "sts2017_track5", "stsb"):
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
    for seed, (split, count) in enumerate((("train", 12), ("dev", 12), ("test", 12)), start=3):
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
    rows = np.random.default_rng(0).normal(size=(len(words), DIM))
    path = tmp_path_factory.mktemp("vectors") / "glove.txt"
    np.savetxt(path, rows, fmt="%.6g")
    lines = zip(words, path.read_text().splitlines(), strict=True)
    path.write_text("".join(f"{word} {row}\n" for word, row in lines))
    return path


@pytest.fixture(scope="session")
def command(corpora, glove):
    """The command line that runs some rows, small and quick."""

    def line(name, output, *more):
        sizes = ("--epoch_share", 0.12, "--learning_rate", 0.01)
        parts = (name, "--data", corpora, "--vectors", glove, "--output", output, *sizes, *more)
        return [str(part) for part in parts]

    return line


@pytest.fixture(scope="session")
def embedder(tmp_path_factory):
    """A SavedModel: text to its share of each letter."""

    class Embedder(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def serve(self, inputs):
            codes = tf.strings.to_hash_bucket_fast(tf.strings.bytes_split(inputs), 31)
            return {"outputs": tf.reduce_sum(tf.one_hot(codes, 31), axis=1)}

    folder, made = tmp_path_factory.mktemp("embedder"), Embedder()
    tf.saved_model.save(made, str(folder), signatures={"serving_default": made.serve})
    return folder


@pytest.fixture(scope="session")
def finished(command, embedder, tmp_path_factory):
    """The folder of a row in both ways of making and starting folds, and of a module's cosine."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    row = ("--rows", "sif_perceptron", "--folds", 2, "--module", embedder)
    ways = ("--folds_by", "random", "sentences", "--weights_between_folds", "fresh", "carried")
    main(command("run", folder, *row, *ways))
    return folder


@pytest.fixture(scope="session")
def results(finished):
    """Its result files, by name without the task."""
    paths = (finished / "results").iterdir()
    return {path.stem.partition("-")[2]: json.loads(path.read_text()) for path in paths}
