"""COMPLETED: what it says of inputs, options and outputs, and which changes are noticed."""

import json
import os
import re

import google_crc32c
import pytest
import tensorflow as tf
from apache_beam.io.filesystems import FileSystems

from data_pipeline.execution.runner import run_pipeline
from data_pipeline.job import job
from data_pipeline.storage import inputs
from data_pipeline.storage.output_folder import OutputFolder


def checksum(path):
    return f"{google_crc32c.value(path.read_bytes()):08x}"


def manifest(folder):
    return json.loads((folder / "COMPLETED").read_text())


@pytest.fixture
def done(run, world, tmp_path):
    """The output of a job, and its arguments."""
    output = tmp_path / "out"
    arguments = ("--input", f"{tmp_path}/RC_*", "--output", output, "--train_shards", 3)
    run(*arguments)
    return output, arguments


def test_the_inputs_are_stated_with_their_checksums(done, tmp_path):
    paths = [tmp_path / "RC_1.zst", tmp_path / "RC_2.bz2"]
    assert manifest(done[0])["inputs"] == {
        str(path): {
            "path": str(path),
            "bytes": path.stat().st_size,
            "modified": path.stat().st_mtime,
            "crc32c": checksum(path),
        }
        for path in paths
    }


def test_a_synthetic_sample_is_stated_and_nothing_is_of_real_dumps(done, run, tmp_path):
    output, arguments = done
    assert manifest(output).keys() == {"inputs", "options", "outputs"}
    assert "synthetic" not in json.loads((output / "data_card.json").read_text())
    (tmp_path / "SAMPLE.txt").write_text("A sample world: 13 comments, seed 0.\n")
    run(*arguments, "--overwrite")
    assert manifest(output)["synthetic"] is True
    assert "pairs from a synthetic sample" in (output / "data_card.html").read_text()


@pytest.mark.parametrize("storage", [["tfrecord"], ["jsonl", "--gzip"], ["parquet"]])
def test_the_outputs_are_stated_with_their_checksums_and_records(run, world, tmp_path, storage):
    output = tmp_path / "out"
    excluded = tmp_path / "seen.txt"
    excluded.write_text("A reply of the next month!\n")
    run(
        *("--input", f"{tmp_path}/RC_*", "--output", output, "--format", *storage),
        *("--exclude_texts", excluded),
    )
    outputs = manifest(output)["outputs"]
    published = {path.name for path in output.iterdir() if path.is_file()}
    described = {"COMPLETED", "statistics.json", "data_card.json", "data_card.html"}
    assert outputs.keys() == published - described
    for name, said in outputs.items():
        path = output / name
        assert (said["bytes"], said["crc32c"]) == (path.stat().st_size, checksum(path))
    records = {re.sub(r"-.*", "", name): 0 for name in outputs}
    for name, said in outputs.items():
        records[re.sub(r"-.*", "", name)] += said["records"]
    assert records["train"] + records["test"] == 1
    assert (records["excluded"], records["dead_letters"]) == (1, 2)


def test_the_records_stated_are_those_in_the_file(done):
    for name, said in manifest(done[0])["outputs"].items():
        if name.endswith(".tfrecord"):
            in_file = sum(1 for _ in tf.data.TFRecordDataset(str(done[0] / name)))
            assert in_file == said["records"]


def test_the_options_are_stated(done):
    assert manifest(done[0])["options"] == {
        "split_by": "thread",
        "test_fraction": 0.1,
        "train_shards": 3,
        "test_shards": 2,
        "format": "tfrecord",
        "gzip": False,
        "records_per_file": None,
        "context_turns": 0,
        "min_characters": 0,
        "min_score": None,
        "subreddits": [],
        "exclude_subreddits": [],
        "bots": [],
        "drop_over_18": False,
        "max_copies_of_pair": None,
        "exclude_texts": None,
    }


def test_each_changed_option_is_noticed(fails, done):
    for option, said in {
        ("--split_by", "pair"): "split_by was 'thread', now 'pair'",
        ("--test_fraction", 0.2): "test_fraction was 0.1, now 0.2",
        ("--test_shards", 7): "test_shards was 2, now 7",
        ("--validation_fraction", 0.2): "validation_fraction was None, now 0.2",
        ("--format", "jsonl"): "format was 'tfrecord', now 'jsonl'",
        ("--gzip",): "gzip was False, now True",
        ("--records_per_file", 9): "records_per_file was None, now 9",
        ("--context_turns", 1): "context_turns was 0, now 1",
        ("--min_characters", 2): "min_characters was 0, now 2",
        ("--min_score", 0): "min_score was None, now 0",
        ("--subreddits", "r/B,a"): "subreddits was [], now ['a', 'b']",
        ("--exclude_subreddits", "a"): "exclude_subreddits was [], now ['a']",
        ("--drop_over_18",): "drop_over_18 was False, now True",
        ("--max_copies_of_pair", 1): "max_copies_of_pair was None, now 1",
    }.items():
        assert f"its {said}" in fails(*done[1], *option)


def test_lists_in_files_count_by_what_is_in_them(fails, run, world, tmp_path, capsys):
    bots, seen = tmp_path / "bots", tmp_path / "seen.txt"
    bots.write_text("one\ntwo\n")
    seen.write_text("some words\n")
    arguments = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    arguments += ("--bots", bots, "--exclude_texts", seen)
    run(*arguments)
    bots.write_text("Two\n\none\n")
    seen.write_text("SOME words.\nno\n")  # two characters exclude nothing
    run(*arguments)
    assert "complete already" in capsys.readouterr().out
    bots.write_text("one\nthree\n")
    assert "its bots was ['one', 'two'], now ['one', 'three']" in fails(*arguments)
    bots.write_text("one\ntwo\n")
    seen.write_text("other words\n")
    assert "its exclude_texts was " in fails(*arguments)


def test_a_touched_input_is_hashed_once_whatever_jobs_follow(run, done, tmp_path, monkeypatch):
    hashed = []
    checksum_of = inputs.file_crc32c
    monkeypatch.setattr(
        inputs, "file_crc32c", lambda path, **part: hashed.append(path) or checksum_of(path, **part)
    )
    os.utime(tmp_path / "RC_1.zst", (100, 100))
    run(*done[1])
    run(*done[1])
    assert len(hashed) == 1  # by COMPLETED
    cached = ("--cache", tmp_path / "cache", "--overwrite", "--test_fraction")
    run(*done[1], *cached, 0.2)
    os.utime(tmp_path / "RC_1.zst", (200, 200))
    run(*done[1], *cached, 0.3)
    run(*done[1], *cached, 0.4)
    assert len(hashed) == 2  # and by the cache


def test_a_changed_input_is_noticed_and_a_touched_one_is_not(fails, run, done, tmp_path, capsys):
    path = tmp_path / "RC_1.zst"
    content = path.read_bytes()
    os.utime(path, (100, 100))
    run(*done[1])
    assert "complete already" in capsys.readouterr().out
    path.write_bytes(content[:-1] + b"x")
    assert f"1 input differs: {path}" in fails(*done[1])
    path.write_bytes(content)
    run(*done[1])
    assert "complete already" in capsys.readouterr().out


def test_a_published_file_that_is_not_as_it_was_is_noticed(fails, run, done):
    output, arguments = done
    for name in ("train-00001-of-00003.tfrecord", "dead_letters-00000-of-00001.jsonl"):
        path = output / name
        whole = path.read_bytes()
        for content in (None, whole[:-1] if whole else b"x", whole + b"x"):
            path.unlink()
            if content is not None:
                path.write_bytes(content)
            message = fails(*arguments)
            assert f"is not as the job left it: {name!r}" in message
            assert "(1 files in all) is missing or has another size" in message
            path.write_bytes(whole)
    (output / "train-00000-of-00003.tfrecord").unlink()
    path.unlink()
    assert "(2 files in all)" in fails(*arguments)
    run(*arguments, "--overwrite")
    for name, said in manifest(output)["outputs"].items():
        assert checksum(output / name) == said["crc32c"]


def test_what_an_earlier_job_published_does_not_stay_beside_it(run, world, tmp_path):
    output = tmp_path / "out"
    seen = tmp_path / "seen.txt"
    seen.write_text("a reply of the next month")
    source = ("--input", f"{tmp_path}/RC_*", "--output", output)
    run(*source, "--format", "parquet", "--train_shards", 4, "--exclude_texts", seen)
    run(*source, "--gzip", "--train_shards", 2, "--test_shards", 1, "--overwrite")
    assert sorted(path.name for path in output.iterdir() if path.is_file()) == [
        "COMPLETED",
        "data_card.html",
        "data_card.json",
        "dead_letters-00000-of-00001.jsonl",
        "statistics.json",
        "test-00000-of-00001.tfrecord.gz",
        "train-00000-of-00002.tfrecord.gz",
        "train-00001-of-00002.tfrecord.gz",
    ]


@pytest.mark.parametrize("name", ["statistics.json", "data_card.html", "COMPLETED"])
def test_a_job_killed_while_it_writes_a_document_leaves_no_half_of_it(
    run, world, tmp_path, monkeypatch, name
):
    output = tmp_path / "out"
    source = ("--input", f"{tmp_path}/RC_*", "--output", output)

    rename = FileSystems.rename

    def killed(sources, destinations):
        if destinations[0].endswith(f"/{name}"):
            raise KeyboardInterrupt
        rename(sources, destinations)

    with monkeypatch.context() as patched:
        patched.setattr(FileSystems, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            run(*source)
    assert list(output.glob("*.partial"))
    assert not (output / "COMPLETED").exists()
    run(*source)
    assert (output / "COMPLETED").exists()
    assert not list(output.glob("*.partial"))


def test_what_workers_write_has_an_absolute_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert OutputFolder("out").incomplete.startswith(f"{tmp_path}/out/_incomplete/")
    assert OutputFolder("s3://bucket/out").incomplete.startswith("s3://bucket/out/_incomplete/")


def test_another_order_of_the_inputs_is_noticed(fails, run, world, tmp_path, capsys):
    """Of two messages with one id the first in the order given is kept."""
    paths = [f"{tmp_path}/RC_1.zst", f"{tmp_path}/RC_2.bz2"]
    rest = ("--output", tmp_path / "out")
    run("--input", ",".join(paths), *rest)
    run("--input", f"{tmp_path}/RC_*", *rest)
    assert "complete already" in capsys.readouterr().out
    said = f"its inputs were in another order, from {paths[0]} on"
    assert said in fails("--input", ",".join(paths[::-1]), *rest)


def test_an_empty_output_is_accepted_only_where_that_is_asked_for(fails, run, tmp_path, capsys):
    (tmp_path / "RC_empty").write_text("")
    source = ("--input", tmp_path / "RC_empty", "--output", tmp_path / "out")
    run(*source, "--allow_empty")
    said = "--output: it is complete and has no pairs; pass --allow_empty to accept that"
    assert said in fails(*source)
    run(*source, "--allow_empty")
    assert "complete already" in capsys.readouterr().out


@pytest.mark.parametrize("change", ["grows", "is another"])
def test_an_input_that_changes_while_it_is_read_is_noticed(
    fails, world, tmp_path, monkeypatch, change
):
    path = tmp_path / "RC_1.zst"
    content = path.read_bytes()

    def run_and_change(pipeline, **options):
        run_pipeline(pipeline, **options)
        path.write_bytes(content + content if change == "grows" else content[::-1])
        os.utime(path, (1, 1))

    monkeypatch.setattr(job, "run_pipeline", run_and_change)
    said = fails("--input", path, "--output", tmp_path / "out")
    assert f"--input: '{path}' changed while it was read; accepted: files that nobody" in said
    assert not (tmp_path / "out" / "COMPLETED").exists()


def test_a_stricter_share_of_malformed_lines_counts_for_what_is_complete(fails, run, done, capsys):
    output, arguments = done
    assert "2 of 13 lines (15.4%) are malformed, more than --max_malformed 0.1 accepts" in fails(
        *arguments, "--max_malformed", 0.1
    )
    for content in ("[]", "", "{}"):  # what nobody can read any more is not judged
        (output / "statistics.json").write_text(content)
        run(*arguments, "--max_malformed", 0.1)
        assert "complete already" in capsys.readouterr().out
