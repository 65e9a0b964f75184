"""Vectors begin near those of words said among the same ones, and short where frequent."""

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from model.dual_encoder import build
from model.initializers import word_vectors
from model.tasks.multitask import tasks_of
from model.text.preprocessing import PADDING, WORDS, TextToIds
from model.training.state import make_state


def id_of(params, word):
    return int(TextToIds(**params.task.model.text.as_dict())(tf.constant([word]))[WORDS][0, 0])


def test_words_are_counted_on_both_sides_of_the_first_records(parse):
    params = parse()
    (task,) = tasks_of(params.task)
    ids = params.task.model.text.word_buckets
    # train-00000 begins with the records 0, 2, 4: "question0 number 0" -> "answer0", ...
    counts = word_vectors.count(task, 3, ids=ids)
    assert counts[id_of(params, "number")] == 3
    assert counts[id_of(params, "question2")] == 1
    assert counts[id_of(params, "answer4")] == 1
    assert counts[PADDING] == 0
    # Three words, one word, and an end mark behind each text.
    assert counts.sum() == 3 * (3 + 1 + 1 + 1)
    assert word_vectors.count(task, 10**9, ids=ids).sum() == 400 * 6


def begun(params):
    """The word vectors before and after."""
    before = build(params.task.model, seed=params.task.seed).encoder.tables[WORDS]
    state = make_state(params, tasks_of(params.task), initialize=True)
    return before.numpy(), state.model.encoder.tables[WORDS].numpy()


def test_a_vector_is_multiplied_by_the_weight_of_its_word(parse):
    params = parse(task__word_frequency_records=3)
    before, after = begun(params)
    ratios = np.linalg.norm(after, axis=1) / np.linalg.norm(before, axis=1)
    # a / (a + p) for 3 of 18 tokens, 1 of 18, and none.
    for word, expected in (
        ("number", 0.001 / (0.001 + 3 / 18)),
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
        state = make_state(params, tasks_of(params.task), initialize=True)
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
