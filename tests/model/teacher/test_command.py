"""`python -m model teacher`: shards, what is resumed, and what is refused."""

import json
from collections import Counter

import google_crc32c
import numpy as np
import pytest
import tensorflow as tf

from model.__main__ import main
from model.errors import InputError
from model.initializers import vectors_file
from model.teacher import command, encoders
from model.teacher.targets import split
from model.teacher.texts import text_id

TEXTS = [f"text number {number}" + " long" * (number % 5) for number in range(40)]
SPEC = {name: tf.io.FixedLenFeature([], tf.string) for name in ("text", "embedding", "text_id")}


def row(text):
    """The length of the text and 1, of unit length."""
    return np.array([len(text), 1]) / np.hypot(len(text), 1)


class Fake:
    """Loads as a teacher; counts what it embeds, and may be killed at a text."""

    def __init__(self):
        self.embedded = Counter()
        self.batches = []
        self.fingerprint = "f1"
        self.killed_at = None

    def load(self, name):
        return encoders.Teacher(name, self.fingerprint, self.encode)

    def encode(self, texts):
        if self.killed_at in texts:
            raise KeyboardInterrupt
        self.embedded.update(texts)
        self.batches.append([len(text) for text in texts])
        return np.array([[len(text), 1] for text in texts]) * 7.0


@pytest.fixture
def teacher(monkeypatch):
    fake = Fake()
    monkeypatch.setattr(command.encoders, "load", fake.load)
    return fake


@pytest.fixture
def run(teacher, tmp_path, capsys):
    """Runs the command: its exit status and what it said."""
    (tmp_path / "texts.txt").write_text("\n".join([*TEXTS, "", TEXTS[0]]))

    def status_and_output(*options, output="out"):
        given = {"--encoder": "strong", "--texts": tmp_path / "texts.txt", "--shards": 3}
        given |= {"--output": tmp_path / output, "--validation_fraction": 0.1, "--batch_size": 4}
        given |= dict(zip(options[::2], options[1::2], strict=True))
        words = [str(part) for pair in given.items() for part in pair]
        try:
            main(["teacher", *words])
        except SystemExit as ended:
            return ended.code, capsys.readouterr()
        return 0, capsys.readouterr()

    return status_and_output


def records(folder, pattern="*.tfrecord"):
    files = sorted(map(str, folder.glob(pattern)))
    examples = [tf.io.parse_single_example(one, SPEC) for one in tf.data.TFRecordDataset(files)]
    return [{name: value.numpy() for name, value in one.items()} for one in examples]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_text_gets_its_embedding_once(run, teacher, tmp_path):
    status, said = run()
    assert status == 0
    assert "40 texts, 2 numbers each, written to" in said.out
    assert "(42 texts read, 40 different)" in said.out
    found = records(tmp_path / "out")
    assert sorted(record["text"].decode() for record in found) == sorted(TEXTS)
    for record in found:
        text = record["text"].decode()
        assert record["text_id"].decode() == text_id(text)
        half = np.frombuffer(record["embedding"], "<f2")
        np.testing.assert_array_equal(half, row(text).astype(np.float32).astype(np.float16))
    assert set(teacher.embedded.values()) == {1}
    assert all(batch == sorted(batch, reverse=True) for batch in teacher.batches)
    assert max(map(len, teacher.batches)) == 4


def test_a_folder_is_read_as_vectors_of_its_texts(run, tmp_path):
    run()
    found = {entry.word: entry.vector() for entry in vectors_file.entries(tmp_path / "out")}
    assert sorted(found) == sorted(TEXTS)
    expected = row(TEXTS[0]).astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(found[TEXTS[0]], expected)


def test_a_folder_that_is_not_complete_is_not_read(run, tmp_path):
    run()
    (tmp_path / "out" / "COMPLETED").unlink()
    with pytest.raises(InputError, match=r"out: not a folder that `python -m model teacher` has"):
        list(vectors_file.entries(tmp_path / "out"))


def test_the_manifest_says_who_embedded_what(run, tmp_path):
    run()
    names = [f"train-0000{index}-of-00003.tfrecord" for index in range(3)]
    held_out = "validation-00000-of-00001.tfrecord"
    assert sorted(contents(tmp_path / "out")) == ["COMPLETED", *names, held_out]
    completed = json.loads((tmp_path / "out" / "COMPLETED").read_text())
    assert completed["encoder"] == {"name": "strong", "fingerprint": "f1"}
    assert completed["dim"] == 2
    assert completed["texts"]["count"] == 40
    assert {name: part["records"] for name, part in completed["outputs"].items()} == {
        held_out: 4,
        **dict.fromkeys(names, 12),
    }
    for name, part in completed["outputs"].items():
        content = (tmp_path / "out" / name).read_bytes()
        assert part["bytes"] == len(content)
        assert int(part["crc32c"], 16) == google_crc32c.value(content)


def test_texts_of_a_sample_stay_synthetic(run, tmp_path):
    run()
    assert "synthetic" not in json.loads((tmp_path / "out" / "COMPLETED").read_text())
    (tmp_path / "COMPLETED").write_text('{"synthetic": true}')
    assert run(output="other")[0] == 0
    assert json.loads((tmp_path / "other" / "COMPLETED").read_text())["synthetic"] is True
    # What was made before this was known is the same job.
    status, output = run()
    assert (status, "complete already" in output.out) == (0, True)


def test_a_killed_job_goes_on_from_the_last_finished_shard(run, teacher, tmp_path):
    run(output="whole")
    drawn = sorted(TEXTS, key=text_id)  # 4 to validate, then 12 a shard
    teacher.embedded.clear()
    teacher.killed_at = drawn[4 + 12 + 5]
    status, said = run()
    assert status == 130
    assert said.err.endswith("interrupted; run the same command again to complete it\n")
    assert not list((tmp_path / "out").glob("*.tfrecord")), "nothing is published half"
    teacher.killed_at = None
    assert run()[0] == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    twice = {text for text, count in teacher.embedded.items() if count > 1}
    assert twice <= set(drawn[16:28])


def test_a_job_that_was_killed_while_it_published_goes_on(run, tmp_path, monkeypatch):
    run(output="whole")

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("model.teacher.targets._dim", killed)
        assert run()[0] == 130
    assert not (tmp_path / "out" / "COMPLETED").exists()
    assert run()[0] == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_job_stopped_before_it_wrote_anything_goes_on(run, tmp_path):
    (tmp_path / "out" / "_incomplete").mkdir(parents=True)
    assert run()[0] == 0


def test_the_same_job_is_done_once(run, teacher):
    run()
    teacher.embedded.clear()
    status, said = run("--encoder", "the same under another name")
    assert (status, teacher.embedded) == (0, {})
    assert "is complete already; nothing to do" in said.out


def test_a_complete_job_that_lost_a_file_is_refused(run, tmp_path):
    run()
    lost = next((tmp_path / "out").glob("train-*"))
    lost.write_bytes(lost.read_bytes()[:-1])
    status, _ = run()
    assert f"is not as the job left it: '{lost.name}' (1 files in all) is missing" in status


@pytest.mark.parametrize(
    ("option", "value", "differs"),
    [
        ("--limit", "39", "texts and shards"),
        ("--shards", "2", "shards"),
        ("--validation_fraction", "0.2", "shards"),
        ("--encoder", "else", "encoder"),
    ],
)
@pytest.mark.parametrize("killed", [False, True])
def test_another_job_is_refused(run, teacher, tmp_path, option, value, differs, killed):
    teacher.killed_at = TEXTS[7] if killed else None
    run()
    before = contents(tmp_path / "out") if not killed else None
    teacher.killed_at = None
    if option == "--encoder":
        teacher.fingerprint = "f2"
    status, _ = run(option, value)
    assert status.startswith("error: --output: ")
    state = "a part" if killed else "the output"
    assert f"holds {state} of another job, with other {differs}; name another folder" in status
    assert before is None or contents(tmp_path / "out") == before


def test_a_folder_with_something_else_stays_as_it_is(run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    status, _ = run()
    assert status.endswith("exists and is not empty; name another folder")
    assert contents(tmp_path / "out") == {"mine.txt": b"mine"}


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--limit", "-1", "--limit: -1; accepted: whole numbers of at least 1, or 0"),
        ("--shards", "0", "--shards: 0; accepted: whole numbers of at least 1"),
        ("--batch_size", "0", "--batch_size: 0; accepted: whole numbers of at least 1"),
        ("--validation_fraction", "1", "--validation_fraction: 1.0; accepted: numbers from 0"),
        ("--validation_fraction", "nan", "--validation_fraction: nan; accepted: numbers from"),
        ("--texts", "nowhere.txt", "--texts: 'nowhere.txt' matches no file"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(run, tmp_path, option, value, message):
    status, said = run(option, value)
    assert status.startswith(f"error: {message}")
    assert said.out == said.err == ""
    assert not (tmp_path / "out").exists()


def test_files_without_a_text_are_refused(run, tmp_path):
    (tmp_path / "blank.txt").write_text("\n  \n")
    status, _ = run("--texts", tmp_path / "blank.txt")
    assert status.endswith("blank.txt': 2 blank texts and no other; accepted: files with texts")


def test_few_texts_make_few_shards():
    assert split(["a", "b"], shards=3, validation_fraction=0.3) == [
        ("train-00000-of-00002.tfrecord", ["a"]),
        ("train-00001-of-00002.tfrecord", ["b"]),
    ]
    assert [shard.texts for shard in split("abcdefg", shards=2, validation_fraction=0.3)] == [
        *("ab", "cd", "efg")
    ]
