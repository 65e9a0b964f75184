import dataclasses
import gzip
import json
import math
import os
import re
import subprocess
import sys
import types
import zlib

import numpy as np
import pytest
import scipy.sparse

from evaluation.__main__ import main
from evaluation.data import ranking_files, snli_files
from evaluation.encoders import words
from evaluation.errors import InputError
from evaluation.tasks import response_ranking, similarity, snli
from tests.conftest import REPOSITORY

GLOVE = "the 0 0\ndog 1 0\ncat 0 2\nNew York 3 3\nParis 0 4\nrun 1 1\n"
ROWS = "".join(
    f"main-news\tf\t2012\t{i}\t{gold}\tthe dog {'runs ' * i}\tthe dog runs\n"
    for i, gold in enumerate([1, 2, 4, 5])
)


def lookup_of(table):
    vectors = {word: np.array(row, dtype=np.float32) for word, row in table.items()}
    return lambda words: {word: vectors[word] for word in words if word in vectors}


def average_of(table, *, sif=False):
    return words.WordAverage("toy", source="hash", lookup=lookup_of(table), sif=sif)


def test_tfidf_by_hand():
    """Three texts; "a" is in all of them (idf 1), "b" in one (idf 1 + ln 2)."""
    encoder = words.TfIdf().fit(["a", "A a", "a b"])
    rows = encoder.encode(["a b", "A a"]).toarray()
    length = math.sqrt(1 + (1 + math.log(2)) ** 2)
    expected = [[1 / length, (1 + math.log(2)) / length], [1, 0]]
    np.testing.assert_allclose(rows, expected, rtol=1e-12)
    assert similarity.cosine(*(encoder.encode([text]) for text in ("a b", "A a"))) == (
        pytest.approx(1 / length)
    )


def test_tfidf_stays_sparse_however_many_words_there_are(write_text):
    """20,000 texts with 60,000 words: a dense table would take 4.8 GB."""
    texts = [f"w{i} v{i} u{i} common" for i in range(20_000)]
    encoder = words.TfIdf().fit(texts)
    rows = encoder.encode_inputs(texts)
    assert scipy.sparse.issparse(rows)
    assert rows.shape == (20_000, 60_001)
    assert rows.nnz == 80_000
    pairs = [ranking_files.Pair(text, text[::-1], f"i{i}", f"r{i}") for i, text in enumerate(texts)]
    data = ranking_files.RankingData("r", pairs[:200])
    assert response_ranking.evaluate(encoder, data).metrics["p_at_1"] == 0.0
    exact = [dataclasses.replace(pair, response=f"{pair.input} more") for pair in data.pairs]
    data = ranking_files.RankingData("r", exact)
    assert response_ranking.evaluate(encoder, data).metrics["p_at_1"] == 1.0


def test_a_text_without_a_word_is_the_mean_of_all():
    encoder = words.TfIdf().fit(["a b", "a c", "a d"])
    rows = encoder.encode(["nothing known", "a b", "a c"])
    assert np.isfinite(rows.toarray()).all()
    cosines = similarity.cosine(rows[[0, 0]], rows[[1, 2]])
    assert cosines[0] == pytest.approx(cosines[1])
    with pytest.raises(InputError, match=r"TF-IDF: knows no word of the 1 texts"):
        words.TfIdf().fit([" "])


def test_sparse_embeddings_get_a_logistic_regression():
    """Whether the hypothesis has the premise's word, another one, or both."""
    from evaluation.tasks import nli_classifier

    def data(name, count):
        words = [f"w{i % 30}" for i in range(count)]
        texts = {0: "{0}", 1: "other", 2: "{0} other"}
        pairs = [
            snli_files.Pair(f"{name}{i} {word}", texts[i % 3].format(word) + f" {name}{i}", label)
            for i, word in enumerate(words)
            for label in [snli_files.LABELS[i % 3]]
        ]
        return snli_files.NliData(f"snli-{name}", pairs, without_label=0)

    train, dev = data("train", 600), data("dev", 90)
    encoder = words.TfIdf().fit([text for one in (train, dev) for t in one.texts() for text in t])
    classifier = nli_classifier.train(encoder, train, dev, held_out=[dev], seed=0)
    assert "logistic regression, C " in classifier.about
    found = snli.evaluate(encoder, dev, classifier=classifier)
    assert found.metrics["accuracy"] > 0.9
    assert sum(found.items[0]["probabilities"]) == pytest.approx(1.0, abs=1e-5)


def test_words_without_a_vector_do_not_count():
    encoder = average_of({"dog": [1, 0], "cat": [0, 2]}).fit(["dog cat cat", "dog thing", "?"])
    rows = encoder.encode(["dog cat cat", "dog thing", "cat"])
    np.testing.assert_allclose(rows, [[1 / 3, 4 / 3], [1, 0], [0, 2]], rtol=1e-6)


def test_a_text_without_known_words_gets_the_mean_and_is_counted():
    encoder = average_of({"dog": [1, 0], "cat": [0, 2]}).fit(["dog", "cat", "?", "??", "?"])
    assert encoder.encode(["?"]).tolist() == [[0.5, 1.0]]
    assert encoder.provenance()["texts_without_a_known_word"] == 2
    with pytest.raises(InputError, match=r"toy \(averaged\): knows no word of the 2 texts"):
        average_of({"dog": [1, 0]}).fit(["?", "!"])


def test_sif_by_hand():
    """Weights a / (a + p), then without the part in the one direction that all texts share."""
    table = {"x": [1.0, 0.0], "y": [1.0, 1.0]}
    encoder = average_of(table, sif=True).fit(["x", "y", "x y"])
    weight = 1e-3 / (1e-3 + 0.5)  # each is half of the four words
    plain = weight * np.array([[1, 0], [1, 1], [1, 0.5]])
    _, _, directions = np.linalg.svd(plain)
    expected = plain - np.outer(plain @ directions[0], directions[0])
    np.testing.assert_allclose(encoder.encode(["x", "y", "x y"]), expected, atol=1e-8)


def test_sif_counts_rare_words_more():
    table = {"the": [1.0, 0.0, 0.0], "dog": [0.0, 1.0, 0.0], "z": [0.0, 0.0, 1.0]}
    encoder = average_of(table, sif=True).fit(["the the the dog", "the z", "the", "dog"])
    assert encoder.weight("dog") > 2 * encoder.weight("the")


def test_glove_files(write_text):
    path = write_text("glove.txt.gz", GLOVE)
    name, digest, lookup = words.of_file(path)
    assert name == "glove"
    assert len(digest) == 64
    found = lookup({"dog", "New York", "Dog", "paris", "Paris", "nothing"})
    assert {word: row.tolist() for word, row in found.items()} == {
        "dog": [1, 0],
        "Dog": [1, 0],
        "New York": [3, 3],
        "Paris": [0, 4],
    }


def test_word2vec_files_begin_with_their_size(write_text):
    _, _, lookup = words.of_file(write_text("v.vec", f"6 2\n{GLOVE}"))
    assert lookup({"cat"})["cat"].tolist() == [0, 2]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("short 1", ":7: 2 fields"),
        ("dog2 1 x", ":7: could not convert"),
        ("dog2 1 nan", ":7: a NaN"),
        ("dog2 1 2 3", ":7: 4 fields"),
    ],
)
def test_broken_vectors_are_named(write_text, line, named):
    _, _, lookup = words.of_file(write_text("glove.txt", f"{GLOVE}{line}\n"))
    with pytest.raises(InputError, match=named):
        lookup({"dog2"})


def test_a_file_of_vectors_that_was_cut_off_is_refused(write_text):
    _, _, lookup = words.of_file(write_text("v.vec", f"7 2\n{GLOVE}"))
    with pytest.raises(InputError, match=r"v.vec:8: the file ends there; its first line says 7 wo"):
        lookup({"cat"})


def test_the_identity_follows_the_texts():
    first = words.TfIdf().fit(["a", "b"]).provenance()
    assert words.TfIdf().fit(["b", "a", "a"]).provenance() == first
    assert words.TfIdf().fit(["a", "c"]).provenance()["fingerprint"] != first["fingerprint"]


@pytest.fixture
def installed(monkeypatch):
    """A package that behaves as sentence-transformers does: letters counted."""

    class Weights:
        def cpu(self):
            return self

        def numpy(self):
            return np.arange(3.0)

    class SentenceTransformer:
        def __init__(self, name):
            assert "=" not in name
            if name == "missing":
                raise OSError(f"{name} is not a model\nmore of it")

        def encode(self, sentences, *, convert_to_numpy, show_progress_bar):
            assert convert_to_numpy
            return np.array([[1.0, text.count("r"), len(text)] for text in sentences])

        def state_dict(self):
            return {"weights": Weights()}

    package = types.ModuleType("sentence_transformers")
    package.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)


def test_the_command_scores_them_all(write_text, xml_file, tmp_path, installed, capsys):
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
    argv += [tmp_path / "lm", f"called=it={tmp_path}"]
    argv = [str(argument) for argument in [*argv, "--output", tmp_path / "results"]]
    assert main(argv) == 0
    folders = sorted((tmp_path / "results" / "baselines").iterdir())
    names = ["BM25", "TF-IDF", "called_it", "lm", "some_model", "toy_SIF", "toy_averaged"]
    names += ["untrained_words_SIF", "untrained_words_and_letters_SIF"]
    assert [path.name for path in folders] == names
    assert [path.name for path in folders[0].iterdir() if path.suffix == ".json"] == [
        "cqa-dev.json"
    ]
    for folder in folders[1:]:
        found = json.loads((folder / "sts-test.json").read_text())
        assert found["metrics"]["pearson"] is not None
        name = found["module"]["path"].removeprefix(f"{tmp_path}/")
        assert re.sub(r"[ (/=]+", "_", name).rstrip(")") == folder.name
        assert (folder / "cqa-dev.json").exists()
    found = json.loads((folders[1] / "cqa-dev.json").read_text())
    assert found["metrics"]["map"] == 1.0
    capsys.readouterr()
    assert main(argv) == 0
    assert capsys.readouterr().out.count("already there") == 25


def test_what_is_not_there_is_named(write_text, tmp_path, installed, monkeypatch, capsys):
    write_text("sts-dev.csv", ROWS)
    argv = ["baselines", "--output", str(tmp_path / "results")]
    assert main(argv) == 1
    assert "no data: one or more of --response_ranking, --snli" in capsys.readouterr().err
    argv += ["--sts", str(tmp_path), "--sentence_transformers", "missing"]
    assert main(argv) == 1
    assert "missing: sentence-transformers cannot load it: missing is not a model" in (
        capsys.readouterr().err
    )
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    assert main(argv) == 1
    assert "needs the package sentence-transformers" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()  # before the others are scored


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
    assert "not installed (dict_keys(" in done.stderr
    assert "'tensorflow'" not in done.stderr


def cosine_of(encoder, left, right):
    return similarity.cosine(*(encoder.encode([text]) for text in (left, right)))[0]


def test_untrained_words_know_only_which_words_are_the_same():
    texts = ["Dogs run", "dogs RUN", "cats sleep", "runing dogs", "a bird", "the fish"]
    words_only, with_letters = (
        words.WordAverage(name, source=source, lookup=lookup).fit(texts)
        for name, source, lookup in (words.untrained(letters=flag) for flag in (False, True))
    )
    assert cosine_of(words_only, "Dogs run", "dogs RUN") == pytest.approx(1.0)
    assert abs(cosine_of(words_only, "Dogs run", "cats sleep")) < 0.2
    # "runing" is another word, with letters of "run": <ru, run of <ru, run, uni, nin, ing, ng>.
    assert cosine_of(words_only, "Dogs run", "runing dogs") == pytest.approx(0.5, abs=0.15)
    misspelt = cosine_of(with_letters, "Dogs run", "runing dogs")
    assert misspelt > cosine_of(words_only, "Dogs run", "runing dogs")
    assert words_only.provenance()["path"] == "untrained words (averaged)"


def test_untrained_words_are_the_same_in_every_process():
    _, _, lookup = words.untrained(letters=False)
    # numpy.random.default_rng(zlib.crc32(b"dog")).standard_normal(500, "float32")[0]
    first = np.random.default_rng(0x812C397D).standard_normal(500, dtype=np.float32)[0]
    assert zlib.crc32(b"dog") == 0x812C397D
    assert lookup(["DOG"])["DOG"][0] == first


def records(path, numbers):
    """Pairs as the pipeline writes them: the response repeats a word of the input."""
    import tensorflow as tf

    def feature(text):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[text.encode()]))

    path.parent.mkdir(parents=True, exist_ok=True)
    with tf.io.TFRecordWriter(str(path)) as writer:
        for n in numbers:
            texts = {"input": f"word{n} and", "response": f"word{n} or", "input_id": f"i{n}"}
            texts["response_id"] = f"r{n}"
            features = {name: feature(text) for name, text in texts.items()}
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())


@pytest.mark.slow
def test_maps_are_learned_on_training_pairs_and_embeddings_tuned(write_text, tmp_path, capsys):
    for split in ("dev", "test", "train"):
        write_text(f"stsb/sts-{split}.csv", ROWS)
    records(tmp_path / "pairs" / "test-00000-of-00001.tfrecord", range(100))
    results = tmp_path / "results"
    argv = ["baselines", "--response_ranking", tmp_path / "pairs", "--output", results]
    argv = [*map(str, argv), "--training_pairs", str(tmp_path / "pairs")]
    assert main(argv) == 1
    assert "pairs: holds no train-*.tfrecord" in capsys.readouterr().err
    assert not results.exists()
    train = tmp_path / "pairs" / "train-00000-of-00001.tfrecord"
    records(train, range(200, 400))
    train.with_name(f"{train.name}.gz").write_bytes(gzip.compress(train.read_bytes()))
    assert main(argv) == 1
    assert f"{train}.gz: the same data as {train.name}; keep one" in capsys.readouterr().err
    train.unlink()
    records(tmp_path / "pairs" / "validation-00000-of-00001.tfrecord", range(500, 600))
    assert main([*argv, "--tune"]) == 1
    assert "--tune needs --sts" in capsys.readouterr().err
    assert main([*argv, "--tune", "--sts", str(tmp_path / "stsb")]) == 0
    folders = {path.name for path in (results / "baselines").iterdir()}
    mapped = {name for name in folders if name.endswith("_mapped")}
    assert mapped == {"untrained_words_SIF_mapped", "untrained_words_and_letters_SIF_mapped"}
    for name in mapped:
        (path,) = (results / "baselines" / name).glob("*.json")
        found = json.loads(path.read_text())
        assert found["metrics"]["p_at_1"] == 1.0
        assert "on 200 pairs; P@1 of 100 on 100 validation pairs" in found["module"]["about"]
    tuned = {path.parent.name for path in (results / "baselines").glob("*/sts-test-tuned.json")}
    assert tuned == {"untrained_words_SIF", "untrained_words_and_letters_SIF"}
