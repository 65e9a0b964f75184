"""The split: a stable hash of the thread or of the pair."""

import pyarrow as pa

from data_pipeline.pairs.options import PairOptions
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.pairs.splits import SPLITS, with_splits


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
