"""The bytes that TensorFlow reads back."""

import tensorflow as tf

from data_pipeline.pairs.tfrecord import (
    FEATURES,
    encode_columns,
    encode_example,
    frame,
    split_frames,
)

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


def test_joined_frames_come_apart_again():
    frames = [frame(bytes([n]) * n * 50) for n in range(5)]
    assert list(split_frames(b"".join(frames))) == frames


def test_strings_and_integers_are_encoded_alike():
    other = dict.fromkeys(PAIR, "") | {"input": "x" * 200}
    columns = list(zip(PAIR.values(), other.values(), strict=True))
    assert encode_columns(list(PAIR), columns) == [encode_example(PAIR), encode_example(other)]
    example = tf.train.Example.FromString(encode_example({"label": 300, "text": "ü"}))
    assert example.features.feature["label"].int64_list.value == [300]
    assert example.features.feature["text"].bytes_list.value == ["ü".encode()]
