"""The output folder: published whole or not at all; nothing of others is touched."""

import json
import os
from pathlib import Path

import google_crc32c
import pytest
from apache_beam.io.filesystems import FileSystems

from common.errors import InputError
from data_pipeline.storage.inputs import find_inputs
from data_pipeline.storage.output_folder import COMPLETED, STATISTICS, OutputFolder, write_aside


@pytest.fixture
def inputs(tmp_path):
    """Two files to read."""
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        (tmp_path / "in" / name).write_text(name)
    return find_inputs([f"{tmp_path}/in/*"])


def describe(file):
    content = Path(file.path).read_bytes()
    checksum = f"{google_crc32c.value(content):08x}"
    return {"bytes": file.size, "modified": file.modified, "crc32c": checksum}


@pytest.fixture
def publish(tmp_path, inputs):
    """Publishes files (name -> text) as a job with some options does."""

    def run(files, **options):
        folder = OutputFolder(str(tmp_path / "out"))
        with folder.claimed():
            folder.start()
            aside = {
                name: write_aside(folder.incomplete, name, text.encode(), records=1)
                for name, text in files.items()
            }
            about = {file.full_path: describe(file) for file in inputs}
            folder.publish(aside, inputs=about, options=options, statistics={"pairs": 1})
        return folder

    return run


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_complete_job_is_known_and_whatever_differs_is_named(publish, inputs, tmp_path):
    folder = publish({"train-0": "pairs"}, shards=3)
    assert folder.statistics() == {"pairs": 1}
    assert folder.is_done(inputs, {"shards": 3})
    assert not OutputFolder(str(tmp_path / "other")).is_done(inputs, {"shards": 3})
    for files, options, named in (
        (inputs, {"shards": 4}, "shards"),
        (inputs, {"shards": 3, "gzip": True}, "gzip"),
        (inputs[:1], {"shards": 3}, inputs[1].path),
        (inputs[::-1], {"shards": 3}, "order"),
    ):
        with pytest.raises(InputError, match=named):
            folder.is_done(files, options)
    (tmp_path / "out" / STATISTICS).unlink()
    with pytest.raises(InputError, match=STATISTICS):
        folder.statistics()


def test_a_touched_input_is_the_same_and_a_changed_one_is_not(publish, inputs, tmp_path):
    folder = publish({"train-0": "pairs"})
    path = Path(inputs[0].path)
    os.utime(path, (100, 100))
    assert folder.is_done(find_inputs([f"{tmp_path}/in/*"]), {})
    path.write_text("x")
    with pytest.raises(InputError, match=str(path)):
        folder.is_done(find_inputs([f"{tmp_path}/in/*"]), {})


@pytest.mark.parametrize("content", [None, "pair", "pairs "])
def test_a_published_file_that_is_not_as_it_was_is_named(publish, inputs, tmp_path, content):
    folder = publish({"train-0": "pairs", "train-1": "pairs"})
    (tmp_path / "out" / "train-1").unlink()
    if content is not None:
        (tmp_path / "out" / "train-1").write_text(content)
    with pytest.raises(InputError, match="train-1"):
        folder.is_done(inputs, {})


@pytest.mark.parametrize("name", ["statistics.json", "COMPLETED", "train-0", "notes.txt"])
def test_a_file_that_no_job_wrote_is_refused_and_stays(publish, tmp_path, name):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("somebody's")
    with pytest.raises(InputError, match=name):
        publish({"train-0": "pairs"})
    assert (tmp_path / "out" / name).read_text() == "somebody's"
    assert set(names_in(tmp_path / "out")) <= {name, "_incomplete"}


@pytest.mark.parametrize("name", ["train-1", "statistics.json", "COMPLETED", "_publishing.json"])
def test_a_job_killed_at_any_rename_leaves_nothing_that_looks_complete(
    publish, tmp_path, monkeypatch, name
):
    publish({"train-0": "old"})
    rename = FileSystems.rename

    def killed(sources, destinations):
        if destinations[-1] == str(tmp_path / "out" / name):
            raise KeyboardInterrupt
        rename(sources, destinations)

    with monkeypatch.context() as patched:
        patched.setattr(FileSystems, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            publish({"train-1": "new"})
    assert (tmp_path / "out" / COMPLETED).exists() == (name == "_publishing.json")
    publish({"train-2": "newest"})
    assert names_in(tmp_path / "out") == [COMPLETED, STATISTICS, "train-2"]


def test_a_manifest_cannot_name_files_outside_the_folder(publish, tmp_path):
    publish({"train-0": "pairs"})
    outside = tmp_path / "precious.txt"
    outside.write_text("somebody's")
    marker = json.loads((tmp_path / "out" / COMPLETED).read_text())
    marker["outputs"]["../precious.txt"] = {"bytes": 1}
    (tmp_path / "out" / COMPLETED).write_text(json.dumps(marker))
    publish({"train-0": "pairs"})
    assert outside.read_text() == "somebody's"


@pytest.mark.parametrize("content", ["[]", '{"inputs": {}, "options": {}}', "{" * 9])
def test_a_manifest_of_something_else_is_refused(inputs, tmp_path, content):
    (tmp_path / COMPLETED).write_text(content)
    with pytest.raises(InputError, match=COMPLETED):
        OutputFolder(str(tmp_path)).is_done(inputs, {})


def test_what_workers_write_has_an_absolute_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert OutputFolder("out").incomplete.startswith(f"{tmp_path}/out/_incomplete/")
    assert OutputFolder("s3://bucket/out").incomplete.startswith("s3://bucket/out/_incomplete/")


SNLI = {"gold_label": "neutral", "sentence1": "a b", "sentence2": "c d", "pairID": "p"}


@pytest.mark.parametrize(
    ("command", "below"),
    [
        *[("reddit", below) for below in ("", "deeper/still", "_incomplete")],
        *[(command, "") for command in ("snli", "vocabulary")],
    ],
)
def test_commands_refuse_an_input_in_the_output(refused, tmp_path, command, below):
    path = tmp_path / "out" / below / "train-x-of-y.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(SNLI) + "\n")
    before = path.read_bytes()
    assert str(tmp_path / "out") in refused(command, "--input", path)
    assert path.read_bytes() == before


def test_a_job_states_inputs_options_and_outputs_and_its_bytes_depend_on_no_place(
    run, world, tmp_path, monkeypatch
):
    content = set()
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("RC_1.zst", "RC_2.bz2"):
            (tmp_path / folder / name).write_bytes((tmp_path / name).read_bytes())
        monkeypatch.chdir(tmp_path / folder)
        run("--input", "RC_*", "--output", "out", "--train_shards", 2)
        published = {path.name: path.read_bytes() for path in Path("out").glob("*-of-*")}
        statistics = Path("out/statistics.json").read_bytes()
        content.add((tuple(sorted(published.items())), statistics))
    assert len(content) == 1
    marker = json.loads(Path("out/COMPLETED").read_text())
    assert marker["inputs"] == {
        str(tmp_path / "two" / file.path): {"path": str(tmp_path / "two" / file.path)}
        | describe(file)
        for file in find_inputs(["RC_*"])
    }
    assert marker["options"]["train_shards"] == 2
    assert marker["outputs"].keys() == published.keys()
    for name, said in marker["outputs"].items():
        checksum = f"{google_crc32c.value(published[name]):08x}"
        assert (said["bytes"], said["crc32c"]) == (len(published[name]), checksum)
    assert sum(about["records"] for about in marker["outputs"].values()) == 2 + 2


def test_an_input_that_changes_while_it_is_read_is_noticed(refused, world, tmp_path, monkeypatch):
    from data_pipeline.execution.runner import run_pipeline

    path = tmp_path / "RC_1.zst"

    def run_and_change(pipeline, **options):
        run_pipeline(pipeline, **options)
        path.write_bytes(path.read_bytes() * 2)
        os.utime(path, (1, 1))

    monkeypatch.setattr("data_pipeline.execution.job.run_pipeline", run_and_change)
    assert str(path) in refused("reddit", "--input", path)
