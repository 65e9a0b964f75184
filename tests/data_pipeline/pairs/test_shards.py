"""From pairs to files: which shard, which rows in which file, and what is said of a file."""

from collections import Counter

import apache_beam as beam
import google_crc32c
import orjson
import pyarrow as pa
import pytest
from apache_beam.testing.util import assert_that, equal_to

from data_pipeline.execution.exchange import Exchange
from data_pipeline.pairs.formats import make_format
from data_pipeline.pairs.schema import pairs_schema, stored_columns
from data_pipeline.pairs.shards import ROWS, Sharding, WriteLines, write_shard


def sharding(**replaced):
    turns = replaced.get("context_turns", 0)
    given = {
        "split_by": "thread",
        "test_fraction": 0.1,
        "train_shards": 4,
        "test_shards": 2,
        "format": make_format("jsonl", names=stored_columns(turns), gzipped=False),
        "context_turns": 0,
        "records_a_file": None,
    }
    return Sharding(**given | replaced)


def pair(number, *, thread="t3_1", context=()):
    return {
        "input": f"question {number}",
        "response": f"answer {number}",
        "input_id": f"i{number}",
        "response_id": f"r{number}",
        "thread_id": thread,
        "subreddit": "s",
        **{f"context/{turn}": text for turn, text in enumerate(context)},
    }


def rows_by_shard(split, pairs):
    """Shard -> its rows as dicts, in the order of the pairs."""
    batch = pa.RecordBatch.from_pylist(pairs, schema=pairs_schema(split.context_turns))
    rows, shards = split.rows(batch)
    found = {}
    for row, shard in zip(rows.column("row").to_pylist(), shards.tolist(), strict=True):
        found.setdefault(split.all_shards()[shard], []).append(orjson.loads(row))
    return found


def test_a_pair_goes_to_the_shard_of_its_reply_on_the_split_of_its_thread():
    # CRC-32 of b"r0" to b"r7" modulo 4 is 3, 1, 3, 1, 2, 0, 2, 0; of b"r0" modulo 2 it is 1, and
    # modulo 3 it is 2. blake2b-64 of t3_6 is 0.062 of 2**64 (test), of t3_9 0.170 (validation)
    # and of t3_1 0.854. Computed once with zlib and hashlib.
    pairs = [pair(n) for n in range(8)] + [pair(0, thread="t3_6"), pair(0, thread="t3_9")]
    split = sharding(validation_fraction=0.2, validation_shards=3)
    assert split.shards_by_split() == {"train": 4, "validation": 3, "test": 2}
    found = rows_by_shard(split, pairs).items()
    assert {shard: [row["response_id"] for row in rows] for shard, rows in found} == {
        ("train", 0): ["r5", "r7"],
        ("train", 1): ["r1", "r3"],
        ("train", 2): ["r4", "r6"],
        ("train", 3): ["r0", "r2"],
        ("test", 1): ["r0"],
        ("validation", 2): ["r0"],
    }
    assert sharding().shards_by_split() == {"train": 4, "test": 2}
    of_test = rows_by_shard(sharding(), pairs)[("test", 1)]
    assert [row["thread_id"] for row in of_test] == ["t3_6"]
    assert rows_by_shard(sharding(), []) == {}


def test_a_row_has_the_features_of_its_pair_and_the_turns_asked_for():
    contexts = ((), ("a",), ("b", "c"), ("d", "e", "f"))
    pairs = [pair(0, context=turns) for turns in contexts]
    (found,) = rows_by_shard(sharding(context_turns=2), pairs).values()
    assert found == [
        pair(0, context=turns) for turns in (("", ""), ("a", ""), ("b", "c"), ("d", "e"))
    ]


@pytest.mark.parametrize("thread", ["t3_1", "t3_6"])
def test_by_pair_the_split_is_of_both_ids(thread):
    # blake2b-64 of b"c10 r10" is 0.064 of 2**64, computed once with hashlib.
    pairs = [
        pair(0, thread=thread) | {"input_id": input_id, "response_id": response_id}
        for input_id, response_id in (("c10", "r10"), ("r10", "c10"), ("c1", "r10"))
    ]
    found = rows_by_shard(sharding(split_by="pair"), pairs)
    counts = Counter(split for (split, _), rows in found.items() for _ in rows)
    assert counts == {"test": 1, "train": 2}


def checksum(row):
    return google_crc32c.value(row).to_bytes(4, "little")


def write(split, shard, tmp_path, rows, keys=None):
    """The files of a shard whose rows come in two blocks, and their contents."""
    keys = keys or [int.from_bytes(checksum(row), "big") for row in rows]
    arrays = [pa.array(keys, pa.uint32()), pa.array(rows, pa.large_binary())]
    batch = pa.RecordBatch.from_arrays(arrays, schema=ROWS)
    halves = [(0, batch.slice(0, 3)), (0, batch.slice(3))]
    (_, one), (_, two) = Exchange("", inline=True).blocks(halves)
    element = split.all_shards().index(shard), [one, None, two]
    files = list(write_shard(element, folder=str(tmp_path), sharding=split))
    return files, [(tmp_path / file.name).read_bytes() for file in files]


def test_a_shards_files_hold_its_rows_in_an_order_of_their_own(tmp_path):
    rows = [b'{"a":%d}\n' % number for number in range(5)]
    split = sharding(records_a_file=2, train_shards=8)
    files, contents = write(split, ("train", 7), tmp_path, rows)
    assert (files, contents) == write(split, ("train", 7), tmp_path, rows[::-1])
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
    _, contents = write(sharding(), ("train", 0), tmp_path, rows, keys=[5, 5, 1, 5])
    assert contents == [b"c\na\na\nb\n"]
    files, contents = write(sharding(records_a_file=1), ("train", 0), tmp_path, [])
    assert ([file.records for file in files], contents) == ([0], [b""])


def test_lines_come_into_one_file_in_order_however_they_were_batched(tmp_path):
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        lines = pipeline | beam.Create([b"b\n", b"c\n", b"a\nd\n"])
        few = lines | "few" >> WriteLines(str(tmp_path), "few.txt", most=3)
        none = (
            lines
            | beam.Filter(lambda _: False)
            | "none" >> WriteLines(str(tmp_path), "none.txt", read=list)
        )
        records = (few, none) | beam.Flatten() | beam.Map(lambda file: (file.name, file.records))
        assert_that(records, equal_to([("few.txt", 3), ("none.txt", 0)]))
    assert (tmp_path / "few.txt").read_bytes() == b"a\nb\nc\n"
    assert (tmp_path / "none.txt").read_bytes() == b""
