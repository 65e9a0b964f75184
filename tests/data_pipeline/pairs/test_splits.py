"""The split: stable, by thread or by pair."""

import pyarrow as pa
import pytest

from data_pipeline.pairs import splits
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.pairs.splits import SPLIT_BY, SPLITS, split_keys, splits_of

SCHEMA = pairs_schema(0)


def is_test(split_by, fraction, thread="t", input_id="i", response_id="r"):
    return where(split_by, fraction, thread, input_id, response_id) == "test"


def where(split_by, fraction, thread="t", input_id="i", response_id="r", *, validation=0.0):
    pair = {"input": "", "response": "", "input_id": input_id, "response_id": response_id}
    pair |= {"thread_id": thread, "subreddit": ""}
    batch = pa.RecordBatch.from_pylist([pair], schema=SCHEMA)
    keys = split_keys(batch, split_by)
    (split,) = splits_of(keys, test_fraction=fraction, validation_fraction=validation)
    return SPLITS[split]


def test_the_names_that_options_and_files_have():
    assert SPLIT_BY == ("thread", "pair")
    assert SPLITS == ("train", "validation", "test")
    for split_by in SPLIT_BY:
        ids = [(f"t{n}", f"i{n}", f"r{n}") for n in range(50)]
        assert {where(split_by, 0.3, *some, validation=0.3) for some in ids} == set(SPLITS)


def test_the_hash_is_the_same_on_every_machine():
    # blake2b-64 of b"t3_0".."t3_19" below 0.3 * 2**64; computed once with hashlib.
    test_threads = [n for n in range(20) if is_test("thread", 0.3, thread=f"t3_{n}")]
    assert test_threads == [0, 2, 5, 6, 9, 11, 14, 16]


def test_all_pairs_of_a_thread_are_on_one_split():
    for thread in map(str, range(50)):
        splits = {is_test("thread", 0.5, thread=thread, response_id=str(n)) for n in range(20)}
        assert len(splits) == 1


def test_by_pair_a_thread_is_in_both_splits():
    assert {is_test("pair", 0.5, response_id=str(n)) for n in range(20)} == {True, False}
    assert {is_test("pair", 0.5, input_id=str(n)) for n in range(20)} == {True, False}


def test_about_the_asked_fraction_is_test_and_a_larger_one_keeps_it():
    threads = [str(n) for n in range(10_000)]
    tenth = {t for t in threads if is_test("thread", 0.1, thread=t)}
    fifth = {t for t in threads if is_test("thread", 0.2, thread=t)}
    assert 900 < len(tenth) < 1100
    assert tenth < fifth
    assert not any(is_test("thread", 0.0, thread=t) for t in threads)


def test_validation_is_the_next_fraction_above_test():
    # Of 2**64 blake2b-64 of b"t3_6" is 0.062, of t3_9 0.170, t3_5 0.290 and t3_10 0.324.
    splits = [where("thread", 0.1, f"t3_{n}", validation=0.2) for n in (6, 9, 5, 10)]
    assert splits == ["test", "validation", "validation", "train"]
    assert [where("thread", 0.1, f"t3_{n}") for n in (6, 9)] == ["test", "train"]
    assert where("thread", 0.0, "t3_6", validation=1.0) == "validation"


@pytest.mark.parametrize("fraction", [0.0, 1e-18, 0.1, 0.5, 1 - 2**-53, 1.0])
def test_the_share_of_a_fraction_ends_where_its_number_does(monkeypatch, fraction):
    around = {0, int(fraction * 2**64) - 1, int(fraction * 2**64), int(fraction * 2**64) + 1}
    positions = sorted(place for place in around | {2**64 - 1} if 0 <= place < 2**64)
    monkeypatch.setattr(splits, "stable_hash", lambda number: int(number).to_bytes(8, "big"))
    keys = pa.array(map(str, positions))
    found = splits_of(keys, test_fraction=fraction, validation_fraction=0)
    expected = ["test" if place < fraction * 2**64 else "train" for place in positions]
    assert [SPLITS[split] for split in found] == expected
