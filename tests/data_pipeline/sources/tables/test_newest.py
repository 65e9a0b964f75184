"""`--split_by newest`: threads by the time of their earliest reply."""

import json

import numpy as np
import pyarrow as pa
import pytest

from data_pipeline.pairs import newest
from data_pipeline.pairs.splits import SPLITS, stable_hash

HASH = {name: int.from_bytes(stable_hash(name.encode()), "big") for name in "abcdef"}
FRACTIONS = ("--test_fraction", "0.2", "--validation_fraction", "0.1", "--split_by", "newest")
FIELDS = ("--thread_field", "dialogue", "--order_field", "at", "--text_field", "text")


def batch(**times):
    rows = [(thread, time) for thread, all_times in times.items() for time in all_times]
    columns = {"thread_id": [row[0] for row in rows], "created": [row[1] for row in rows]}
    schema = pa.schema([("thread_id", pa.string()), ("created", pa.int64())])
    return pa.RecordBatch.from_pydict(columns, schema=schema)


def held_out(*batches, test=0.3, validation=0.3):
    found = newest.newest(
        [newest.times_of(one) for one in batches],
        test_fraction=test,
        validation_fraction=validation,
    )
    names = {value: name for name, value in HASH.items()}
    test, validation = ({names[each] for each in those.tolist()} for those in found[:2])
    return test, validation, found.unknown


def test_the_earliest_reply_of_a_thread_counts_however_the_pairs_are_cut():
    pairs = batch(a=[5, 90], b=[40], c=[30, None], d=[None], e=[20], f=[10])
    expected = {"b", "c"}, {"e", "f"}, 1
    assert held_out(pairs) == expected
    assert held_out(*(pairs.slice(row, 1) for row in range(pairs.num_rows))) == expected
    assert held_out(test=0.3) == (set(), set(), 0)


def test_of_threads_of_one_age_the_hash_decides():
    pairs = batch(**{name: [7] for name in HASH})
    assert held_out(pairs, test=0.5, validation=0)[0] == set(sorted("abcdef", key=HASH.get)[:3])


def test_every_pair_of_a_thread_gets_its_split():
    pairs = batch(a=[5, 90], b=[40], c=[30])
    those = newest.HeldOut(np.array([HASH["b"]], np.uint64), np.array([], np.uint64), 0)
    found = newest.with_splits(pairs, those).column("split").to_pylist()
    assert [SPLITS[split] for split in found] == ["train", "train", "test", "train"]


def turns(thread, *times):
    return [
        {"dialogue": thread, "at": time, "text": f"what {thread} says at {time}"} for time in times
    ]


def test_the_newest_threads_are_held_out(write_table, make, tmp_path):
    # Thread 9 began first, and was the last to end.
    rows = [row for n in range(9) for row in turns(f"d{n}", 1000 * n + 1, 1000 * n + 2)]
    rows += turns("d9", 1, 2, 99_999)
    path = write_table("turns.jsonl", rows[::-1])
    given = ("conversations", "--input", path, *FIELDS, "--time_field", "at", *FRACTIONS)
    counts, _ = make(*given)
    assert counts["threads_without_time"] == 0
    there = {
        split: {
            json.loads(line)["thread_id"]
            for file in (tmp_path / "out").glob(f"{split}-*")
            for line in file.read_text().splitlines()
        }
        for split in SPLITS
    }
    assert there["test"] == {"d7", "d8"}
    assert there["validation"] == {"d6"}
    assert "d9" in there["train"]


@pytest.mark.parametrize(
    ("given", "named"), [((), "--time_field"), (("--time_field", "text"), "--split_by")]
)
def test_messages_without_times_are_refused(write_table, refused, given, named):
    path = write_table("turns.jsonl", turns("a", 1, 2) + turns("b", 3, 4))
    assert named in refused("conversations", "--input", path, *FIELDS, *given, *FRACTIONS)
