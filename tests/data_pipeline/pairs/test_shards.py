"""From pairs to files: which shard, which rows in which file, and what is said of a file."""

from collections import Counter

import apache_beam as beam
import google_crc32c
import orjson
import pyarrow as pa
import pytest
from apache_beam.testing.util import assert_that, equal_to

from data_pipeline.execution.exchange import Exchange
from data_pipeline.execution.report import ShardFile
from data_pipeline.pairs.formats import make_format
from data_pipeline.pairs.schema import pairs_schema, stored_columns
from data_pipeline.pairs.shards import ROWS, Sharding, WriteLines, write_shard


def sharding(**replaced):
    given = {
        "split_by": "thread",
        "test_fraction": 0.1,
        "train_shards": 4,
        "test_shards": 2,
        "format": make_format(
            "jsonl", names=stored_columns(replaced.get("context_turns", 0)), gzipped=False
        ),
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


def test_validation_is_a_split_only_where_it_is_asked_for():
    assert sharding().shards_by_split() == {"train": 4, "test": 2}
    assert sharding(validation_fraction=0.2).shards_by_split()["validation"] == 1
    with_validation = sharding(validation_fraction=0.2, validation_shards=3)
    assert with_validation.shards_by_split() == {"train": 4, "validation": 3, "test": 2}
    assert sharding(train_shards=2, test_shards=1).all_shards() == [
        ("train", 0),
        ("train", 1),
        ("test", 0),
    ]


def test_a_pair_goes_to_the_shard_of_its_reply_on_the_split_of_its_thread():
    # CRC-32 of b"r0" to b"r7" modulo 4 is 3, 1, 3, 1, 2, 0, 2, 0; of b"r0" modulo 2 it is 1, and
    # modulo 3 it is 2. blake2b-64 of t3_6 is 0.062 of 2**64 (test), of t3_9 0.170 (validation)
    # and of t3_1 0.854. Computed once with zlib and hashlib.
    pairs = [pair(n) for n in range(8)] + [pair(0, thread="t3_6"), pair(0, thread="t3_9")]
    split = sharding(validation_fraction=0.2, validation_shards=3)
    found = rows_by_shard(split, pairs).items()
    assert {shard: [row["response_id"] for row in rows] for shard, rows in found} == {
        ("train", 0): ["r5", "r7"],
        ("train", 1): ["r1", "r3"],
        ("train", 2): ["r4", "r6"],
        ("train", 3): ["r0", "r2"],
        ("test", 1): ["r0"],
        ("validation", 2): ["r0"],
    }
    assert rows_by_shard(sharding(), []) == {}


def test_a_row_has_the_features_of_its_pair_and_the_turns_asked_for():
    with_turns = sharding(context_turns=2)
    one, two, three = ("a",), ("b", "c"), ("d", "e", "f")
    pairs = [pair(0, context=turns) for turns in ((), one, two, three)]
    (found,) = rows_by_shard(with_turns, pairs).values()
    assert [(row["context/0"], row["context/1"]) for row in found] == [
        ("", ""),
        ("a", ""),
        ("b", "c"),
        ("d", "e"),
    ]
    assert found[0] == {
        "input": "question 0",
        "response": "answer 0",
        "input_id": "i0",
        "response_id": "r0",
        "thread_id": "t3_1",
        "subreddit": "s",
        "context/0": "",
        "context/1": "",
    }


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


@pytest.mark.parametrize(
    ("limits", "files"),
    [
        ({}, [slice(0, 5)]),
        ({"records_a_file": 2}, [slice(0, 2), slice(2, 4), slice(4, 5)]),
        ({"records_a_file": 5}, [slice(0, 5)]),
    ],
)
def test_a_shard_is_cut_where_a_file_would_be_too_large(limits, files):
    assert list(sharding(**limits).cut(5)) == files


def test_a_shard_without_rows_is_one_empty_file():
    for limits in ({}, {"records_a_file": 1}):
        assert list(sharding(**limits).cut(0)) == [slice(0, 0)]


def block_of(rows):
    keys = [int.from_bytes(checksum(row), "big") for row in rows]
    arrays = [pa.array(keys, pa.uint32()), pa.array(rows, pa.large_binary())]
    batch = pa.RecordBatch.from_arrays(arrays, schema=ROWS)
    ((_, block),) = Exchange("", inline=True).blocks([(0, batch)])
    return block


def checksum(row):
    return google_crc32c.value(row).to_bytes(4, "little")


def test_a_shards_files_hold_its_rows_in_an_order_of_their_own(tmp_path):
    rows = [b'{"a":%d}\n' % number for number in range(5)]
    written = {}
    for order in (rows, rows[::-1]):
        blocks = [block_of(some) for some in (order[:3], order[3:])]
        split = sharding(records_a_file=2, train_shards=8)
        element = split.all_shards().index(("train", 7)), [blocks[0], None, blocks[1]]
        files = list(write_shard(element, folder=str(tmp_path), sharding=split))
        contents = [(tmp_path / file.name).read_bytes() for file in files]
        written[order[0]] = files, contents
    assert written[rows[0]] == written[rows[-1]]
    # In the order of their CRC-32C, little endian.
    by_checksum = sorted(rows, key=checksum)
    assert b"".join(contents) == b"".join(by_checksum)
    assert [file.name for file in files] == [f"train-00007-0000{n}.jsonl" for n in range(3)]
    assert [file.records for file in files] == [2, 2, 1]
    for file, content in zip(files, contents, strict=True):
        assert file.split == "train"
        assert file.describe() == {
            "bytes": len(content),
            "crc32c": f"{google_crc32c.value(content):08x}",
            "records": content.count(b"\n"),
        }


def test_rows_of_one_checksum_are_in_the_order_of_their_bytes(tmp_path):
    rows = [b"b\n", b"a\n", b"c\n", b"a\n"]
    arrays = [pa.array([5, 5, 1, 5], pa.uint32()), pa.array(rows, pa.large_binary())]
    batch = pa.RecordBatch.from_arrays(arrays, schema=ROWS)
    ((_, block),) = Exchange("", inline=True).blocks([(0, batch)])
    (file,) = write_shard((0, [block]), folder=str(tmp_path), sharding=sharding())
    assert (tmp_path / file.name).read_bytes() == b"c\na\na\nb\n"


def test_lines_come_into_one_file_in_order(tmp_path):
    def read(numbers):
        return [b"%d\n" % number for number in numbers for _ in range(number)]

    lines = WriteLines(str(tmp_path), "lines.txt", read=read)
    assert lines._write(b"", elements=[3, 1, 2]) == ShardFile(
        name="lines.txt",
        split="",
        bytes=12,
        # CRC-32C of b"1\n2\n2\n3\n3\n3\n", computed once with google_crc32c.
        crc32c="96f8891a",
        records=6,
    )
    assert (tmp_path / "lines.txt").read_bytes() == b"1\n2\n2\n3\n3\n3\n"
    few = WriteLines(str(tmp_path), "few.txt", most=2)
    assert few._write(b"", elements=[b"c\n", b"b\n", b"a\n"]).records == 2
    assert (tmp_path / "few.txt").read_bytes() == b"a\nb\n"
    assert WriteLines(str(tmp_path), "none.txt")._write(b"", elements=[]).records == 0
    assert (tmp_path / "none.txt").read_bytes() == b""


def test_lines_of_a_collection_come_into_one_file(tmp_path):
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        lines = pipeline | beam.Create([b"b\n", b"c\n", b"a\n"])
        described = lines | WriteLines(str(tmp_path), "lines.txt")
        assert_that(described | beam.Map(lambda file: file.records), equal_to([3]))
    assert (tmp_path / "lines.txt").read_bytes() == b"a\nb\nc\n"


def test_lines_are_in_order_however_they_were_batched(tmp_path):
    WriteLines(str(tmp_path), "lines.txt")._write(b"", elements=[b"a\nd\n", b"c\n", b"b\n"])
    assert (tmp_path / "lines.txt").read_bytes() == b"a\nb\nc\nd\n"
