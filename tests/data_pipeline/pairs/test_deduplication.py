"""Copies of pairs: which are kept, what is counted, and that no runner changes it."""

import json

import pyarrow as pa
import pytest

from data_pipeline.execution.exchange import Exchange
from data_pipeline.pairs.deduplication import _keep_first
from data_pipeline.pairs.schema import pairs_schema

PASTED = "x" * 50
"""As short as copypasta can be."""


@pytest.fixture
def copies(write_dump, comment):
    """Over two files: five times the same pair, twice another, long replies and short ones."""
    dumps = {"RC_1.gz": [], "RC_2.gz": []}

    def say(number, question, answer):
        rows = dumps[f"RC_{1 + number % 2}.gz"]
        rows.append(comment(f"q{99 - number}", body=question))
        rows.append(comment(f"a{number}", f"t1_q{99 - number}", body=answer))

    for number in (5, 3, 1, 4, 2):
        say(number, "how are you", "very well")
    for number in (7, 6):
        say(number, "how are you", "not so well")
    say(8, "HOW are you", "very well")  # other words
    for number in (11, 12, 13):  # 3 copies of 50 characters: copypasta
        say(number, f"question {'abc'[number - 11]}", PASTED)
    for number in (14, 15, 16):  # 49 characters: too short
        say(number, f"question {'abc'[number - 14]}", PASTED[1:])
    for number in (17, 18):  # only twice
        say(number, f"question {'ab'[number - 17]}", "y" * 60)
    for name, rows in dumps.items():
        write_dump(name, rows)


ONE = ("--max_copies_of_pair", 1)


@pytest.mark.usefixtures("copies")
@pytest.mark.parametrize(
    ("option", "expected", "dropped", "duplicates", "is_engine"),
    [
        # 16 pairs; further copies are 4 of the first and 1 of the second.
        ((), range(19), None, 5, False),
        ((), range(19), None, 5, True),
        (ONE, {1, 6}, 5, 0, False),
        (ONE, {1, 6}, 5, 0, True),
        (("--max_copies_of_pair", 2), {1, 2, 6, 7}, 3, 2, False),
        (("--max_copies_of_pair", 5), {1, 2, 3, 4, 5, 6, 7}, 0, 5, True),
    ],
)
def test_of_equal_pairs_those_with_the_lowest_ids_stay(
    run,
    tmp_path,
    statistics_of,
    stored,
    monkeypatch,
    option,
    expected,
    dropped,
    duplicates,
    is_engine,
):
    if is_engine:
        monkeypatch.setattr("data_pipeline.job.plan._MIN_PARTITIONS", 3)
        monkeypatch.setattr("data_pipeline.job.run.is_local", lambda _: False)
    output = tmp_path / "out"
    run("--input", f"{tmp_path}/RC_*", "--output", output, "--format", "jsonl", *option)
    pairs, statistics = stored(output), statistics_of(output)
    found = {int(pair["response_id"][1:]) for pair in pairs}
    others = {8, *range(11, 19)}
    assert found == (set(expected) & set(range(1, 8))) | others
    assert statistics.get("copies_dropped") == dropped
    assert statistics["pairs"] == 7 + len(others)
    stored_pairs = statistics["train_pairs"] + statistics["test_pairs"]
    assert stored_pairs == len(pairs) == statistics["pairs"] - (dropped or 0)
    card = json.loads((output / "data_card.json").read_text())
    assert card["copies"] == {
        "duplicate_pairs": duplicates,
        "copypasta_replies": 3,
        "copypasta_characters": 50,
        "copypasta_copies": 3,
    }
    assert sum(count for _, count in card["subreddits"]) == len(pairs)


@pytest.mark.parametrize(("option", "pasted"), [((), 4), (("--max_copies_of_pair", 2), 0)])
def test_copypasta_is_looked_for_in_the_pairs_that_stay(
    run, write_dump, comment, tmp_path, option, pasted
):
    rows = [comment(f"q{number}", body="how are you") for number in range(4)]
    rows += [comment(f"a{number}", f"t1_q{number}", body=PASTED) for number in range(4)]
    run("--input", write_dump("RC.gz", rows), "--output", tmp_path / "out", *option)
    card = json.loads((tmp_path / "out" / "data_card.json").read_text())
    assert card["copies"]["copypasta_replies"] == pasted


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
