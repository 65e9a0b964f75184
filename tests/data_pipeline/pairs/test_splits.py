"""The split: a stable hash of the thread or of the pair, or the age of the thread."""

import pyarrow as pa
import pytest

from data_pipeline.pairs.options import PairOptions
from data_pipeline.pairs.reader import read_pairs
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.pairs.splits import SPLITS, newest, stable_hash, times_of, with_splits


def where(keys, *, test, validation=0.0):
    """The split of each key."""
    rows = [dict.fromkeys(pairs_schema(0).names) | {"thread_id": key} for key in keys]
    options = PairOptions(
        input=("RC",), output="out", test_fraction=test, validation_fraction=validation
    )
    found = with_splits(pa.RecordBatch.from_pylist(rows, schema=pairs_schema(0)), options)
    return [SPLITS[split] for split in found.column("split").to_pylist()]


def test_the_hash_is_the_same_on_every_machine():
    # Of 2**64 blake2b-64 of b"t3_6" is 0.062, of t3_9 0.170, t3_5 0.290 and t3_10 0.324.
    keys = [f"t3_{n}" for n in (6, 9, 5, 10)]
    assert where(keys, test=0.1, validation=0.2) == ["test", "validation", "validation", "train"]
    assert where(keys, test=0.3) == ["test", "test", "test", "train"]
    assert where(keys, test=0.0, validation=0.999) == ["validation"] * 4


def test_about_the_asked_fraction_is_test_and_a_larger_one_keeps_it():
    keys = [str(n) for n in range(10_000)]
    tenth, fifth = where(keys, test=0.1), where(keys, test=0.2)
    assert 900 < tenth.count("test") < 1100
    assert all(b == "test" for a, b in zip(tenth, fifth, strict=True) if a == "test")
    assert set(where(keys, test=0.0)) == {"train"}


HASH = {name: int.from_bytes(stable_hash(name.encode()), "big") for name in "abcdef"}
FRACTIONS = ("--test_fraction", "0.2", "--validation_fraction", "0.1", "--split_by", "newest")
FIELDS = ("--thread_field", "dialogue", "--order_field", "at", "--text_field", "text")


def held_out(*cuts, test, **times):
    rows = [(thread, time) for thread, some in times.items() for time in some]
    schema = pa.schema([("thread_id", pa.string()), ("created", pa.int64())])
    table = pa.table([*zip(*rows, strict=True)], schema=schema)
    batches = map(times_of, table.to_batches(max_chunksize=cuts[0]))
    fractions = {"test_fraction": test, "validation_fraction": 0.3}
    found = newest(batches, PairOptions(input=("a.csv",), output="out", **fractions))
    names = {value: name for name, value in HASH.items()}
    return *({names[each] for each in some.tolist()} for some in found[:2]), found.unknown


@pytest.mark.parametrize("rows_a_batch", [1, 3, 100])
def test_the_earliest_reply_of_a_thread_counts_however_the_pairs_are_cut(rows_a_batch):
    times = {"a": [5, 90], "b": [40], "c": [30, None], "d": [None], "e": [20], "f": [10]}
    assert held_out(rows_a_batch, test=0.3, **times) == ({"b", "c"}, {"e", "f"}, 1)
    same = {name: [7] for name in HASH}
    assert held_out(rows_a_batch, test=0.5, **same)[0] == {*sorted(HASH, key=HASH.get)[:3]}


def turns(thread, *times):
    return [
        {"dialogue": thread, "at": time, "text": f"what {thread} says at {time}"} for time in times
    ]


def test_the_newest_threads_are_held_out(write_table, make, tmp_path):
    # Thread 9 began first, and was the last to end.
    rows = [row for n in range(9) for row in turns(f"d{n}", 1000 * n + 1, 1000 * n + 2)]
    path = write_table("turns.jsonl", [*rows, *turns("d9", 1, 2, 99_999)][::-1])
    given = ("conversations", "--input", path, *FIELDS, "--time_field", "at", *FRACTIONS)
    assert make(*given)[0]["threads_without_time"] == 0
    train, validation, test = (
        {pair["thread_id"] for pair in read_pairs(f"{tmp_path}/out/{split}-*")} for split in SPLITS
    )
    assert (validation, test) == ({"d6"}, {"d7", "d8"})
    assert len(train) == 7
