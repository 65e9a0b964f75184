"""Held-out pairs whose texts are those of a train pair: counted, and warned of."""

import pytest

from data_pipeline.pairs.splits import SPLITS


def dialogues(ids, *, turns=3, text="turn {turn} of dialogue {number}"):
    return [
        {"dialogue": f"{name}{number}", "turn": turn, "text": text.format(turn=turn, number=number)}
        for name in ids
        for number in range(40)
        for turn in range(turns)
    ]


@pytest.fixture
def made(make, write_table, stored, tmp_path, caplog):
    """Runs the command: what it counts, the texts of each split, the warnings."""

    def run(rows, *arguments):
        fields = ("--thread_field", "dialogue", "--order_field", "turn", "--text_field", "text")
        splits = ("--test_fraction", "0.3", "--validation_fraction", "0.2")
        path = write_table("turns.jsonl", rows)
        counts, _ = make("conversations", "--input", path, *fields, *splits, *arguments)
        texts = {
            split: [(pair["input"], pair["response"]) for pair in stored(tmp_path / "out", split)]
            for split in SPLITS
        }
        return counts, texts, caplog.text

    return run


def test_dialogues_under_two_ids_are_counted_and_warned_of(made):
    counts, texts, warned = made(dialogues(["a", "b"]))
    for split in ("validation", "test"):
        expected = sum(pair in texts["train"] for pair in texts[split])
        assert expected > 0
        assert counts[f"{split}_pairs_in_train"] == expected
        assert f"{expected} of {len(texts[split])} {split} pairs" in warned


def test_pairs_that_share_one_text_are_none(made):
    counts, _, warned = made(dialogues(["a"], text="turn {turn} of {number}", turns=4))
    assert counts["test_pairs_in_train"] == counts["validation_pairs_in_train"] == 0
    assert "test pairs" not in warned


def test_with_one_copy_of_each_none_is_left(made):
    counts, texts, warned = made(dialogues(["a", "b"]), "--max_copies_of_pair", "1")
    assert not {*texts["test"]} & {*texts["train"]}
    assert counts["test_pairs_in_train"] == 0
    assert "test pairs" not in warned
