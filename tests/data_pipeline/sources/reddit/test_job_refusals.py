"""What the Beam job refuses, and what is left when it stops."""

import re

import pytest

from data_pipeline.storage import output_folder


def test_another_job_on_a_complete_folder_is_refused_unless_overwritten(
    fails, run, world, tmp_path, statistics_of
):
    output = tmp_path / "out"
    run("--input", f"{tmp_path}/RC_*", "--output", output, "--train_shards", 3)
    other = ("--input", f"{tmp_path}/RC_1.zst", "--output", output)
    message = fails(*other, "--train_shards", 3)
    assert "input differs" in message
    assert "--overwrite" in message
    same_input = ("--input", f"{tmp_path}/RC_*", "--output", output, "--train_shards", 3)
    message = fails(*same_input, "--test_fraction", 0.2)
    assert "test_fraction was 0.1, now 0.2" in message
    assert statistics_of(output)["lines"] == 13
    run(*other, "--train_shards", 2, "--overwrite")
    assert statistics_of(output)["lines"] == 6
    assert len(list(output.glob("train-*"))) == 2


def test_what_is_published_stays_until_the_next_job_succeeds(fails, run, world, tmp_path):
    output = tmp_path / "out"
    run("--input", f"{tmp_path}/RC_*", "--output", output)
    before = {path.name: path.read_bytes() for path in output.glob("*.*")}
    (tmp_path / "RC_3.gz").write_bytes(b"no archive")
    fails("--input", f"{tmp_path}/RC_*", "--output", output, "--overwrite")
    assert (output / "COMPLETED").exists()
    assert {path.name: path.read_bytes() for path in output.glob("*.*")} == before


def test_a_job_stopped_while_publishing_is_not_complete(fails, run, world, tmp_path, monkeypatch):
    output = tmp_path / "out"
    command = ("--input", f"{tmp_path}/RC_*", "--output", output)

    write_file = output_folder.write_file

    def full_disk(path, content):
        if path.endswith("/COMPLETED"):
            raise OSError(28, "No space left on device")
        write_file(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(output_folder, "write_file", full_disk)
        assert "No space left" in fails(*command)
    assert not (output / "COMPLETED").exists()
    assert list(output.glob("train-*"))
    run(*command)
    assert (output / "COMPLETED").exists()


def test_a_disk_that_is_full_while_the_job_runs_is_one_error(fails, world, tmp_path, monkeypatch):
    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("data_pipeline.pairs.shards.write_file", full_disk)
    message = fails("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    assert "the job stopped: OSError: [Errno 28] No space left on device" in message
    assert not (tmp_path / "out" / "COMPLETED").exists()


def test_a_marker_that_is_not_ours_is_refused(fails, world, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "COMPLETED").write_text("yes")
    message = fails("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    assert "is not what this program writes" in message


def test_a_folder_without_its_marker_is_made_anew(run, world, tmp_path):
    output = tmp_path / "out"
    command = ("--input", f"{tmp_path}/RC_*", "--output", output)
    run(*command, "--train_shards", 3)
    (output / "COMPLETED").unlink()
    run(*command, "--train_shards", 2)
    assert len(list(output.glob("train-*"))) == 2
    assert (output / "COMPLETED").exists()


def test_an_unreadable_file_ends_in_one_error_naming_all_of_them(fails, world, tmp_path):
    for name in ("RC_3.gz", "RC_4.zst"):
        (tmp_path / name).write_bytes(b"no archive")
    output = tmp_path / "out"
    message = fails("--input", f"{tmp_path}/RC_*", "--output", output)
    assert "RC_3.gz: truncated or corrupt" in message
    assert "RC_4.zst: truncated or corrupt" in message
    assert not output.exists()


def test_a_truncated_file_gives_no_output(fails, write_dump, comment, tmp_path):
    path = write_dump("RC.zst", [comment(f"c{n}") for n in range(1000)])
    path.write_bytes(path.read_bytes()[:-30])
    message = fails("--input", path, "--output", tmp_path / "out")
    assert "RC.zst: truncated or corrupt" in message
    assert not (tmp_path / "out" / "COMPLETED").exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--input", "nowhere/RC_*"], "'nowhere/RC_\\*' matches no file"),
        (["--input", ","], "--input: ',' names no file"),
        (["--input", "nosuch://bucket/RC_*"], "--input: 'nosuch://bucket"),
        (["--output", "nosuch://bucket/out"], "--output: 'nosuch://bucket/out'"),
        (["--test_fraction", "1.01"], r"--test_fraction: 1.01 is not in \[0, 1\]"),
        (["--train_shards", "0"], "--train_shards: 0 is not 1 or more"),
        (["--test_fractoin", "0.2"], "--test_fractoin"),
        (["--runner=NoSuch"], "--runner NoSuch"),
        (["--direct_num_workers=1", "stray"], "unexpected argument 'stray'"),
        (["--output", ""], "--output: '' names no folder"),
    ],
)
def test_bad_options_are_named(fails, world, tmp_path, options, reason):
    output = tmp_path / "out"
    source = () if "--input" in options else ("--input", f"{tmp_path}/RC_*")
    message = fails(*source, "--output", output, *options)
    assert re.search(reason, message)
    assert not output.exists()


def test_each_value_of_input_names_a_file(fails, world, tmp_path):
    message = fails("--input", f"{tmp_path}/RC_1.zst", "--input", ",", "--output", tmp_path / "out")
    assert "--input: ',' names no file" in message


def test_an_output_that_cannot_be_written(fails, world, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    output = tmp_path / "file" / "out"
    message = fails("--input", f"{tmp_path}/RC_1.zst", "--output", output)
    assert f"--output: '{output}' cannot be written" in message
