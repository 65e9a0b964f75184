"""Pairs, words, vectors and folds; measures by hand, and the table of results."""

import gzip

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from model.sts_regression import data, results
from model.sts_regression.options import FOLDS_BY, TABLE_2
from model.sts_regression.words import UNKNOWN, load_vectors, row_of, split

PAIRS = np.array([(0, 1), (2, 3), (1, 4), (5, 6), (7, 4), (8, 9), (10, 11)])
"""The first, third and fifth hang together, through sentences 1 and 4."""


@pytest.mark.parametrize("folds_by", FOLDS_BY)
def test_each_pair_is_held_out_once_and_trains_otherwise(folds_by):
    splits = data.make_folds(PAIRS, folds=3, folds_by=folds_by, seed=5)
    assert sorted(np.concatenate([split.held_out for split in splits])) == list(range(7))
    for one in splits:
        assert sorted([*one.training, *one.held_out]) == list(range(7))
    assert sorted(len(one.held_out) for one in splits) == [2, 2, 3]
    assert any(one.shared for one in splits) == (folds_by == "random")


def test_shared_sentences_are_counted():
    # The third pair, through sentence 1; sentence 4 is in none that trains.
    assert data.shared(PAIRS[[0, 1, 3]], PAIRS[[2, 4, 5, 6]]) == 1


@pytest.mark.parametrize(("count", "folds_by"), [(8, "random"), (6, "sentences")])
def test_more_folds_than_groups_are_refused(count, folds_by):
    with pytest.raises(InputError, match=f"--folds: {count}"):
        data.make_folds(PAIRS, folds=count, folds_by=folds_by, seed=0)


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("A man's dog.", "A man 's dog ."),
        ("You don't, do you?", "You do n't , do you ?"),
        ("It’s 3.5% of 1,000", "It 's 3.5 % of 1,000"),
        ("drive-ins (in the U.S.)", "drive - ins ( in the U.S. )"),
        ("at 5 p.m. or 'sixteen'.", "at 5 p.m. or ' sixteen ' ."),
        ("'quoted words'", "' quoted words '"),
        ("«Où est-ce?»", "« Où est - ce ? »"),
        ("wait...", "wait ..."),
        ("  ", ""),
    ],
)
def test_words_are_split_as_glove_has_them(sentence, words):
    (found,) = split(tf.constant([sentence])).to_list()
    assert [word.decode() for word in found] == words.split()


def test_words_are_tried_as_they_stand_then_in_lower_case(tmp_path):
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"may 1 1\nMay 2 2\nother 3 3\nlast 4 4\n"))
    rows, table = load_vectors(path, {"May", "MAY", "june"})
    assert [row_of(word, rows) for word in ("May", "MAY", "june")] == [3, 2, UNKNOWN]
    np.testing.assert_array_equal(table, [[0, 0], [0, 0], [1, 1], [2, 2]])


def test_vectors_of_other_words_are_refused(tmp_path):
    (tmp_path / "vectors.txt").write_text("the 1 2\n")
    with pytest.raises(InputError, match=r"vectors\.txt"):
        load_vectors(tmp_path / "vectors.txt", {"cat"})


def test_glove_840b_is_read(real_data):
    path = real_data / "glove" / "glove.840B.300d.head596.txt.gz"
    rows, table = load_vectors(path, {"The", ",", "zyzzyva"})
    assert set(rows) == {"The", "the", ","}
    assert table.shape[1] == 300


def test_scores_by_hand():
    found = results.scores(np.array([1.0, 2.0, 4.0]), np.array([1.0, 3.0, 3.0]))
    # Deviations -4/3, -1/3, 5/3 and -4/3, 2/3, 2/3: r = (24/9) / sqrt(42/9 * 24/9)
    assert found["pearson"] == pytest.approx((24 / 42) ** 0.5)
    assert found["mse"] == pytest.approx((0 + 1 + 1) / 3)


def test_a_constant_prediction_has_no_correlation():
    gold = np.arange(3.0)
    assert results.scores(np.ones(3), gold) == {"pearson": None, "mse": 2 / 3}
    # What rounding leaves of one score is no more.
    assert results.scores(np.array([2.6757, 2.6758, 2.6758]), gold)["pearson"] is None
    assert results.scores(np.array([2.6, 2.7, 2.8]), gold)["pearson"] == pytest.approx(1)


def test_the_interval_over_folds_is_students():
    # Mean 0.5, standard error 0.1 / sqrt(3), t(2 degrees, 97.5%) = 4.302653
    found = results.interval([0.4, 0.5, 0.6], bounds=(-1, 1))
    half = 4.302653 * 0.1 / 3**0.5
    assert found == pytest.approx([0.5 - half, 0.5 + half])
    assert results.interval([0.0, 0.9], bounds=(-1, 1)) == [-1, 1]
    assert results.interval([0.4, None], bounds=(-1, 1)) == []
    assert results.mean([0.4, None]) is None


def test_pairs_are_resampled_for_all_folds_together():
    draw = np.random.default_rng(0)
    gold = draw.normal(size=200)
    predicted = gold + draw.normal(size=200)
    low, high = one = results.bootstrap(predicted[np.newaxis], gold, seed=1)
    assert low < results.pearson(predicted, gold) < high
    assert high - low == pytest.approx(2 * 1.96 * (1 - 0.5) / 200**0.5, rel=0.3)
    # Ten times the same predictions say no more than once.
    assert results.bootstrap(np.tile(predicted, (10, 1)), gold, seed=1) == pytest.approx(one)
    assert results.bootstrap(np.stack([predicted, np.ones(200)]), gold, seed=1) == []


def result_of(row, weights="fresh", *, pearson, lost=()):
    counts = dict.fromkeys(results._COUNTS, 0) | dict.fromkeys(lost, 1)
    ways = {"folds_by": "random", "weights_between_folds": weights}
    return {
        "metrics": {"pearson": pearson, "pearson_in_sample": 0.95},
        "intervals": {"pearson": [0.4, 0.6]} if pearson else {},
        "counts": counts,
        "settings": {"row": row, "label": TABLE_2[row].label} | ways,
        "items": [{"out_of_sample": {"pearson": value}} for value in (0.1, 0.9)],
        "seconds": 1.0,
    }


def test_rows_stand_in_the_papers_order_beside_its_figures():
    made = results.markdown(
        [
            result_of("lstm1_perceptron", pearson=None, lost=["folds_that_diverged"]),
            result_of("lstm1_perceptron", "carried", pearson=0.5),
            result_of("lstm2_lstm2", pearson=0.25),
        ]
    )
    header, _, *rows = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in made.splitlines()
    )
    shown = [dict(zip(header, row, strict=True)) for row in rows]
    assert [(row["model"], row["weights"], row["paper"]) for row in shown] == [
        ("2 LSTM Stack and 2 LSTM Stack", "fresh", "0.8608"),
        ("1 LSTM and Perceptron", "fresh", "0.4301"),
        ("1 LSTM and Perceptron", "carried", "0.4301"),
    ]
    assert [row["Pearson r, 95%"] for row in shown[1:]] == ["-", "0.5000 [0.400, 0.600]"]
    assert [row["folds that diverged"] for row in shown[1:]] == ["1", "0"]
    assert (shown[0]["first fold"], shown[0]["last fold"]) == ("0.1000", "0.9000")
