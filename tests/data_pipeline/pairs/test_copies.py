"""Copies of pairs: which are kept on any runner; those that are held out and in train, counted."""

import pyarrow as pa
import pytest

from data_pipeline.execution.exchange import Exchange
from data_pipeline.pairs.copies import _keep_first
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.pairs.splits import SPLITS


@pytest.fixture
def copies(write_dump, comment):
    """Over two files: five times the same pair, twice another, and once one with other words."""
    dumps = {"RC_1.gz": [], "RC_2.gz": []}

    def say(number, question, answer):
        rows = dumps[f"RC_{1 + number % 2}.gz"]
        rows.append(comment(f"q{99 - number}", body=question))
        rows.append(comment(f"a{number}", f"t1_q{99 - number}", body=answer))

    for number in (5, 3, 1, 4, 2):
        say(number, "how are you", "very well")
    for number in (7, 6):
        say(number, "how are you", "not so well")
    say(8, "HOW are you", "very well")
    for name, rows in dumps.items():
        write_dump(name, rows)


@pytest.mark.usefixtures("copies")
@pytest.mark.parametrize(
    ("most", "expected", "is_engine"),
    [
        (1, {1, 6, 8}, False),
        (1, {1, 6, 8}, True),
        (2, {1, 2, 6, 7, 8}, False),
        (5, {1, 2, 3, 4, 5, 6, 7, 8}, True),
    ],
)
def test_of_equal_pairs_those_with_the_lowest_ids_stay(
    make, tmp_path, monkeypatch, most, expected, is_engine
):
    if is_engine:
        monkeypatch.setattr("data_pipeline.job.graph._MIN_PARTITIONS", 3)
        monkeypatch.setattr("data_pipeline.execution.job.is_local", lambda _: False)
    asked = ("--input", f"{tmp_path}/RC_*", "--max_copies_of_pair", most)
    statistics, pairs = make("reddit", *asked)
    assert {int(pair["response_id"][1:]) for pair in pairs} == expected
    assert statistics["pairs"] == 8
    assert statistics["copies_dropped"] == 8 - len(expected)
    assert statistics["train_pairs"] + statistics["test_pairs"] == len(expected)


def test_copies_of_one_id_are_in_an_order_of_their_own():
    # Two messages of one id, halved: only their threads differ. Blocks come in any order.
    pairs = [
        pa.RecordBatch.from_pylist(
            [dict.fromkeys(pairs_schema(0).names, "x") | {"thread_id": thread, "created": 0}],
            schema=pairs_schema(0),
        )
        for thread in "ab"
    ]
    for some in (pairs, pairs[::-1]):
        sent = Exchange("", inline=True).blocks((0, batch) for batch in some)
        blocks = [block for _, block in sent]
        kept, _ = _keep_first((0, blocks), most=1, schema=pairs_schema(0))
        assert kept.column("thread_id").to_pylist() == ["a"]


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
