"""The bytes that TensorFlow reads back."""

import pyarrow as pa
import tensorflow as tf

from data_pipeline.pairs.tfrecord import (
    FEATURES,
    encode_example,
    frame,
)
from data_pipeline.pairs.tfrecord_columns import encode_columns, frame_columns

PAIR = {name: f"{name} – ü\n" + "long " * 60 for name in FEATURES}


def test_tensorflow_reads_what_is_written(tmp_path):
    path = tmp_path / "pairs.tfrecord"
    records = [encode_example(PAIR | {"input": text}) for text in ("", "a", "b" * 20_000)]
    path.write_bytes(b"".join(map(frame, records)))
    read = [tf.train.Example.FromString(r.numpy()) for r in tf.data.TFRecordDataset(str(path))]
    assert [e.features.feature["input"].bytes_list.value[0] for e in read] == [
        b"",
        b"a",
        b"b" * 20_000,
    ]
    for example in read:
        assert set(example.features.feature) == set(FEATURES)
        for name in FEATURES[1:]:
            assert example.features.feature[name].bytes_list.value == [PAIR[name].encode()]


def test_strings_and_integers_are_encoded_alike():
    other = dict.fromkeys(PAIR, "") | {"input": "x" * 200}
    columns = [
        pa.array([PAIR[name], other[name]], pa.large_string() if name == "input" else pa.string())
        for name in PAIR
    ]
    expected = [encode_example(PAIR), encode_example(other)]
    assert encode_columns(list(PAIR), columns).to_pylist() == expected
    frames, checksums = frame_columns(list(PAIR), columns)
    assert frames.to_pylist() == list(map(frame, expected))
    stored = [int.from_bytes(framed[-4:], "little") for framed in map(frame, expected)]
    assert checksums.tolist() == stored
    # Of a slice too, whose bytes do not begin where its buffers do.
    frames, _ = frame_columns(list(PAIR), [column[1:] for column in columns])
    assert frames.to_pylist() == [frame(expected[1])]
    example = tf.train.Example.FromString(encode_example({"label": 300, "text": "ü"}))
    assert example.features.feature["label"].int64_list.value == [300]
    assert example.features.feature["text"].bytes_list.value == ["ü".encode()]
