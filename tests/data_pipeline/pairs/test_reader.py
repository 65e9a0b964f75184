"""Published pairs of every format, read back; and what is told of a file that is damaged."""

import gzip

import google_crc32c
import orjson
import pyarrow as pa
import pyarrow.parquet
import pytest
import tensorflow as tf

from common.tfrecord import FEATURES, decode_example, encode_example, frame
from data_pipeline.pairs.options import FORMATS, PairOptions
from data_pipeline.pairs.reader import read_pairs, read_texts
from data_pipeline.pairs.shards import Shards, encode_columns, frame_columns
from data_pipeline.sources.tables.reader import read_rows
from data_pipeline.storage.filesystem import Tap, file_crc32c
from data_pipeline.storage.inputs import UnreadableFileError, find_inputs

PAIRS = [("How – old?", "I am 20\n."), ("", "b" * 20_000), ("x", "y")]
GOOD = frame(encode_example({"input": "some words", "response": "more"}))


def read(path):
    (file,) = find_inputs([str(path)])
    tap = Tap()
    texts = list(read_texts(file, tap))
    assert tap.size == file.size
    assert tap.crc32c == file_crc32c(str(path))
    return [
        tuple(text.decode() if isinstance(text, bytes) else text for text in pair) for pair in texts
    ]


def fails(path, content):
    """The one line about a file with this content."""
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError, match=str(path)) as raised:
        read(path)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_changed_letter_does_not_fit_the_checksum_of_the_manifest(tmp_path):
    path, content = tmp_path / "train-0.jsonl", b'{"input": "a", "response": "b"}\n'
    stated = {"bytes": len(content), "crc32c": f"{google_crc32c.value(content):08x}"}
    (tmp_path / "COMPLETED").write_bytes(orjson.dumps({"outputs": {path.name: stated}}))
    path.write_bytes(content)
    assert read(path) == [("a", "b")]
    assert "COMPLETED" in fails(path, content.replace(b'"b"', b'"c"'))


def test_pages_of_parquet_are_compared_with_their_checksums(tmp_path):
    path = tmp_path / "train-0.parquet"
    table = pa.table({"input": ["some words"], "response": ["more"]})
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    pyarrow.parquet.write_table(table, path, write_statistics=False, **options)
    assert read(path) == [("some words", "more")]
    fails(path, path.read_bytes().replace(b"some words", b"some swords"[:10]))
    (file,) = find_inputs([str(path)])
    with pytest.raises(UnreadableFileError, match=str(path)):
        list(read_rows(file, {"text": "input"}, tap=Tap()))


@pytest.mark.parametrize(
    ("name", "gzipped"), [*((name, False) for name in FORMATS), ("tfrecord", True), ("jsonl", True)]
)
def test_what_the_job_stores_is_read_back(tmp_path, name, gzipped):
    options = PairOptions(input=("RC",), output="out", format=name, gzip=gzipped)
    shards = Shards(options, {})
    columns = zip(*[[*pair, "i", "r", "t", "s"] for pair in PAIRS], strict=True)
    arrays = [pa.array(column, pa.string()) for column in columns]
    rows = b"".join(shards.encode(arrays)[0].to_pylist())
    path = tmp_path / f"train-00000-of-00001{shards.suffix}"
    path.write_bytes(shards.content(rows))
    assert read(path) == PAIRS
    expected = [dict(zip(FEATURES, [*pair, "i", "r", "t", "s"], strict=True)) for pair in PAIRS]
    assert list(read_pairs(str(tmp_path / "train-*"))) == expected
    path.write_bytes(shards.content(b""))
    assert read(path) == []


def test_tensorflow_reads_what_is_written(tmp_path):
    pair = {name: f"{name} – ü\n" + "long " * 60 for name in FEATURES}
    path = tmp_path / "pairs.tfrecord"
    texts = ["", "a", "b" * 20_000]
    records = [encode_example(pair | {"input": text, "label": 300}) for text in texts]
    path.write_bytes(b"".join(map(frame, records)))
    examples = [tf.train.Example.FromString(r.numpy()) for r in tf.data.TFRecordDataset(str(path))]
    assert [e.features.feature["input"].bytes_list.value[0].decode() for e in examples] == texts
    for features in (example.features.feature for example in examples):
        assert set(features) == {*FEATURES, "label"}
        assert features["label"].int64_list.value == [300]
        for name in FEATURES[1:]:
            assert features[name].bytes_list.value == [pair[name].encode()]


def test_examples_of_tensorflow_are_read(tmp_path):
    example = tf.train.Example()
    features = example.features.feature
    features["input"].bytes_list.value.append(b"\xff a")
    features["two"].bytes_list.value.extend([b"a", b"b"])
    features["none"].bytes_list.SetInParent()
    features["score"].float_list.value.extend([1.5, -2])
    features["label"].int64_list.value.append(7)
    assert decode_example(example.SerializeToString()) == {"input": b"\xff a", "label": 7}
    path = tmp_path / "by_tensorflow.tfrecord"
    nli = {"premise": "p", "hypothesis": "h", "label": 2, "pair_id": "1"}
    with tf.io.TFRecordWriter(str(path)) as writer:
        for text, response in PAIRS:
            writer.write(encode_example({"input": text, "response": response}))
        writer.write(encode_example(nli))
    assert read(path) == [*PAIRS, ("p", "h")]
    assert list(read_pairs([str(path)]))[-1] == nli


def test_columns_and_rows_are_encoded_alike():
    pair = {name: f"{name} – ü\n" + "long " * 60 for name in FEATURES}
    other = dict.fromkeys(pair, "") | {"input": "x" * 200}
    columns = [
        pa.array([pair[name], other[name]], pa.large_string() if name == "input" else pa.string())
        for name in pair
    ]
    expected = [encode_example(pair), encode_example(other)]
    assert encode_columns(list(pair), columns).to_pylist() == expected
    frames, checksums = frame_columns(list(pair), columns)
    assert frames.to_pylist() == list(map(frame, expected))
    assert checksums.tolist() == [
        int.from_bytes(framed[-4:], "little") for framed in map(frame, expected)
    ]
    # Of a slice too, whose bytes do not begin where its buffers do.
    frames, _ = frame_columns(list(pair), [column[1:] for column in columns])
    assert frames.to_pylist() == [frame(expected[1])]


def damaged(place):
    bad = bytearray(GOOD)
    bad[place] ^= 1
    return GOOD + bytes(bad) + GOOD


def parquet(**columns):
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(pa.table(columns), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        *(("a.tfrecord", damaged(place), "record 2: ") for place in (0, 9, 12, -20, -1)),
        *(("a.tfrecord", GOOD * 2 + GOOD[:cut], "record 3: ") for cut in (5, 13, len(GOOD) - 1)),
        ("a.tfrecord", GOOD + frame(encode_example({"input": "a"})), "record 2"),
        ("a.tfrecord", frame(b"\x0a\xff"), "record 1"),
        ("a.tfrecord.gz", gzip.compress(GOOD, mtime=0)[:-9], ""),
        ("a.tfrecord.gz", b"", ""),
        ("a.jsonl", orjson.dumps({"input": "a", "response": 1}), "record 1"),
        ("a.jsonl", b"[]\n", "record 1"),
        ("a.jsonl.gz", b"no such thing at all", ""),
        ("a.parquet", parquet(input=["a", "b"], response=["c", None]), "record 2"),
        ("a.parquet", b"no such thing at all", "record 1"),
        ("COMPLETED", b"{}", ""),
    ],
)
def test_what_is_no_pair_is_told(tmp_path, name, content, place):
    assert place in fails(tmp_path / name, content)
