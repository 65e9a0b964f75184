"""From pairs to files: which shard, which rows in which file, and what is said of a file."""

from collections import Counter

import google_crc32c
import orjson
import pyarrow as pa
import pytest

from data_pipeline.execution.exchange import Exchange
from data_pipeline.pairs.options import PairOptions
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.pairs.shards import ROWS, Shards, write_shard
from data_pipeline.pairs.splits import with_splits


def shards_with(train=4, test=2, validation=0, **given):
    options = PairOptions(input=("RC",), output="out", format="jsonl", **given)
    by_split = {"train": train, "validation": validation, "test": test}
    return Shards(options, {split: number for split, number in by_split.items() if number})


def pair(number, *, thread="t3_1"):
    return {
        "input": f"question {number}",
        "response": f"answer {number}",
        "input_id": f"i{number}",
        "response_id": f"r{number}",
        "thread_id": thread,
        "subreddit": "s",
    }


def rows_by_shard(shards, pairs):
    """Shard -> its rows as dicts, in the order of the pairs."""
    options = shards.options
    batch = pa.RecordBatch.from_pylist(pairs, schema=pairs_schema(options.context_turns))
    rows, of_row = shards.rows(with_splits(batch, options))
    found = {}
    for row, shard in zip(rows.column("row").to_pylist(), of_row.tolist(), strict=True):
        found.setdefault(shards.listed()[shard], []).append(orjson.loads(row))
    return found


def test_a_pair_goes_to_the_shard_of_its_reply_on_the_split_of_its_thread():
    # CRC-32 of b"r0" to b"r7" modulo 4 is 3, 1, 3, 1, 2, 0, 2, 0; of b"r0" modulo 2 it is 1, and
    # modulo 3 it is 2. blake2b-64 of t3_6 is 0.062 of 2**64 (test), of t3_9 0.170 (validation)
    # and of t3_1 0.854. Computed once with zlib and hashlib.
    pairs = [pair(n) for n in range(8)] + [pair(0, thread="t3_6"), pair(0, thread="t3_9")]
    found = rows_by_shard(shards_with(validation_fraction=0.2, validation=3), pairs).items()
    assert {shard: [row["response_id"] for row in rows] for shard, rows in found} == {
        ("train", 0): ["r5", "r7"],
        ("train", 1): ["r1", "r3"],
        ("train", 2): ["r4", "r6"],
        ("train", 3): ["r0", "r2"],
        ("test", 1): ["r0"],
        ("validation", 2): ["r0"],
    }
    of_test = rows_by_shard(shards_with(), pairs)[("test", 1)]
    assert [row["thread_id"] for row in of_test] == ["t3_6"]
    assert rows_by_shard(shards_with(), []) == {}


@pytest.mark.parametrize("thread", ["t3_1", "t3_6"])
def test_by_pair_the_split_is_of_both_ids(thread):
    # blake2b-64 of b"c10 r10" is 0.064 of 2**64, computed once with hashlib.
    pairs = [
        pair(0, thread=thread) | {"input_id": input_id, "response_id": response_id}
        for input_id, response_id in (("c10", "r10"), ("r10", "c10"), ("c1", "r10"))
    ]
    found = rows_by_shard(shards_with(split_by="pair"), pairs)
    counts = Counter(split for (split, _), rows in found.items() for _ in rows)
    assert counts == {"test": 1, "train": 2}


def checksum(row):
    return google_crc32c.value(row).to_bytes(4, "little")


def write(shards, shard, tmp_path, rows, keys=None):
    """The files of a shard whose rows come in two blocks, and their contents."""
    keys = keys or [int.from_bytes(checksum(row), "big") for row in rows]
    arrays = [pa.array(keys, pa.uint32()), pa.array(rows, pa.large_binary())]
    batch = pa.RecordBatch.from_arrays(arrays, schema=ROWS)
    halves = [(0, batch.slice(0, 3)), (0, batch.slice(3))]
    (_, one), (_, two) = Exchange("", inline=True).blocks(halves)
    element = shards.listed().index(shard), [one, None, two]
    files = list(write_shard(element, folder=str(tmp_path), shards=shards))
    return files, [(tmp_path / file.name).read_bytes() for file in files]


def test_a_shards_files_hold_its_rows_in_an_order_of_their_own(tmp_path):
    rows = [b'{"a":%d}\n' % number for number in range(5)]
    shards = shards_with(records_per_file=2, train=8)
    files, contents = write(shards, ("train", 7), tmp_path, rows)
    assert (files, contents) == write(shards, ("train", 7), tmp_path, rows[::-1])
    # In the order of their CRC-32C, little endian.
    assert b"".join(contents) == b"".join(sorted(rows, key=checksum))
    assert [file.name for file in files] == [f"train-00007-0000{n}.jsonl" for n in range(3)]
    assert [file.records for file in files] == [2, 2, 1]
    for file, content in zip(files, contents, strict=True):
        assert file.split == "train"
        assert file.describe() == {
            "bytes": len(content),
            "crc32c": f"{google_crc32c.value(content):08x}",
            "records": content.count(b"\n"),
        }
    # Rows of one checksum are in the order of their bytes.
    rows = [b"b\n", b"a\n", b"c\n", b"a\n"]
    _, contents = write(shards_with(), ("train", 0), tmp_path, rows, keys=[5, 5, 1, 5])
    assert contents == [b"c\na\na\nb\n"]
    files, contents = write(shards_with(records_per_file=1), ("train", 0), tmp_path, [])
    assert ([file.records for file in files], contents) == ([0], [b""])
