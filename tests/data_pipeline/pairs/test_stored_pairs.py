"""The files of a job: every format holds the same pairs, in the splits of their hashes."""

import gzip
import json
from functools import cache

import orjson
import pytest

from data_pipeline.__main__ import main
from data_pipeline.pairs.reader import read_pairs

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
SHARDS = ("--train_shards", "4")


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
    assert [len(files_of(folder, split)) for split in THREADS] == [4, 1, 5]
    counts = statistics_of(folder)
    assert list(counts)[-5:-2] == [f"{split}_pairs" for split in THREADS]
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
    first = [pair for path in files_of(folder, "train") for pair in read_pairs(str(path))][:5]
    shown = json.loads((folder / "data_card.json").read_text())["example_pairs"]
    assert [pair["response"] for pair in shown] == [pair["response"] for pair in first]


def test_without_validation_its_threads_are_to_learn_from_and_test_stays_the_same(
    job, statistics_of
):
    folder = job("--test_fraction", "0.3", *SHARDS, "--format", "jsonl")
    found = threads_of(folder)
    assert found["test"] == THREADS["test"]
    assert found["train"] == THREADS["train"] | THREADS["validation"]
    assert "validation_pairs" not in statistics_of(folder)
    assert not files_of(folder, "validation")


@pytest.mark.parametrize("form", ["tfrecord", "parquet"])
def test_a_shard_without_pairs_is_an_empty_file_that_can_be_read(job, form):
    options = ("--format", form, "--allow_empty", "--records_per_file", "3")
    folder = job(*options, dump="empty.gz")
    assert len(files_of(folder, "train")) == 16
    assert pairs_by_split(folder) == {"train": [], "validation": [], "test": []}
