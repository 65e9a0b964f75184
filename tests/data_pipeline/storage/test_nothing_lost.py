"""What the commands must never do: delete what is not theirs, work where another works, depend on
where the data lie, or publish what a damaged disk says."""

import json
import os
import socket

import orjson
import pytest

from data_pipeline.__main__ import main
from data_pipeline.storage.claim import claim


def snli_line(number):
    fields = {"gold_label": "neutral", "sentence1": "a b", "sentence2": "c d"}
    return orjson.dumps(fields | {"pairID": f"p{number}"})


@pytest.fixture
def snli_file(tmp_path):
    def write(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(snli_line(number) + b"\n" for number in range(3)))
        return path

    return write


def refusal(capsys, *arguments):
    with pytest.raises(SystemExit) as raised:
        main([str(argument) for argument in arguments])
    capsys.readouterr()
    message = raised.value.code
    assert isinstance(message, str)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("below", ["", "deeper/still", "_incomplete"])
def test_an_input_inside_the_output_folder_is_refused_and_stays(
    write_dump, comment, tmp_path, capsys, below
):
    folder = tmp_path / "same" / below
    folder.mkdir(parents=True)
    dump = write_dump("dump", [comment("c1"), comment("c2", "t1_c1")])
    dump = dump.rename(folder / "train-RC-of-2015.json")
    before = dump.read_bytes()
    arguments = ("reddit", "--input", dump, "--output", tmp_path / "same")
    message = refusal(capsys, *arguments)
    assert message == (
        f"error: --output: {str(tmp_path / 'same')!r} holds the input {str(dump)!r}; "
        "name a folder without inputs"
    )
    assert dump.read_bytes() == before
    assert not (tmp_path / "same" / "COMPLETED").exists()


def test_an_input_inside_the_cache_is_refused(write_dump, comment, tmp_path, capsys):
    (tmp_path / "cache").mkdir()
    dump = write_dump("dump", [comment("c1")]).rename(tmp_path / "cache" / "RC_1")
    message = refusal(
        capsys,
        *("reddit", "--input", dump, "--output", tmp_path / "out"),
        *("--cache", tmp_path / "cache"),
    )
    assert f"--cache: {str(tmp_path / 'cache')!r} holds the input" in message


def test_a_link_in_the_output_folder_lies_in_it(world, tmp_path, capsys):
    (tmp_path / "same").mkdir()
    link = tmp_path / "same" / "RC_link.zst"
    link.symlink_to(tmp_path / "RC_1.zst")
    message = refusal(capsys, "reddit", "--input", link, "--output", tmp_path / "same")
    assert "holds the input" in message


def test_the_cache_is_not_the_output(world, tmp_path, capsys):
    message = refusal(
        capsys,
        *("reddit", "--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out"),
        *("--cache", tmp_path / "out" / ".." / "out"),
    )
    assert "is --output; name another folder" in message


def test_a_file_that_is_no_claim_is_not_overwritten(fails, world, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    (output / "_claim").write_text("somebody's")
    message = fails("--input", f"{tmp_path}/RC_*", "--output", output)
    assert "_claim' is there and is not a claim of this program" in message
    assert (output / "_claim").read_text() == "somebody's"


def test_counts_that_were_changed_in_the_cache_are_not_published(
    run, world, tmp_path, statistics_of
):
    source = ("--input", f"{tmp_path}/RC_*", "--cache", tmp_path / "kept")
    run(*source, "--output", tmp_path / "one")
    (manifest,) = (tmp_path / "kept").glob("RC_1.zst-*/cached_input.json")
    about = json.loads(manifest.read_text())
    about["counts"]["lines"] = 5
    manifest.write_text(json.dumps(about, indent=2) + "\n")
    run(*source, "--output", tmp_path / "two")
    assert statistics_of(tmp_path / "two") == statistics_of(tmp_path / "one")


@pytest.mark.parametrize("command", ["snli", "vocabulary"])
def test_the_other_commands_refuse_it_too(snli_file, tmp_path, capsys, command):
    path = snli_file(tmp_path / "same" / "below" / "nli-x-of-y.jsonl")
    message = refusal(capsys, command, "--input", path, "--output", tmp_path / "same")
    assert "holds the input" in message
    assert path.exists()


def test_only_what_a_manifest_lists_is_deleted(run, world, tmp_path):
    output = tmp_path / "out"
    arguments = ("--input", f"{tmp_path}/RC_*", "--output", output)
    run(*arguments, "--train_shards", 3)
    theirs = ("statistics.json.backup", "words.tsv", "excluded-00000-of-00001.jsonl")
    for name in theirs:
        (output / name).write_text("somebody's")
    run(*arguments, "--train_shards", 2, "--overwrite")
    for name in theirs:
        assert (output / name).read_text() == "somebody's"
    assert len(list(output.glob("train-*-of-00003.tfrecord"))) == 0
    assert len(list(output.glob("train-*-of-00002.tfrecord"))) == 2


@pytest.mark.parametrize(
    "name",
    [
        *("statistics.json", "data_card.html", "COMPLETED", "train-00000-of-00016.tfrecord"),
        # What a training would read by train-*, though no job replaces it.
        *("train-00000-of-00099.tfrecord", "test-notes.txt"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_a_file_in_the_way_that_no_job_wrote_is_refused_and_stays(
    fails, world, tmp_path, name, more
):
    output = tmp_path / "out"
    output.mkdir()
    (output / name).write_text("somebody's")
    message = fails("--input", f"{tmp_path}/RC_*", "--output", output, *more)
    assert str(output / name) in message
    assert "no manifest says that this program wrote" in message or name == "COMPLETED"
    assert (output / name).read_text() == "somebody's"
    left = {path.name for path in output.iterdir()}
    assert left == {name} or left == {name, "_incomplete"}


def test_after_a_kill_while_publishing_the_files_of_both_jobs_are_known(
    run, world, tmp_path, monkeypatch
):
    output = tmp_path / "out"
    arguments = ("--input", f"{tmp_path}/RC_*", "--output", output)
    run(*arguments, "--train_shards", 3)

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        # After the old marker is gone and the new shards are there.
        patched.setattr("data_pipeline.storage.output_folder.OutputFolder.discard", killed)
        with pytest.raises(KeyboardInterrupt):
            run(*arguments, "--train_shards", 2, "--overwrite")
    assert not (output / "COMPLETED").exists()
    assert len(list(output.glob("train-*-of-00002.tfrecord"))) == 2
    run(*arguments, "--train_shards", 5)
    assert {path.name[-18:] for path in output.glob("train-*")} == {"-of-00005.tfrecord"}
    assert not (output / "_publishing.json").exists()


def test_a_manifest_cannot_name_files_outside_the_folder(run, world, tmp_path):
    output = tmp_path / "out"
    arguments = ("--input", f"{tmp_path}/RC_*", "--output", output)
    run(*arguments)
    outside = tmp_path / "precious.txt"
    outside.write_text("somebody's")
    marker = json.loads((output / "COMPLETED").read_text())
    marker["outputs"]["../precious.txt"] = {"bytes": 1}
    (output / "COMPLETED").write_text(json.dumps(marker))
    run(*arguments, "--overwrite")
    assert outside.read_text() == "somebody's"


def commands(tmp_path, snli_file):
    yield ("reddit", "--input", f"{tmp_path}/RC_*")
    yield ("snli", "--input", snli_file(tmp_path / "nli.jsonl"))
    yield ("vocabulary", "--input", snli_file(tmp_path / "nli.jsonl"))
    yield ("sample", "--comments", 10)


def test_each_command_is_refused_while_another_job_has_its_output(
    world, snli_file, tmp_path, capsys
):
    output = tmp_path / "out"
    output.mkdir()
    for command in commands(tmp_path, snli_file):
        with claim(str(output / "_claim"), what="it"):
            message = refusal(capsys, *command, "--output", output)
            assert message.startswith(
                f"error: --output: {str(output)!r} is in use by process {os.getpid()} on "
                f"{socket.gethostname()} since "
            )
            assert [path.name for path in output.iterdir()] == ["_claim"]


def test_a_claim_does_not_outlive_its_job(run, fails, world, tmp_path):
    output = tmp_path / "out"
    (tmp_path / "RC_3.gz").write_bytes(b"no archive")
    fails("--input", tmp_path / "RC_3.gz", "--output", output)
    run("--input", tmp_path / "RC_1.zst", "--output", output)
    assert not (output / "_claim").exists()


def test_a_claim_that_a_dead_job_left_is_taken_over(run, world, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    (output / "_claim").write_text('{"host": "a", "process": 1, "since": "b", "command": "c"}\n')
    run("--input", tmp_path / "RC_1.zst", "--output", output)
    assert (output / "COMPLETED").exists()


@pytest.mark.slow
def test_of_two_lines_with_one_id_the_first_in_the_order_given_counts(
    run, write_dump, comment, tmp_path, stored
):
    """Whatever the folder is called: the order must not follow a checksum of the path."""
    parent, words = comment("p"), {"a": "words of the first", "b": "words of the second"}
    for folder in ("one", "two", "three", "four"):
        for name in words:
            dump = write_dump(name, [parent, comment("c1", "t1_p", body=words[name])])
            (tmp_path / folder).mkdir(exist_ok=True)
            dump.rename(tmp_path / folder / name)
        where = tmp_path / folder
        for order, first in (("a b", "a"), ("b a", "b"), ("*", "a")):
            output = tmp_path / "out" / folder / order.replace("*", "star")
            inputs = [where / name for name in order.split()]
            run("--input", *inputs, "--output", output, "--format", "jsonl")
            assert [pair["response"] for pair in stored(output)] == [words[first]]


def test_the_bytes_do_not_depend_on_where_the_data_lie(run, world, tmp_path, monkeypatch):
    content = set()
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("RC_1.zst", "RC_2.bz2"):
            (tmp_path / folder / name).write_bytes((tmp_path / name).read_bytes())
        monkeypatch.chdir(tmp_path / folder)
        run("--input", "RC_*", "--output", "out")
        published = {
            path.name: path.read_bytes() for path in (tmp_path / folder / "out").glob("*-of-*")
        }
        statistics = (tmp_path / folder / "out" / "statistics.json").read_bytes()
        content.add((tuple(sorted(published.items())), statistics))
    assert len(content) == 1


@pytest.mark.parametrize("on_engine", [False, True], ids=["local", "engine"])
def test_a_damaged_cached_input_is_refused_and_then_read_again(
    run, fails, world, tmp_path, stored, monkeypatch, on_engine
):
    source = ("--input", f"{tmp_path}/RC_*", "--cache", tmp_path / "kept", "--format", "jsonl")
    run(*source, "--output", tmp_path / "one")
    (comments,) = (tmp_path / "kept").glob("RC_1.zst-*/messages.arrow")
    whole = comments.read_bytes()
    assert b"what are the words" in whole
    comments.write_bytes(whole.replace(b"what are the words", b"XXXX are the wordz"))
    with monkeypatch.context() as patched:
        patched.setattr("data_pipeline.job.run.is_local", lambda _: not on_engine)
        message = fails(*source, "--output", tmp_path / "two")
    assert f"{comments} has changed since it was written" in message
    assert not (tmp_path / "two" / "COMPLETED").exists()
    run(*source, "--output", tmp_path / "two")
    assert stored(tmp_path / "two") == stored(tmp_path / "one")
