"""Dumps are read once: what a later job takes from an earlier one."""

import orjson
import pytest

from data_pipeline.cache import input_cache


@pytest.fixture
def reads(monkeypatch):
    """The names of the dumps that jobs read, as they read them."""
    names = []
    read_line_batches = input_cache.read_line_batches

    def spy(dump, tap):
        names.append(dump.path.rsplit("/", 1)[1])
        return read_line_batches(dump, tap)

    monkeypatch.setattr(input_cache, "read_line_batches", spy)
    return names


def test_a_job_with_one_more_month_reads_only_that_one_and_joins_across(
    run, world, reads, tmp_path, statistics_of, stored
):
    kept = ("--months", tmp_path / "kept", "--format", "jsonl")
    run("--input", tmp_path / "RC_1.zst", "--output", tmp_path / "first", *kept)
    assert reads == ["RC_1.zst"]
    assert statistics_of(tmp_path / "first")["pairs"] == 1
    run("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "second", *kept)
    assert reads == ["RC_1.zst", "RC_2.bz2"]
    # d1 of the second month answers c2 of the first.
    pairs = stored(tmp_path / "second")
    assert sorted((pair["input_id"], pair["response_id"]) for pair in pairs) == [
        ("c1", "c2"),
        ("c2", "d1"),
    ]
    run("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "at_once", "--format", "jsonl")
    assert sorted(reads[2:]) == ["RC_1.zst", "RC_2.bz2"]
    assert statistics_of(tmp_path / "second") == statistics_of(tmp_path / "at_once")
    assert sorted(map(orjson.dumps, stored(tmp_path / "at_once"))) == sorted(
        map(orjson.dumps, pairs)
    )


def test_one_output_grows_by_a_month(fails, run, world, reads, tmp_path, statistics_of, caplog):
    output = tmp_path / "out"
    run("--input", tmp_path / "RC_1.zst", "--output", output)
    grown = ("--input", f"{tmp_path}/RC_*", "--output", output)
    assert "1 input differs" in fails(*grown)
    caplog.clear()
    run(*grown, "--overwrite")
    assert reads == ["RC_1.zst", "RC_2.bz2"]
    assert f"{tmp_path}/RC_1.zst was read before" in caplog.messages
    assert statistics_of(output)["lines"] == 13


def test_the_same_months_serve_other_formats_splits_and_context(
    run, world, reads, tmp_path, stored, statistics_of
):
    source = ("--input", f"{tmp_path}/RC_*", "--months", tmp_path / "kept")
    run(*source, "--output", tmp_path / "one")
    run(
        *(*source, "--output", tmp_path / "two", "--format", "jsonl", "--split_by", "pair"),
        *("--context_turns", 1, "--train_shards", 2),
    )
    assert sorted(reads) == ["RC_1.zst", "RC_2.bz2"]
    assert len(stored(tmp_path / "two")) == statistics_of(tmp_path / "one")["pairs"] == 2
    assert len(list((tmp_path / "kept").glob("RC_*"))) == 2


def test_other_rules_read_anew(run, world, reads, tmp_path):
    source = ("--input", tmp_path / "RC_1.zst", "--months", tmp_path / "kept")
    run(*source, "--output", tmp_path / "one")
    run(*source, "--output", tmp_path / "two", "--min_characters", 5)
    assert reads == ["RC_1.zst"] * 2


def test_what_an_engine_kept_serves_this_machine(run, world, reads, tmp_path, monkeypatch):
    source = ("--input", f"{tmp_path}/RC_*", "--months", tmp_path / "kept")
    with monkeypatch.context() as patched:
        patched.setattr("data_pipeline.reddit.command.is_local", lambda _: False)
        run(*source, "--output", tmp_path / "one")
    run(*source, "--output", tmp_path / "two")
    assert sorted(reads) == ["RC_1.zst", "RC_2.bz2"]
    assert len(list((tmp_path / "kept").rglob("comments.jsonl.zst"))) == 2
    for shard in (tmp_path / "one").glob("t*-of-*"):
        assert shard.read_bytes() == (tmp_path / "two" / shard.name).read_bytes()


def test_discarded_months_are_gone_and_the_output_is_complete(run, world, tmp_path, capsys):
    output = tmp_path / "out"
    command = ("--input", f"{tmp_path}/RC_*", "--output", output, "--discard_months")
    run(*command)
    assert not (output / "_months").exists()
    run(*command)
    assert "complete already" in capsys.readouterr().out


def test_only_the_jobs_own_months_are_discarded(run, world, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "notes.txt").write_text("not of this program")
    run("--input", tmp_path / "RC_1.zst", "--output", tmp_path / "one", "--months", kept)
    run(
        *("--input", tmp_path / "RC_2.bz2", "--output", tmp_path / "two", "--months", kept),
        *("--discard_months", "--allow_empty"),
    )
    month, *others = sorted(path.name for path in kept.iterdir())
    assert month.startswith("RC_1.zst-")
    assert others == ["_in_use", "notes.txt"]


def test_one_file_under_two_names_is_read_once(run, world, reads, tmp_path, statistics_of):
    indirect = tmp_path / "folder" / ".." / "RC_1.zst"
    (tmp_path / "folder").mkdir()
    run("--input", tmp_path / "RC_1.zst", indirect, "--output", tmp_path / "out")
    assert reads == ["RC_1.zst"]
    assert statistics_of(tmp_path / "out")["lines"] == 6


def test_a_dumps_name_may_look_like_a_pattern(run, write_dump, comment, tmp_path, capsys):
    write_dump("RC_[1]*.gz", [comment("c1"), comment("c2", "t1_c1")])
    command = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out", "--format", "jsonl")
    run(*command)
    run(*command)
    assert "complete already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("", "'' names no folder"),
        ("nosuch://bucket/months", "'nosuch://bucket/months': "),
        ("months[1]", "'months[1]' is a pattern"),
    ],
)
def test_a_folder_for_months_that_cannot_be_is_one_error(fails, world, tmp_path, folder, reason):
    output = tmp_path / "out"
    message = fails("--input", f"{tmp_path}/RC_*", "--output", output, "--months", folder)
    assert f"--months: {reason}" in message
    assert not output.exists()


def test_a_file_where_months_are_to_go_is_one_error(fails, world, tmp_path):
    source = ("--input", f"{tmp_path}/RC_1.zst", "--output", tmp_path / "out")
    message = fails(*source, "--months", tmp_path / "RC_2.bz2")
    assert "RC_2.bz2" in message


def test_an_output_that_is_a_pattern_is_one_error(fails, world, tmp_path):
    message = fails("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out[1]")
    assert "out[1]' is a pattern; name a folder without *, ? and [" in message
