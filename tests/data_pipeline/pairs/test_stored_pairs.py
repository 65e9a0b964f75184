"""The files of a job: every format holds the same pairs, in the splits of their hashes."""

import gzip
import json
from functools import cache

import orjson
import pyarrow as pa
import pyarrow.parquet
import pytest
import tensorflow as tf

from data_pipeline.__main__ import main
from data_pipeline.job.settings import settings_of
from data_pipeline.pairs.reader import read_pairs
from data_pipeline.pairs.tfrecord import FEATURES
from data_pipeline.sources.reddit.options import RedditOptions

# First digits of `printf t3_N | b2sum --length 64`, of N below 20:
#   46c8 da9f 3fc1 fa44 db3d 4a38 0fd8 bbdc 5634 2b6b
#   52db 1195 a886 71a8 0fa0 b1fd 43cf 6624 a7b4 78a5
# 0.3 ends at 4ccc, 0.3 + 0.2 at 8000.
THREADS = {
    "train": {1, 3, 4, 7, 12, 15, 18},
    "validation": {8, 10, 13, 17, 19},
    "test": {0, 2, 5, 6, 9, 11, 14, 16},
}
REPLIES = 10
TEXTS = ("a plain reply ", "eine längere Antwort ", "日本語の返事 ", 'words\n"of\tothers" \\ and ')
SPLIT = ("--test_fraction", "0.3", "--validation_fraction", "0.2")
SHARDS = ("--train_shards", "4", "--test_shards", "2")


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """Runs the command on 20 threads of 10 pairs; returns the folder, made once for its options."""
    folder = tmp_path_factory.mktemp("jobs")
    rows = []
    for thread in range(20):
        own = {"link_id": f"t3_{thread}", "subreddit": f"sub_{thread % 3}", "author": "someone"}
        rows.append({"id": f"p{thread}", "parent_id": f"t3_{thread}", "body": "what is it", **own})
        for n in range(REPLIES):
            body = TEXTS[n % 4] + "x" * (REPLIES * thread + n)
            rows.append({"id": f"r{thread}_{n}", "parent_id": f"t1_p{thread}", "body": body, **own})
    (folder / "RC.gz").write_bytes(gzip.compress(b"\n".join(map(orjson.dumps, rows))))
    (folder / "empty.gz").write_bytes(gzip.compress(b""))

    @cache
    def reddit(*options, dump="RC.gz"):
        output = folder / "".join(option.strip("-") for option in (dump, *options))
        main(["reddit", "--input", str(folder / dump), "--output", str(output), *options])
        return output

    return reddit


def files_of(folder, split):
    """Its files in their order, whose numbers must be without a gap."""
    paths = sorted(folder.glob(f"{split}-*"))
    stems = [path.name.split(".")[0] for path in paths]
    assert stems == [f"{split}-{n:05d}-of-{len(paths):05d}" for n in range(len(paths))]
    return paths


def pairs_by_split(folder, splits=THREADS):
    return {
        split: sorted(
            json.dumps(pair, sort_keys=True)
            for path in files_of(folder, split)
            for pair in read_pairs(str(path))
        )
        for split in splits
    }


def threads_of(folder):
    return {
        split: {int(json.loads(pair)["thread_id"].removeprefix("t3_")) for pair in pairs}
        for split, pairs in pairs_by_split(folder).items()
    }


def test_threads_stand_where_their_hashes_say(job, statistics_of):
    folder = job(*SPLIT, *SHARDS, "--format", "jsonl")
    assert threads_of(folder) == THREADS
    assert [len(files_of(folder, split)) for split in THREADS] == [4, 1, 2]
    counts = statistics_of(folder)
    assert list(counts)[-3:] == [f"{split}_pairs" for split in THREADS]
    sizes = {split: REPLIES * len(threads) for split, threads in THREADS.items()}
    assert {split: counts[f"{split}_pairs"] for split in THREADS} == sizes
    manifest = json.loads((folder / "COMPLETED").read_text())
    options = manifest["options"]
    assert (options["validation_fraction"], options["validation_shards"]) == (0.2, 1)
    assert {
        name: about["records"] for name, about in manifest["outputs"].items() if name[0] in "vt"
    } == {
        path.name: len(list(read_pairs(str(path))))
        for split in THREADS
        for path in files_of(folder, split)
    }
    card = json.loads((folder / "data_card.json").read_text())
    assert card["counts"] == counts


@pytest.mark.parametrize(
    "form", [("tfrecord",), ("tfrecord", "--gzip"), ("jsonl", "--gzip"), ("parquet",)]
)
def test_all_formats_hold_the_same_pairs(job, form):
    expected = pairs_by_split(job(*SPLIT, *SHARDS, "--format", "jsonl"))
    folder = job(*SPLIT, *SHARDS, "--format", *form)
    assert pairs_by_split(folder) == expected
    for path in files_of(folder, "train"):
        if form == ("parquet",):
            schema = pyarrow.parquet.read_schema(path)
            assert schema.names == [*FEATURES]
            assert set(schema.types) == {pa.string()}
        elif form[0] == "tfrecord":
            compression = "GZIP" if form[1:] else ""
            stored = tf.data.TFRecordDataset(str(path), compression_type=compression)
            ids = [
                tf.train.Example.FromString(record.numpy()).features.feature["response_id"]
                for record in stored
            ]
            assert [value.bytes_list.value[0].decode() for value in ids] == [
                pair["response_id"] for pair in read_pairs(str(path))
            ]


def test_without_validation_its_threads_are_to_learn_from_and_test_stays_the_same(
    job, statistics_of
):
    folder = job("--test_fraction", "0.3", *SHARDS, "--format", "jsonl")
    found = threads_of(folder)
    assert found["test"] == THREADS["test"]
    assert found["train"] == THREADS["train"] | THREADS["validation"]
    assert "validation_pairs" not in statistics_of(folder)
    assert not files_of(folder, "validation")
    for name in ("COMPLETED", "data_card.json", "data_card.html"):
        assert "validat" not in (folder / name).read_text()


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_no_file_has_more_records_than_asked_for(job, form):
    plain = job(*SPLIT, *SHARDS, "--format", form)
    folder = job(*SPLIT, *SHARDS, "--format", form, "--records_per_file", "7")
    assert pairs_by_split(folder) == pairs_by_split(plain)
    for split in THREADS:
        sizes = [len(list(read_pairs(str(path)))) for path in files_of(folder, split)]
        # Each shard becomes full files and a rest.
        of_shards = [len(list(read_pairs(str(path)))) for path in files_of(plain, split)]
        assert sizes == [
            size for n in of_shards for size in [7] * (n // 7) + ([n % 7] if n % 7 else [])
        ]


@pytest.mark.parametrize("form", ["tfrecord", "parquet"])
def test_a_shard_without_pairs_is_an_empty_file_that_can_be_read(job, form):
    options = ("--format", form, "--allow_empty", "--records_per_file", "3")
    folder = job(*options, dump="empty.gz")
    assert len(files_of(folder, "train")) == 16
    assert pairs_by_split(folder) == {"train": [], "validation": [], "test": []}


def test_all_pairs_can_be_to_test_on(job):
    found = pairs_by_split(job("--test_fraction", "1", "--format", "jsonl"))
    assert (found["train"], len(found["test"])) == ([], 20 * REPLIES)


def test_by_pair_the_split_is_of_the_pair(run, write_dump, comment, tmp_path, stored):
    # First digits of `printf "iN rN" | b2sum --length 64`, of N from 1 to 8:
    #   98f8 29c5 d673 2fcb 0baf 35ea 41a1 9fcd
    # 0.2 ends at 3333, 0.2 + 0.1 at 4ccc.
    rows = [comment(f"i{n}", body="an input") for n in range(1, 9)]
    rows += [comment(f"r{n}", f"t1_i{n}", body="a response") for n in range(1, 9)]
    run(
        *("--input", write_dump("RC.gz", rows), "--output", tmp_path / "out"),
        *("--format", "jsonl", "--split_by", "pair"),
        *("--test_fraction", 0.2, "--validation_fraction", 0.1),
    )
    found = {
        split: sorted(int(pair["response_id"][1:]) for pair in stored(tmp_path / "out", split))
        for split in THREADS
    }
    assert found == {"test": [2, 4, 5], "validation": [6, 7], "train": [1, 3, 8]}


@pytest.mark.parametrize(("gigabytes", "shards"), [(0, 1), (1, 3), (64, 205)])
def test_a_large_input_has_more_validation_shards(gigabytes, shards):
    """A worker holds a shard: 32 MiB of input are to be one in all splits together."""
    options = RedditOptions(input=("RC",), output="out", validation_fraction=0.1)
    settings = settings_of(options, stored_bytes=int(gigabytes * 2**30))
    assert settings.sharding.validation_shards == shards
