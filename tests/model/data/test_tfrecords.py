"""Record files: found, counted, plain or compressed, and what is wrong with them."""

import gzip
import json
import shutil

import pytest
import tensorflow as tf

from common.errors import InputError
from common.tfrecord import FEATURES, encode_example, frame
from model.configs import schema
from model.data.tfrecords import Records, compression_of
from model.tasks.registry import tasks_of


@pytest.fixture
def to_batch(parse):
    """What makes a batch of records."""
    return tasks_of(parse().task)[0].parse


def records(pattern="", name="task.train_data", parse=tf.identity, **options):
    config = schema.Data(input_path=str(pattern), global_batch_size=32, **options)
    return Records(name, config, parse)


def test_compressed_records_are_those_of_the_plain_files(pairs_folder, tmp_path, to_batch):
    """As `data_pipeline reddit --gzip` stores them."""
    for path in pairs_folder.glob("train-*"):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    records(f"{tmp_path}/train-*", parse=to_batch).check()
    zipped, plain = (
        [record.numpy() for record in records(f"{folder}/train-*").serialized()]
        for folder in (tmp_path, pairs_folder)
    )
    assert len(zipped) == 400
    assert zipped == plain
    assert records().count(f"{tmp_path}/train-00001-of-00002.tfrecord.gz") == 200
    with pytest.raises(InputError, match=r"'b.tfrecord.gz' is compressed"):
        compression_of(["a.tfrecord", "b.tfrecord.gz"])


def test_a_file_that_several_patterns_match_is_read_once(pairs_folder, monkeypatch):
    patterns = f"{pairs_folder}/train-*,{pairs_folder}/train-00000*"
    assert records(patterns).files == sorted(map(str, pairs_folder.glob("train-*")))
    monkeypatch.chdir(pairs_folder)
    once = records("train-*").files
    assert records(f"train-*,./train-*,{pairs_folder}/train-*").files == once


@pytest.mark.parametrize("pattern", ["", "nowhere/*", "s3://bucket/pairs/train-*"])
def test_a_pattern_without_files_is_named(pattern):
    with pytest.raises(InputError, match=r"task.train_data.input_path"):
        _ = records(pattern).files


def test_test_files_are_not_trained_on(pairs_folder):
    assert len(records(f"{pairs_folder}/t*").files) == 4
    with pytest.raises(InputError, match=r"'.*/test-00000-of-00002.tfrecord' is held out"):
        _ = records(f"{pairs_folder}/t*", is_training=True).files


def test_a_manifest_saves_the_reading(tmp_path):
    (tmp_path / "train-0").write_bytes(frame(b"one"))
    size = (tmp_path / "train-0").stat().st_size
    outputs = {"train-0": {"bytes": size, "records": 77}, "train-1": {"bytes": 5, "records": 88}}
    (tmp_path / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
    assert records().count(f"{tmp_path}/train-0") == 77
    # Not of the size that the manifest says: another file by now.
    (tmp_path / "train-1").write_bytes(frame(b"one") + frame(b"two"))
    assert records().count(f"{tmp_path}/train-1") == 2


def test_a_folder_that_is_built_again_is_known_by_its_new_manifest(tmp_path):
    for count in (2, 3):
        content = frame(b"one") * count
        (tmp_path / "train-0").write_bytes(content)
        outputs = {"train-0": {"bytes": len(content), "records": count, "crc32c": str(count)}}
        (tmp_path / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
        found = records(tmp_path / "train-*").identities()
        assert found == {f"{tmp_path}/train-0": [len(content), str(count)]}
        assert records().count(f"{tmp_path}/train-0") == count


def pair(number):
    return encode_example(dict.fromkeys(FEATURES, f"text {number}"))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("cut", b"".join(frame(pair(n)) for n in range(20))[:-3], r"record 20 of '.*train-cut'"),
        (
            "changed",
            b"".join(frame(pair(n)).replace(b"text 7", b"text 8") for n in range(40)),
            r"record 8 of '.*train-changed' is corrupt",
        ),
        (
            "other",
            frame(pair(1)) + frame(encode_example({"premise": "a", "hypothesis": "b"})) * 40,
            r"record 2 of '.*train-other' is corrupt or of another kind: .*input",
        ),
        ("empty", b"", r"hold 0 records; one batch has 32"),
        ("0.jsonl", b'{"input": "no TFRecord"}', r"record 1 of '.*train-0.jsonl'"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_record(tmp_path, to_batch, name, content, reason):
    (tmp_path / f"train-{name}").write_bytes(content)
    with pytest.raises(InputError, match=reason):
        records(tmp_path / "train-*", parse=to_batch).check()


def test_the_first_record_of_each_file_is_looked_at(tmp_path, to_batch):
    (tmp_path / "train-0").write_bytes(b"".join(frame(pair(n)) for n in range(40)))
    (tmp_path / "train-1").write_bytes(b"")
    records(tmp_path / "train-*", parse=to_batch).check()
    (tmp_path / "train-2").write_bytes(frame(encode_example({"premise": "a"})))
    with pytest.raises(InputError, match=r"record 1 of '.*train-2' is corrupt or of another kind"):
        records(tmp_path / "train-*", parse=to_batch).check()


def test_a_file_that_is_shorter_than_its_job_left_it_is_named(pairs_folder, tmp_path):
    folder = shutil.copytree(pairs_folder, tmp_path / "pairs")
    file = next(folder.glob("train-*"))
    sizes = {path.name: {"bytes": path.stat().st_size} for path in folder.glob("train-*")}
    sizes[file.name]["bytes"] += 3
    stated = {"outputs": sizes}
    (folder / "COMPLETED").write_text(json.dumps(stated))
    with pytest.raises(InputError, match=rf"x.input_path: '{file}' has .*, but COMPLETED besi"):
        records(f"{folder}/train-*", "x").check()
