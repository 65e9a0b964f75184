"""Published pairs of every format, read back; and what is told of a file that is damaged."""

import gzip

import orjson
import pyarrow as pa
import pyarrow.parquet
import pytest
import tensorflow as tf

from data_pipeline.pairs.formats import FORMATS, make_format
from data_pipeline.pairs.reader import read_texts
from data_pipeline.pairs.tfrecord import (
    FEATURES,
    decode_example,
    encode_example,
    frame,
    read_frames,
)
from data_pipeline.storage.filesystem import Tap, file_crc32c
from data_pipeline.storage.inputs import UnreadableFileError, find_inputs

PAIRS = [("How – old?", "I am 20\n."), ("", "b" * 20_000), ("x", "y")]


def read(path):
    (dump,) = find_inputs([str(path)])
    tap = Tap()
    texts = list(read_texts(dump, tap))
    assert tap.size == dump.size
    assert tap.crc32c == file_crc32c(str(path))
    return [
        tuple(text.decode() if isinstance(text, bytes) else text for text in pair) for pair in texts
    ]


def fails(path):
    with pytest.raises(UnreadableFileError) as raised:
        read(path)
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "gzipped"), [*((name, False) for name in FORMATS), ("tfrecord", True), ("jsonl", True)]
)
def test_what_the_job_stores_is_read_back(tmp_path, name, gzipped):
    form = make_format(name, names=FEATURES, gzipped=gzipped)
    columns = zip(*[[*pair, "i", "r", "t", "s"] for pair in PAIRS], strict=True)
    arrays = [pa.array(column, pa.string()) for column in columns]
    rows = b"".join(form.rows(arrays)[0].to_pylist())
    path = tmp_path / f"train-00000-of-00001{form.suffix}"
    path.write_bytes(form.file(rows))
    assert read(path) == PAIRS
    path.write_bytes(form.file(b""))
    assert read(path) == []


def test_nli_pairs_are_read_too(tmp_path):
    path = tmp_path / "nli.tfrecord"
    pair = {"premise": "p", "hypothesis": "h", "label": 2, "pair_id": "1"}
    path.write_bytes(frame(encode_example(pair)))
    assert read(path) == [("p", "h")]


def test_examples_of_tensorflow_are_read(tmp_path):
    def feature(**value):
        return tf.train.Feature(**value)

    example = tf.train.Example()
    features = example.features.feature
    features["input"].CopyFrom(feature(bytes_list=tf.train.BytesList(value=[b"\xff a"])))
    features["two"].CopyFrom(feature(bytes_list=tf.train.BytesList(value=[b"a", b"b"])))
    features["none"].CopyFrom(feature(bytes_list=tf.train.BytesList()))
    features["score"].CopyFrom(feature(float_list=tf.train.FloatList(value=[1.5, -2])))
    features["label"].CopyFrom(feature(int64_list=tf.train.Int64List(value=[-1, 2**40])))
    names = ("input", "two", "none", "score", "label", "absent")
    assert decode_example(example.SerializeToString(), names) == {"input": b"\xff a"}
    assert decode_example(b"", names) == {}

    path = tmp_path / "by_tensorflow.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for text, response in PAIRS:
            writer.write(encode_example({"input": text, "response": response}))
    assert read(path) == PAIRS


def test_frames_come_in_chunks_of_any_size():
    records = [bytes([n]) * n * 50 for n in range(6)]
    joined = b"".join(map(frame, records))
    for size in (1, 7, 100, 10_000):
        chunks = (joined[start : start + size] for start in range(0, len(joined), size))
        assert list(read_frames(chunks)) == records


@pytest.mark.parametrize("place", [0, 9, 12, -20, -1])
def test_no_damage_passes_unseen(tmp_path, place):
    good = frame(encode_example({"input": "some words", "response": "more"}))
    bad = bytearray(good)
    bad[place] ^= 1
    path = tmp_path / "a.tfrecord"
    path.write_bytes(good + bytes(bad) + good)
    assert "a.tfrecord, record 2: " in fails(path)


def test_a_truncated_file_is_told(tmp_path):
    good = frame(encode_example({"input": "some words", "response": "more"}))
    for cut in (5, 13, len(good) - 1):
        path = tmp_path / "a.tfrecord"
        path.write_bytes(good * 2 + good[:cut])
        assert "a.tfrecord, record 3: the file ends inside a record" in fails(path)
    path = tmp_path / "b.tfrecord.gz"
    path.write_bytes(gzip.compress(good)[:-9])
    assert "b.tfrecord.gz, record" in fails(path)
    path.write_bytes(b"")
    assert "an empty file is not a .gz file" in fails(path)
    for name in ("c.parquet", "d.tfrecord.gz", "e.jsonl", "f.jsonl.gz"):
        (tmp_path / name).write_bytes(b"no such thing at all")
        fails(tmp_path / name)


def test_what_is_no_pair_is_told(tmp_path):
    wanted = "holds neither input and response nor premise and hypothesis as strings"
    pair = {"input": "a", "response": "b"}
    path = tmp_path / "a.tfrecord"
    path.write_bytes(frame(encode_example(pair)) + frame(encode_example({"input": "a"})))
    assert fails(path).endswith(f"record 2: {wanted}")
    path.write_bytes(frame(b"\x0a\xff"))
    assert "record 1: not a tf.train.Example" in fails(path)

    path = tmp_path / "b.jsonl"
    path.write_bytes(orjson.dumps(pair) + b"\n" + orjson.dumps(pair | {"response": 1}))
    assert fails(path).endswith(f"record 2: {wanted}")
    path.write_bytes(b"[]\n")
    assert fails(path).endswith("record 1: not a JSON object but list")

    path = tmp_path / "c.parquet"
    pyarrow.parquet.write_table(pa.table({"input": ["a", "b"], "response": ["c", None]}), path)
    assert fails(path).endswith(f"record 2: {wanted}")
    assert "its name does not say how to read it" in fails(tmp_path / "COMPLETED")


@pytest.fixture(autouse=True)
def completed(tmp_path):
    (tmp_path / "COMPLETED").write_text("{}")
