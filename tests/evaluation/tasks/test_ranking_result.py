"""What a result of response ranking holds, besides the ranks."""

import numpy as np
import pytest

from evaluation.data import ranking_files
from evaluation.results import measure
from evaluation.tasks import response_ranking as ranking


def pair(number, *, question=None, text=None):
    texts = (question or f"question {number}", text or f"answer {number}")
    return ranking_files.Pair(*texts, f"i{number}", f"r{number}")


def evaluate(encoder_of, pairs, **options):
    """With an encoder that gives each pair a dimension of its own."""
    rows = np.eye(len(pairs))
    encoder = encoder_of(
        {pair.input: rows[i] for i, pair in enumerate(pairs)},
        {pair.response: rows[i] for i, pair in enumerate(pairs)},
    )
    return ranking.evaluate(encoder, ranking_files.RankingData("held out", pairs), **options)


def test_the_order_of_the_pairs_is_the_same_on_every_machine():
    # By SHA-256 of seed, ids and texts with NULs between them; computed once with hashlib.
    pairs = [pair(number) for number in range(6)]
    for seed, order in ((0, [2, 0, 3, 4, 1, 5]), (7, [4, 5, 2, 3, 0, 1])):
        assert ranking.shuffled(pairs, seed=seed) == [pairs[number] for number in order]


@pytest.mark.parametrize(("blocks", "notes"), [(2, 1), (measure.FEW_UNITS, 0)])
def test_intervals_of_few_blocks_carry_a_note(fake_encoder, blocks, notes):
    found = evaluate(fake_encoder, [pair(number) for number in range(2 * blocks)], candidates=2)
    found = measure.with_intervals(found, seed=0)
    assert sum(note.startswith(f"The intervals rest on {blocks} ") for note in found.notes) == notes


def test_the_result_names_its_data_and_its_pairs(fake_encoder):
    pairs = [pair(number) for number in range(6)]
    found = evaluate(fake_encoder, pairs, candidates=4, seed=7)
    assert (found.task, found.name, found.system) == ("response_ranking", "held out", "module")
    assert found.settings == {"candidates": 4, "seed": 7}
    for row, (item, one) in enumerate(
        zip(found.items, ranking.shuffled(pairs, seed=7), strict=True)
    ):
        assert item.pop("baselines").keys() == {"word_overlap"}
        assert item == {
            "input_id": one.input_id,
            "response_id": one.response_id,
            "block": int(row >= 4),
            "rank": 1,
        }
        assert type(item["block"]) is int


def test_the_seed_breaks_the_ties_of_word_overlap(fake_encoder):
    pairs = [pair(number, question=f"q{number}", text=f"a{number}") for number in range(40)]
    first, again, other = (
        [
            (item["input_id"], item["baselines"]["word_overlap"])
            for item in evaluate(fake_encoder, pairs, candidates=20, seed=seed).items
        ]
        for seed in (3, 3, 4)
    )
    assert first == again
    assert dict(first) != dict(other)
    assert {rank for _, rank in first} <= set(range(1, 21))


def test_word_overlap_ranks_by_hand(fake_encoder):
    pairs = [
        # 1 of 6 words with its own response, 1 of 5 with the second, 3 of 5 with the third.
        pair(0, question="ant cow doe fox gnu", text="ant hen"),
        # All with its own, none with another.
        pair(1, question="cow", text="cow"),
        # 1 of 5 with its own, 1 of 4 with the first, none with the second.
        pair(2, question="doe elk ant", text="doe fox gnu"),
    ]
    found = evaluate(fake_encoder, pairs, candidates=3)
    ranks = {item["input_id"]: item["baselines"]["word_overlap"] for item in found.items}
    assert ranks == {"i0": 3, "i1": 1, "i2": 2}
    assert found.baselines["word_overlap"] == {"p_at_1": 1 / 3, "p_at_3": 1, "p_at_10": 1}


def test_scores_are_the_same_by_the_size_of_their_own_row():
    # Beside scores of a million 0.001 would be within float32's reach; beside 2 it is not.
    scores = np.array([[1e6, 0.0, 0.0], [2.001, 2.0, 0.0], [0.0, 0.0, 1.0]])
    better, same = ranking.compare(scores, negative=~np.eye(3, dtype=bool))
    assert better.tolist() == [0, 1, 0]
    assert same.tolist() == [0, 0, 0]


def test_a_text_with_a_nul_behind_it_is_another_text(fake_encoder):
    found = evaluate(fake_encoder, [pair(0, text="yes"), pair(1, text="yes\0")], candidates=2)
    assert found.counts == {"duplicates_left_out": 0}
