"""Baselines of words: TF-IDF, BM25, means of word vectors, and where the vectors come from."""

import math
import zlib

import numpy as np
import pytest

from common import tfrecord
from common.errors import InputError
from common.text_files import TextPairs
from evaluation.data import cqa_files, snli_files
from evaluation.encoders import words
from evaluation.encoders.words import Bm25, TfIdf, WordAverage, WordTable
from evaluation.metrics import similarity
from evaluation.tasks import cqa, snli


def average_of(table, *, sif=False):
    vectors = {word: np.array(row, dtype=np.float32) for word, row in table.items()}

    def lookup(words):
        return {word: vectors[word] for word in words if word in vectors}

    return WordAverage(WordTable("toy", "hash", lookup), sif=sif)


def cosine_of(encoder, left, right):
    return similarity.cosine(*(encoder.encode([text]) for text in (left, right)))[0]


def test_tfidf_by_hand():
    """Three texts; "a" is in all of them (idf 1), "b" in one (idf 1 + ln 2)."""
    encoder = TfIdf().fit(["a", "A a", "a b"])
    rows = encoder.encode(["a b", "A a"]).toarray()
    length = math.sqrt(1 + (1 + math.log(2)) ** 2)
    expected = [[1 / length, (1 + math.log(2)) / length], [1, 0]]
    np.testing.assert_allclose(rows, expected, rtol=1e-12)
    assert cosine_of(encoder, "a b", "A a") == pytest.approx(1 / length)
    first = encoder.provenance()
    assert TfIdf().fit(["a b", "a", "A a", "a"]).provenance() == first
    assert TfIdf().fit(["a", "c"]).provenance()["fingerprint"] != first["fingerprint"]
    # A text without a word is the mean of all.
    encoder.fit(["a b", "a c", "a d"])
    unknown = cosine_of(encoder, "nothing known", "a b")
    assert unknown == pytest.approx(cosine_of(encoder, "nothing known", "a c"))
    with pytest.raises(InputError, match="TF-IDF"):
        TfIdf().fit([" "])


def test_sparse_embeddings_get_a_logistic_regression():
    """Whether the hypothesis has the premise's word, another one, or both."""
    from evaluation.probes import nli_classifier

    def data(name, count):
        words = [f"w{i % 30}" for i in range(count)]
        texts = {0: "{0}", 1: "other", 2: "{0} other"}
        pairs = [
            snli_files.Pair(f"{name}{i} {word}", texts[i % 3].format(word) + f" {name}{i}", label)
            for i, word in enumerate(words)
            for label in [tfrecord.LABELS[i % 3]]
        ]
        return TextPairs(f"snli-{name}", pairs)

    train, dev = data("train", 600), data("dev", 90)
    encoder = TfIdf().fit([text for one in (train, dev) for t in one.texts() for text in t])
    classifier = nli_classifier.train(encoder, train, dev, held_out=[dev], seed=0)
    assert "logistic regression, C " in classifier.about
    found = snli.evaluate(encoder, dev, classifier=classifier)
    assert found.metrics["accuracy"] > 0.9
    assert sum(found.items[0]["probabilities"]) == pytest.approx(1.0, abs=1e-5)


def test_means_of_vectors_by_hand():
    encoder = average_of({"dog": [1, 0], "cat": [0, 2]}).fit(["dog cat cat", "dog thing", "?"])
    rows = encoder.encode(["dog cat cat", "dog thing", "cat"])
    np.testing.assert_allclose(rows, [[1 / 3, 4 / 3], [1, 0], [0, 2]], rtol=1e-6)
    encoder.fit(["dog", "cat", "?", "??", "?"])
    assert encoder.encode(["?"]).tolist() == [[0.5, 1.0]]  # the mean of all that have a word
    assert encoder.provenance()["texts_without_a_known_word"] == 2
    with pytest.raises(InputError, match=r"toy \(averaged\)"):
        encoder.fit(["?", "!"])


def test_sif_by_hand():
    """Weights a / (a + p), then without the part in the one direction that all texts share."""
    table = {"x": [1.0, 0.0], "y": [1.0, 1.0]}
    encoder = average_of(table, sif=True).fit(["x", "y", "x y"])
    weight = 1e-3 / (1e-3 + 0.5)  # each is half of the four words
    plain = weight * np.array([[1, 0], [1, 1], [1, 0.5]])
    _, _, directions = np.linalg.svd(plain)
    expected = plain - np.outer(plain @ directions[0], directions[0])
    np.testing.assert_allclose(encoder.encode(["x", "y", "x y"]), expected, atol=1e-8)


def test_words_of_a_file(write_text):
    text = "6 2\nthe 0 0\ndog 1 0\ncat 0 2\nNew York 3 3\nParis 0 4\nrun 1 1\n"
    table = words.of_file(write_text("glove.txt.gz", text))
    assert (table.name, len(table.source)) == ("glove", 64)
    found = table.lookup({"dog", "New York", "Dog", "paris", "Paris", "nothing"})
    assert {word: row.tolist() for word, row in found.items()} == {
        **{"dog": [1, 0], "Dog": [1, 0], "New York": [3, 3], "Paris": [0, 4]}
    }


def test_untrained_words_know_only_which_words_are_the_same():
    texts = ["Dogs run", "dogs RUN", "cats sleep", "runing dogs", "a bird", "the fish"]
    words_only, with_letters = (
        WordAverage(words.untrained(letters=flag)).fit(texts) for flag in (False, True)
    )
    assert cosine_of(words_only, "Dogs run", "dogs RUN") == pytest.approx(1.0)
    # "runing" is another word, with letters of "run".
    misspelt = "Dogs run", "runing dogs"
    assert cosine_of(words_only, *misspelt) < cosine_of(with_letters, *misspelt) < 1
    # Drawn by the word's checksum, so the same in every process.
    first = np.random.default_rng(0x812C397D).standard_normal(500, dtype=np.float32)[0]
    assert zlib.crc32(b"dog") == 0x812C397D
    assert words.untrained(letters=False).lookup(["DOG"])["DOG"][0] == first


TEXTS = ["a b", "b b c", "d", "e", "f"]


def scores(encoder, queries, documents):
    return (encoder.encode_inputs(queries) @ encoder.encode_responses(documents).T).toarray()


def test_bm25_by_hand():
    # 5 documents of 8/5 words on average; "a" is in one of them, "b" in two.
    found = scores(Bm25().fit(TEXTS), ["A", "a b", "b b", "unknown"], ["a b", "b b c"])

    def part(count, length):
        return count / (1.5 * (0.25 + 0.75 * length / 1.6) + count)

    a, b = math.log((5 - 1 + 0.5) / (1 + 0.5)), math.log((5 - 2 + 0.5) / (2 + 0.5))
    expected = [
        [a * part(1, 2), 0],
        [a * part(1, 2) + b * part(1, 2), b * part(2, 3)],
        [2 * b * part(1, 2), 2 * b * part(2, 3)],
        [0, 0],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_candidates_are_ranked_by_their_scores_as_documents():
    def candidate(text, *, relevant):
        return cqa_files.Candidate("a", text, "q", text, relevant, 1.0)

    candidates = [candidate("b b c", relevant=False), candidate("a b", relevant=True)]
    data = TextPairs("cqa-x", candidates)
    found = cqa.evaluate(Bm25().fit(["a", *TEXTS]), data)
    assert found.items[0]["score"] == 0.0
    assert found.metrics["map"] == 1.0
