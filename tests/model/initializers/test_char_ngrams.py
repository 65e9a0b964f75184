"""Vectors of n-grams: a ridge regression of the words' vectors."""

import numpy as np
import pytest
import tensorflow as tf

from model.initializers import char_ngrams
from model.tasks.multitask import tasks_of
from model.text import CHAR_NGRAMS, WORDS
from model.training.state import make_state
from tests.model.initializers.test_word_vectors import vectors_file

NGRAMS = np.array([[1, 0, 0], [2, 3, 0], [0, 0, 0]], np.int32)
"""One n-gram; two others; none."""


def test_ngrams_share_the_vector_of_their_word_and_the_penalty_shortens_it():
    vectors = np.array([[2.0, 0.0], [0.0, 3.0], [5.0, 5.0]], np.float32)
    found = char_ngrams.fitted(NGRAMS, vectors, buckets=5)
    # n x = v - x for a word of n n-grams: v / (1 + 1) and v / (2 + 1).
    np.testing.assert_allclose(found, [[0, 0], [1, 0], [0, 1], [0, 1], [0, 0]], atol=1e-3)
    assert found.dtype == np.float32


def test_sums_leave_padding_out():
    table = np.array([[9, 9], [1, 2], [3, 4], [5, 6]], np.float32)
    np.testing.assert_array_equal(char_ngrams.sums(NGRAMS, table), [[1, 2], [8, 10], [0, 0]])


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
        model = make_state(params, tasks, initialize=True).model
        ids = model.text(tf.constant(["number", "answer", "numbers", "answers"]))
        words = model.encoder.word_vectors(ids[WORDS][:, 0])
        of_unknown = model.encoder.tables[CHAR_NGRAMS].numpy()
        composed[fit] = words + char_ngrams.sums(ids[CHAR_NGRAMS].numpy(), of_unknown)
    np.testing.assert_allclose(composed[50.0][:2], composed[0.0][:2], atol=1e-4)
    directions = (composed[50.0][2:] - composed[0.0][2:]).numpy()
    assert directions[0, 0] > 5 * abs(directions[0, 1])
    assert directions[1, 1] > 5 * abs(directions[1, 0])
