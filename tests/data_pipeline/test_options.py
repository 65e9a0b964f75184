"""Options of the whole command: storage, selection, copies, context, decontamination."""

import gzip
import itertools
import json

import pyarrow.parquet
import pytest
import tensorflow as tf

NAMES = ("input", "response", "input_id", "response_id", "thread_id", "subreddit")


def read_all(folder):
    """Every pair of a folder, as a dict, whatever the format."""
    for path in sorted(folder.glob("t*-*-of-*")):
        data = path.read_bytes()
        compression = "GZIP" if path.suffix == ".gz" else ""
        if ".tfrecord" in path.name:
            for record in tf.data.TFRecordDataset(str(path), compression_type=compression):
                features = tf.train.Example.FromString(record.numpy()).features.feature
                yield {name: features[name].bytes_list.value[0].decode() for name in features}
            continue
        data = gzip.decompress(data) if compression else data
        if ".jsonl" in path.name:
            yield from map(json.loads, data.splitlines())
        else:
            yield from pyarrow.parquet.read_table(tf_file(data)).to_pylist()


def tf_file(data):
    return pyarrow.BufferReader(data)


@pytest.fixture
def job(run, tmp_path, statistics_of):
    """Runs the job on all dumps; returns its pairs and its statistics."""
    numbers = itertools.count()

    def reddit(*options):
        output = tmp_path / f"out{next(numbers)}"
        months = ("--months", tmp_path / "months")
        run("--input", f"{tmp_path}/RC_*", "--output", output, *months, *options)
        return list(read_all(output)), statistics_of(output), output

    return reddit


@pytest.fixture
def chain(write_dump, comment):
    """a1 <- a2 <- a3 <- a4, over two files, and a reply in another thread."""
    write_dump(
        "RC_1.gz",
        [
            comment("a1", body="the first of all", score=5, subreddit="Fish", author="Helper"),
            comment("a2", "t1_a1", body="the second of them", score=1, subreddit="Fish"),
            comment("a4", "t1_a3", body="the fourth of them", score=5),
        ],
    )
    write_dump(
        "RC_2.gz",
        [
            comment("a3", "t1_a2", body="the third of them", link_id="t3_q", over_18=True),
            comment("x1", "t1_x2", body="one of a circle"),
            comment("x2", "t1_x1", body="two of a circle"),
        ],
    )


@pytest.mark.parametrize("form", ["tfrecord", "parquet", "jsonl"])
def test_every_format_holds_the_same_pairs(chain, job, form):
    expected = {
        ("the first of all", "the second of them"),
        ("the second of them", "the third of them"),
        ("the third of them", "the fourth of them"),
        ("one of a circle", "two of a circle"),
        ("two of a circle", "one of a circle"),
    }
    for more, suffix in (((), f".{form}"), (("--gzip",), f".{form}.gz")):
        pairs, statistics, output = job("--format", form, *more)
        assert {(pair["input"], pair["response"]) for pair in pairs} == expected
        assert all(tuple(pair) == NAMES or set(pair) == set(NAMES) for pair in pairs)
        assert statistics["pairs"] == len(pairs) == 5
        files = list(output.glob("t*-of-*"))
        assert files
        assert all(path.name.endswith(suffix) for path in files)


@pytest.mark.parametrize(
    ("limit", "files"), [(("--records_per_file", 2), 3), (("--bytes_per_file", 1), 5)]
)
def test_limits_make_more_files_and_lose_nothing(chain, job, limit, files):
    one = ("--train_shards", 1, "--test_fraction", 0)
    pairs, _, output = job(*one, *limit)
    assert len(pairs) == 5
    names = sorted(path.name for path in output.glob("train-*"))
    assert names == [f"train-{n:05d}-of-{files:05d}.tfrecord" for n in range(files)]


def test_context_turns_nearest_first(chain, job, monkeypatch):
    def check(pairs):
        context = {pair["response_id"]: (pair["context/0"], pair["context/1"]) for pair in pairs}
        assert context == {
            "a2": ("", ""),
            "a3": ("the first of all", ""),
            "a4": ("the second of them", "the first of all"),
            "x1": ("", ""),
            "x2": ("", ""),
        }

    check(job("--context_turns", 2)[0])
    monkeypatch.setattr("data_pipeline.options._MIN_PARTS", 3)
    monkeypatch.setattr("data_pipeline.launch.is_local", lambda _: False)
    check(job("--context_turns", 2, "--format", "jsonl")[0])


@pytest.mark.parametrize(
    ("option", "rule", "dropped"),
    [
        (("--min_characters", 17), "min_characters", 3),
        (("--min_score", 2), "min_score", 4),  # a score of 1, and three without
        (("--subreddits", "r/fish,Cats"), "subreddits", 4),
        (("--exclude_subreddits", "FISH"), "exclude_subreddits", 2),
        (("--drop_over_18",), "over_18", 1),
    ],
)
def test_further_filters_are_counted(chain, job, option, rule, dropped):
    _, statistics, _ = job(*option)
    assert statistics["dropped"][rule] == dropped
    assert statistics["comments"] == 6
    assert statistics["kept"] == 6 - dropped


def test_bots_from_a_file_and_none_of_it_unless_asked(chain, job, tmp_path):
    (tmp_path / "bots.txt").write_text("nobody\nHELPER\n")
    assert job("--bots", tmp_path / "bots.txt")[1]["dropped"]["bots"] == 1
    assert set(job()[1]["dropped"]) == {"deleted", "length", "alphabetic", "prefix", "bot"}


def test_copies_are_counted_and_capped(write_dump, comment, job, tmp_path):
    pasted = "the same long words that people paste everywhere " * 2
    rows = []
    for number in range(4):
        rows.append(comment(f"p{number}", body="what do you say"))
        rows.append(comment(f"r{number}", f"t1_p{number}", body=pasted))
    rows.append(comment("r9", "t1_p0", body="something else"))
    write_dump("RC_1.gz", rows)
    pairs, statistics, output = job()
    card = json.loads((output / "data_card.json").read_text())
    assert len(pairs) == 5
    assert card["copies"]["duplicate_pairs"] == 3
    assert card["copies"]["copypasta_replies"] == 4
    pairs, statistics, output = job("--max_copies_of_pair", 2)
    assert statistics["copies_dropped"] == 2
    assert sorted(pair["response_id"] for pair in pairs) == ["r0", "r1", "r9"]
    assert statistics["train_pairs"] + statistics["test_pairs"] == 3
    assert json.loads((output / "data_card.json").read_text())["copies"]["copypasta_replies"] == 0


def test_excluded_pairs_are_counted_and_listed(chain, job, tmp_path):
    (tmp_path / "sts.csv").write_text("genre\t3.5\tThe SECOND, of them!\tnothing here\n")
    pairs, statistics, output = job("--exclude_texts", tmp_path / "sts.csv")
    assert statistics["excluded"] == 2
    assert sorted(pair["response_id"] for pair in pairs) == ["a4", "x1", "x2"]
    lines = (output / "excluded-00000-of-00001.jsonl").read_text().splitlines()
    assert {json.loads(line)["response_id"] for line in lines} == {"a2", "a3"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--records_per_file", 0), "--records_per_file: 0 is not 1 or more"),
        (("--bytes_per_file", -1), "--bytes_per_file: -1 is not 1 or more"),
        (("--context_turns", -1), "--context_turns: -1 is not 0 or more"),
        (("--max_copies_of_pair", 0), "--max_copies_of_pair: 0 is not 1 or more"),
        (("--bots", "nowhere.txt"), "--bots: 'nowhere.txt' cannot be read"),
        (("--exclude_texts", "nowhere.txt"), "--exclude_texts: 'nowhere.txt' cannot be read"),
    ],
)
def test_values_that_cannot_be_are_named(chain, fails, tmp_path, options, reason):
    message = fails("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out", *options)
    assert reason in message
