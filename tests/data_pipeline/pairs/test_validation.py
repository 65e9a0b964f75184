"""`--validation_fraction` through the whole command: who stands where, and nothing unless asked."""

import json

import pytest

from data_pipeline.job.options import PairOptions, check

# First digits of `printf t3_N | b2sum --length 64`, of N below 20:
#   46c8 da9f 3fc1 fa44 db3d 4a38 0fd8 bbdc 5634 2b6b
#   52db 1195 a886 71a8 0fa0 b1fd 43cf 6624 a7b4 78a5
# 0.3 ends at 4ccc, 0.3 + 0.2 at 8000.
THREADS = {
    "test": {0, 2, 5, 6, 9, 11, 14, 16},
    "validation": {8, 10, 13, 17, 19},
    "train": {1, 3, 4, 7, 12, 15, 18},
}
REPLIES = 3
ASKED = ("--test_fraction", 0.3, "--validation_fraction", 0.2)


@pytest.fixture
def dump(write_dump, comment):
    """20 threads with 3 pairs each."""
    rows = []
    for thread in range(20):
        link = {"link_id": f"t3_{thread}"}
        rows.append(comment(f"p{thread}", f"t3_{thread}", body="what do you say", **link))
        rows += [
            comment(f"r{thread}_{n}", f"t1_p{thread}", body=f"reply {'abc'[n]}", **link)
            for n in range(REPLIES)
        ]
    return write_dump("RC.gz", rows)


@pytest.fixture
def job(run, dump, tmp_path):
    """Runs the command; returns the folder, with the dump read only once."""

    def reddit(name, *options):
        cached = ("--cache", tmp_path / "cache", "--format", "jsonl", "--train_shards", 2)
        run("--input", dump, "--output", tmp_path / name, *cached, *options)
        return tmp_path / name

    return reddit


def splits_of(folder, stored):
    return {
        split: {int(pair["thread_id"].removeprefix("t3_")) for pair in stored(folder, split)}
        for split in THREADS
    }


def files_of(folder):
    return sorted(path.name for path in folder.glob("*-of-*.jsonl") if path.name[0] in "tv")


@pytest.mark.parametrize(("gigabytes", "shards"), [(0, 1), (0.1, 1), (1, 3), (64, 205)])
def test_a_large_input_has_more_shards_of_it(gigabytes, shards):
    """A worker holds a shard: 32 MiB of input are to be one in all splits together."""
    options = PairOptions(validation_fraction=0.1)
    settings = check(options, stored_bytes=int(gigabytes * 2**30), described={})
    assert settings.sharding.validation_shards == shards


def test_threads_stand_where_their_hashes_say(job, stored):
    folder = job("out", *ASKED)
    assert splits_of(folder, stored) == THREADS
    for split, threads in THREADS.items():
        assert len(stored(folder, split)) == REPLIES * len(threads)


def test_threads_of_validation_would_be_to_learn_from_and_test_stays_the_same(job, stored):
    folder = job("out", "--test_fraction", 0.3)
    assert {pair["thread_id"] for pair in stored(folder, "test")} == {
        f"t3_{n}" for n in THREADS["test"]
    }
    assert {pair["thread_id"] for pair in stored(folder, "train")} == {
        f"t3_{n}" for n in THREADS["train"] | THREADS["validation"]
    }


@pytest.mark.parametrize(("asked", "shards"), [((), 1), (("--validation_shards", 3), 3)])
def test_its_shards_stand_beside_the_others(job, asked, shards):
    assert files_of(job("out", *ASKED, *asked, "--test_shards", 1)) == [
        "test-00000-of-00001.jsonl",
        "train-00000-of-00002.jsonl",
        "train-00001-of-00002.jsonl",
        *(f"validation-{n:05d}-of-{shards:05d}.jsonl" for n in range(shards)),
    ]


def test_it_is_counted_and_described(job, statistics_of):
    folder = job("out", *ASKED)
    counts = statistics_of(folder)
    assert list(counts)[-3:] == ["train_pairs", "validation_pairs", "test_pairs"]
    assert [counts[f"{split}_pairs"] for split in THREADS] == [
        REPLIES * len(threads) for threads in THREADS.values()
    ]
    manifest = json.loads((folder / "COMPLETED").read_text())
    options = manifest["options"]
    assert (options["validation_fraction"], options["validation_shards"]) == (0.2, 1)
    assert manifest["outputs"]["validation-00000-of-00001.jsonl"]["records"] == 15
    card = json.loads((folder / "data_card.json").read_text())
    assert card["counts"] == counts
    page = (folder / "data_card.html").read_text()
    assert "Data card: 60 pairs from Reddit" in page
    assert "<dt>to validate</dt><dd>15</dd>" in page
    assert "in one split of train, validation and test." in page
    assert "pairs to choose models by" in page


def test_nothing_says_so_where_it_is_not_asked_for(job, statistics_of):
    folder = job("out")
    assert "validation_pairs" not in statistics_of(folder)
    assert not [name for name in files_of(folder) if name.startswith("validation")]
    for name in ("COMPLETED", "data_card.json", "data_card.html"):
        assert "validat" not in (folder / name).read_text()


def test_a_validation_set_of_another_job_does_not_stay(job):
    folder = job("out", *ASKED)
    job("out", "--test_fraction", 0.3, "--overwrite")
    assert not list(folder.glob("validation-*"))


def test_by_pair_it_is_a_part_of_the_pairs(run, write_dump, comment, tmp_path, stored):
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
    page = (tmp_path / "out" / "data_card.html").read_text()
    assert "put into train, validation or test by itself" in page
