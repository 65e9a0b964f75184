"""Initial word vectors: near those of words with like contexts or spelling, short if frequent."""

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from model.dual_encoder import build
from model.initializers import cooccurrence, word_vectors
from model.tasks.registry import tasks_of
from model.text import CHAR_NGRAMS, WORDS
from model.text.preprocessing import TextToIds
from model.training.state import make_state


def id_of(params, word):
    return int(TextToIds(**params.task.model.text.as_dict())(tf.constant([word]))[WORDS][0, 0])


def begun(params):
    """The word vectors before and after."""
    before = build(params.task.model, seed=params.task.seed).encoder.tables[WORDS]
    state = make_state(params, tasks_of(params.task))
    return before.numpy(), state.model.encoder.tables[WORDS].numpy()


def test_a_vector_is_multiplied_by_the_weight_of_its_word(parse):
    params = parse(task__word_frequency_records=3)
    before, after = begun(params)
    ratios = np.linalg.norm(after, axis=1) / np.linalg.norm(before, axis=1)
    # train-00000 begins with the records 0, 2, 4: "question0 number 0" -> "answer0", ...; three
    # words, one word, and an end mark behind each text.
    # a / (a + p) for 3 of 18 tokens, 1 of 18, and none.
    for word, expected in (
        ("number", 0.001 / (0.001 + 3 / 18)),
        ("question2", 0.001 / (0.001 + 1 / 18)),
        ("answer4", 0.001 / (0.001 + 1 / 18)),
        ("unheard", 1.0),
    ):
        assert ratios[id_of(params, word)] == pytest.approx(expected, rel=1e-5)


def test_words_said_among_the_same_ones_begin_alike_and_as_long_as_drawn(parse):
    params = parse(task__word_cooccurrence_records=400)
    before, after = begun(params)
    lengths, drawn = np.linalg.norm(after, axis=1), np.linalg.norm(before, axis=1)
    np.testing.assert_allclose(lengths, drawn, rtol=1e-5)

    def cosine(vectors, one, other):
        one, other = id_of(params, one), id_of(params, other)
        return (
            vectors[one] @ vectors[other] / np.prod(np.linalg.norm(vectors[[one, other]], axis=1))
        )

    # Both stand alone, before an end mark, and share their buckets with no other word.
    assert cosine(after, "answer4", "answer5") > 0.99
    assert abs(cosine(after, "answer4", "number")) < 0.5
    assert cosine(before, "answer4", "answer5") < 0.9
    # Said once, so as drawn.
    np.testing.assert_array_equal(after[id_of(params, "399")], before[id_of(params, "399")])


def test_replicas_begin_as_one(parse):
    params = parse(task__word_cooccurrence_records=400, task__word_frequency_records=400)
    _, one = begun(params)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        state = make_state(params, tasks_of(params.task))
    np.testing.assert_array_equal(one, state.model.encoder.tables[WORDS].numpy())


def vectors_file(folder, **words):
    path = folder / "vectors.txt"
    path.write_text("".join(f"{word} {row}\n" for word, row in words.items()))
    return str(path)


def test_words_begin_as_a_file_has_them(parse, tmp_path, capsys):
    # Narrower than the model: filled up with zeros. "Number" is the same word as "number".
    path = vectors_file(tmp_path, number="3 4", Number="1 0", answer2="0 2", unheard="5 5")
    params = parse(task__word_vectors=path, task__model__text__word_buckets=1_000_000)
    before, after = begun(params)
    for word, direction in (("number", [0.6, 0.8]), ("answer2", [0, 1])):
        row, drawn = after[id_of(params, word)], before[id_of(params, word)]
        np.testing.assert_allclose(row[:2], np.linalg.norm(drawn) * np.array(direction), rtol=1e-5)
        assert not row[2:].any()
    for word in ("question2", "unheard"):  # not in the file; not in the training records
        np.testing.assert_array_equal(after[id_of(params, word)], before[id_of(params, word)])
    said = capsys.readouterr().out
    assert "has 2 of the " in said
    # "number" 400 times and "answer2" 7 times among 4 words of each of 400 pairs, end marks apart.
    assert "25.4% of their occurrences" in said


def test_words_of_a_file_give_their_vectors_to_no_others(parse, write_vocabulary, tmp_path):
    """Other words come first in the file and take every one of its few buckets."""
    others = {f"other{n}": "1 0" for n in range(300)}
    path = vectors_file(tmp_path, **others, number="0 1", unheard="0 2")
    before, after = begun(parse(task__word_vectors=path, task__model__text__word_buckets=50))
    params = parse(task__model__text__word_buckets=50)
    assert np.flatnonzero((before != after).any(axis=1)).tolist() == [id_of(params, "number")]
    # Every word of a vocabulary has its own, also one that the training records lack.
    known = write_vocabulary({"</s>": 9, "number": 3, "unheard": 2})
    before, after = begun(parse(task__word_vectors=path, task__model__text__vocabulary=known))
    assert np.flatnonzero((before != after).any(axis=1)).tolist() == [2, 3]
    assert after[3, 1] > 0


def test_wider_vectors_are_brought_to_the_models_width():
    draw = np.random.default_rng(0)
    plane = draw.normal(size=(50, 2)) @ draw.normal(size=(2, 9)).astype(np.float32)
    found = word_vectors._fitted(plane, 2)
    # The plane's own angles stay: all of its variance is in two components.
    centered = plane - plane.mean(axis=0)
    units = centered / np.linalg.norm(centered, axis=1, keepdims=True)
    np.testing.assert_allclose(found @ found.T, units @ units.T, atol=1e-4)
    assert found.shape == (50, 2)


def test_a_file_that_cannot_be_used_is_named(parse, tmp_path):
    unknown = vectors_file(tmp_path, zebra="1 2")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.txt"):
        begun(parse(task__word_vectors="nowhere.txt"))
    with pytest.raises(InputError, match="has no word of the training records"):
        begun(parse(task__word_vectors=unknown))


def test_vectors_are_those_of_an_exact_factorization_however_many_the_batches(monkeypatch):
    monkeypatch.setattr(cooccurrence, "_AT_ONCE", 1)  # so that sums are merged
    tokens = np.random.default_rng(1).zipf(1.4, size=[3000, 8]) % 60 + 1
    tokens[::3, 6:] = 0
    near = np.zeros([61, 61])
    for distance in range(1, 6):  # of 5 words to each side, one at distance d counts 1 / d
        np.add.at(near, (tokens[:, :-distance], tokens[:, distance:]), 1 / distance)
    near = (near + near.T)[1:, 1:]
    # Above what frequency alone would give; neighbors' frequencies by their power of 0.75.
    contexts = near.sum(axis=0) ** 0.75
    by_chance = near.sum(axis=1, keepdims=True) * contexts / contexts.sum()
    left, values, _ = np.linalg.svd(np.log(np.maximum(near / by_chance, 1)))
    exact = left[:, :5] * values[:5] ** 0.5
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    for count in (1, 6):
        found = cooccurrence.vectors(np.split(tokens, count), ids=61, dim=5, seed=0)
        assert (found.shape, found.dtype) == ((61, 5), np.float32)
        np.testing.assert_allclose(found[1:] @ found[1:].T, exact @ exact.T, atol=1e-3)
        assert not found[0].any()


def test_rare_words_padding_and_what_never_stands_have_no_vector():
    often, seldom = np.array([[1, 2, 0]] * 6), np.array([[9, 1]] * 4)
    found = cooccurrence.vectors([often, seldom], ids=12, dim=3, seed=0)
    assert np.flatnonzero(found.any(axis=1)).tolist() == [1, 2]
    for few in ([], [often[:1]], [np.array([[1, 0, 0]] * 6)]):
        assert not cooccurrence.vectors(few, ids=5, dim=3, seed=0).any()


NGRAMS = np.array([[1, 0, 0], [2, 3, 0], [0, 0, 0]], np.int32)
"""One n-gram; two others; none."""


def test_ngrams_share_the_vector_of_their_word_and_the_penalty_shortens_it():
    vectors = np.array([[2.0, 0.0], [0.0, 3.0], [5.0, 5.0]], np.float32)
    found = word_vectors.of_ngrams(NGRAMS, vectors, buckets=5)
    # n x = v - x for a word of n n-grams: v / (1 + 1) and v / (2 + 1).
    np.testing.assert_allclose(found, [[0, 0], [1, 0], [0, 1], [0, 1], [0, 0]], atol=1e-3)
    assert found.dtype == np.float32


@pytest.mark.parametrize("frequency_records", [0, 100])
def test_known_words_begin_as_without_and_unknown_ones_near_words_spelt_like_them(
    parse, tmp_path, write_vocabulary, frequency_records
):
    asked = {
        "task__word_vectors": vectors_file(tmp_path, number="1 0", numbering="1 0", answer="0 1"),
        "task__model__text__vocabulary": write_vocabulary(
            {"number": 400, "answer": 400, "question": 400}
        ),
        "task__model__text__char_ngram_buckets": 10_000,
        "task__word_frequency_records": frequency_records,
    }
    composed = {}
    for fit in (0.0, 50.0):
        params = parse(task__char_ngram_fit=fit, **asked)
        tasks = tasks_of(params.task)
        model = make_state(params, tasks).model
        ids = model.text(tf.constant(["number", "answer", "numbers", "answers"]))
        words = model.encoder.word_vectors(ids[WORDS][:, 0])
        of_unknown = model.encoder.tables[CHAR_NGRAMS].numpy()
        composed[fit] = words + word_vectors.sums_of_ngrams(ids[CHAR_NGRAMS].numpy(), of_unknown)
    np.testing.assert_allclose(composed[50.0][:2], composed[0.0][:2], atol=1e-4)
    directions = (composed[50.0][2:] - composed[0.0][2:]).numpy()
    assert directions[0, 0] > 5 * abs(directions[0, 1])
    assert directions[1, 1] > 5 * abs(directions[1, 0])
