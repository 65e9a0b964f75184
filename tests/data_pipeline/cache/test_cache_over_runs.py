"""With `--cache` an input file is read once: what a later job reuses of an earlier one."""

import orjson
import pytest

from data_pipeline.sources.reddit import source


@pytest.fixture
def reads(monkeypatch):
    """The names of the dumps that jobs read, as they read them."""
    names = []
    read_line_batches = source.read_line_batches

    def spy(file, tap):
        names.append(file.path.rsplit("/", 1)[1])
        return read_line_batches(file, tap)

    monkeypatch.setattr(source, "read_line_batches", spy)
    return names


@pytest.mark.slow
def test_a_job_with_one_more_file_reads_only_that_one_and_joins_across(
    run, world, reads, tmp_path, statistics_of, stored
):
    kept = ("--cache", tmp_path / "kept", "--format", "jsonl")
    run("--input", tmp_path / "RC_1.zst", "--output", tmp_path / "first", *kept)
    assert reads == ["RC_1.zst"]
    assert statistics_of(tmp_path / "first")["pairs"] == 1
    run("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "second", *kept)
    assert reads == ["RC_1.zst", "RC_2.bz2"]
    # d1 of the second file answers c2 of the first.
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


def test_one_output_grows_by_a_file(fails, run, world, reads, tmp_path, statistics_of, caplog):
    output = tmp_path / "out"
    cache = ("--cache", tmp_path / "kept")
    run("--input", tmp_path / "RC_1.zst", "--output", output, *cache)
    grown = ("--input", f"{tmp_path}/RC_*", "--output", output, *cache)
    assert "1 input differs" in fails(*grown)
    caplog.clear()
    run(*grown, "--overwrite")
    assert reads == ["RC_1.zst", "RC_2.bz2"]
    assert f"{tmp_path}/RC_1.zst is cached" in caplog.messages
    assert statistics_of(output)["lines"] == 13


def test_a_cache_serves_other_formats_splits_and_context(
    run, world, reads, tmp_path, stored, statistics_of
):
    source = ("--input", f"{tmp_path}/RC_*", "--cache", tmp_path / "kept")
    run(*source, "--output", tmp_path / "one")
    run(
        *(*source, "--output", tmp_path / "two", "--format", "jsonl", "--split_by", "pair"),
        *("--context_turns", 1, "--train_shards", 2),
    )
    assert sorted(reads) == ["RC_1.zst", "RC_2.bz2"]
    assert len(stored(tmp_path / "two")) == statistics_of(tmp_path / "one")["pairs"] == 2
    assert len(list((tmp_path / "kept").glob("RC_*"))) == 2


def test_other_rules_read_anew(run, world, reads, tmp_path):
    source = ("--input", tmp_path / "RC_1.zst", "--cache", tmp_path / "kept")
    run(*source, "--output", tmp_path / "one")
    run(*source, "--output", tmp_path / "two", "--min_characters", 5)
    assert reads == ["RC_1.zst"] * 2


def test_what_an_engine_kept_serves_this_machine(run, world, reads, tmp_path, monkeypatch):
    source = ("--input", f"{tmp_path}/RC_*", "--cache", tmp_path / "kept")
    with monkeypatch.context() as patched:
        patched.setattr("data_pipeline.job.run.is_local", lambda _: False)
        run(*source, "--output", tmp_path / "one")
    run(*source, "--output", tmp_path / "two")
    assert sorted(reads) == ["RC_1.zst", "RC_2.bz2"]
    assert len(list((tmp_path / "kept").rglob("messages.arrow.zst"))) == 2
    for shard in (tmp_path / "one").glob("t*-of-*"):
        assert shard.read_bytes() == (tmp_path / "two" / shard.name).read_bytes()


def test_without_a_cache_nothing_of_what_was_read_is_kept(run, world, reads, tmp_path, capsys):
    output = tmp_path / "out"
    command = ("--input", f"{tmp_path}/RC_*", "--output", output)
    run(*command)
    names = ("COMPLETED", "statistics.json", "data_card", "dead_letters", "train-", "test-")
    assert [path.name for path in output.iterdir() if not path.name.startswith(names)] == []
    run(*command)
    assert "complete already" in capsys.readouterr().out
    run(*command, "--train_shards", 2, "--overwrite")
    assert sorted(reads) == ["RC_1.zst", "RC_1.zst", "RC_2.bz2", "RC_2.bz2"]


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
        ("nosuch://bucket/cache", "'nosuch://bucket/cache': "),
        ("cache[1]", "'cache[1]' is a pattern"),
    ],
)
def test_a_cache_folder_that_cannot_be_is_one_error(fails, world, tmp_path, folder, reason):
    output = tmp_path / "out"
    message = fails("--input", f"{tmp_path}/RC_*", "--output", output, "--cache", folder)
    assert f"--cache: {reason}" in message
    assert not output.exists()


def test_a_file_where_the_cache_is_to_go_is_one_error(fails, world, tmp_path):
    source = ("--input", f"{tmp_path}/RC_1.zst", "--output", tmp_path / "out")
    path = tmp_path / "RC_2.bz2"
    for given, what in ((path, "it"), (path / "cache", str(path))):
        assert fails(*source, "--cache", given) == (
            f"error: --cache: {given}: {what} is not a folder; accepted: a folder, or none yet"
        )
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_a_pattern_is_one_error(fails, world, tmp_path):
    message = fails("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out[1]")
    assert "out[1]' is a pattern; name a folder without *, ? and [" in message
