"""Every reader of records refuses what is left of a folder that a job published."""

import json

import pytest

from common.errors import InputError
from data_pipeline.storage.inputs import find_inputs
from evaluation.analysis import contamination
from evaluation.data import ranking_files
from model.configs import schema
from model.data import tfrecords
from model.teacher import texts

NAMES = [f"{split}-{n:05d}-of-00004.tfrecord" for split in ("train", "test") for n in range(4)]

READERS = {
    "training": lambda path: tfrecords.Records("x", schema.Data(input_path=str(path)), print).files,
    "pipeline": lambda path: find_inputs([str(path)]),
    "teacher and index": lambda path: texts.find_files([str(path)]),
    "ranking": lambda path: ranking_files.find(path, "train").files,
    "contamination": lambda path: ranking_files.find_files(path, *contamination.TRAINING),
}
FOLDERS = ("ranking", "contamination")
"""These take a folder, the others a pattern."""


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "pairs"
    folder.mkdir()
    for name in NAMES:
        (folder / name).touch()
    outputs = {name: {"bytes": 0, "crc32c": "00000000", "records": 0} for name in NAMES}
    (folder / "COMPLETED").write_text(json.dumps({"outputs": outputs}))
    return folder


@pytest.fixture(params=READERS)
def find(request, folder):
    """Finds the training shards in the folder, or a file by its name."""
    everything = "" if request.param in FOLDERS else "train-*"
    return lambda name=everything: READERS[request.param](folder / name)


def test_missing_shards_are_named_unless_files_are(folder, find):
    assert len(find()) == 4
    (folder / NAMES[5]).unlink()  # of another split
    assert len(find()) == 4
    (folder / "COMPLETED").unlink()  # copied without it
    assert len(find()) == 4
    for name in NAMES[1:3]:
        (folder / name).unlink()
    with pytest.raises(InputError, match=NAMES[1]):
        find()
    assert len(find(NAMES[0])) == 1


def test_what_a_job_that_was_killed_while_publishing_left_is_refused(folder, find):
    (folder / "_publishing.json").write_text("[]")
    assert len(find()) == 4  # killed after COMPLETED was written
    (folder / "COMPLETED").unlink()
    with pytest.raises(InputError, match="_publishing"):
        find()


def test_a_shard_of_another_job_is_refused(folder, find):
    for number in range(2):
        (folder / f"train-{number:05d}-of-00002.tfrecord").touch()
    with pytest.raises(InputError, match=r"train-0000\d-of-00002"):
        find()
