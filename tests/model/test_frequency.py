"""Vectors of frequent words begin short."""

import numpy as np
import pytest
import tensorflow as tf

from model import frequency, training
from model.dual_encoder import build
from model.errors import InputError
from model.state import make_state
from model.tasks import parts_of
from model.text import PADDING, WORDS, TextToIds


def id_of(params, word):
    return int(TextToIds(params.task.model.text)(tf.constant([word]))[WORDS][0, 0])


def test_words_are_counted_on_both_sides_of_the_first_records(parse):
    params = parse()
    (part,) = parts_of(params.task)
    ids = params.task.model.text.word_buckets
    # train-00000 begins with the records 0, 2, 4: "question0 number 0" -> "answer0", ...
    counts = frequency.count(part, 3, ids=ids)
    assert counts[id_of(params, "number")] == 3
    assert counts[id_of(params, "question2")] == 1
    assert counts[id_of(params, "answer4")] == 1
    assert counts[PADDING] == 0
    # Three words, one word, and an end mark behind each text.
    assert counts.sum() == 3 * (3 + 1 + 1 + 1)
    assert frequency.count(part, 10**9, ids=ids).sum() == 400 * 6


def test_a_vector_is_multiplied_by_the_weight_of_its_word(parse, tmp_path):
    params = parse(task__word_frequency_records=3)
    before = build(params.task.model, seed=params.task.seed).encoder.tables
    parts = parts_of(params.task)
    after = make_state(
        params, tf.distribute.get_strategy(), str(tmp_path), parts
    ).model.encoder.tables
    ratios = np.linalg.norm(after[WORDS], axis=1) / np.linalg.norm(before[WORDS], axis=1)
    # a / (a + p) for 3 of 18 tokens, 1 of 18, and none.
    for word, expected in (
        ("number", 0.001 / (0.001 + 3 / 18)),
        ("answer4", 0.001 / (0.001 + 1 / 18)),
        ("unheard", 1.0),
    ):
        assert ratios[id_of(params, word)] == pytest.approx(expected, rel=1e-5)


def test_a_run_that_goes_on_keeps_its_vectors(parse, tmp_path, monkeypatch):
    begun = []
    shorten = frequency.shorten

    def spied(*arguments, **options):
        begun.append(options["records"])
        shorten(*arguments, **options)

    monkeypatch.setattr(frequency, "shorten", spied)
    for steps in (20, 40):
        params = parse(task__word_frequency_records=400, trainer__train_steps=steps)
        training.run(params, mode="train", folder=str(tmp_path / "run"))
        assert begun == [400]


@pytest.mark.parametrize("wrong", [-1, 0.5])
def test_what_is_no_number_of_records_is_named(parse, wrong):
    with pytest.raises(InputError, match=r"task.word_frequency_records: .*; accepted are whole"):
        parse(task__word_frequency_records=wrong)
