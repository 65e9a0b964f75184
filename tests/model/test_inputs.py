"""Record files, plain or compressed, as the models read them."""

import gzip

import pytest
from official.core import config_definitions

from model import configs
from model.errors import InputError
from model.inputs import build_dataset, check_files, compression_of, find_files, read_records
from model.text import WORDS, TextToIds


@pytest.fixture
def zipped_folder(pairs_folder, tmp_path):
    """The same pairs as `data_pipeline reddit --gzip` stores them."""
    for path in pairs_folder.glob("train-*"):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    return tmp_path


def config(pattern):
    return config_definitions.DataConfig(input_path=pattern, global_batch_size=32)


def test_compressed_records_are_those_of_the_plain_files(pairs_folder, zipped_folder):
    files = find_files("train_data", config(f"{zipped_folder}/train-*"))
    plain = find_files("train_data", config(f"{pairs_folder}/train-*"))
    check_files("train_data", config(f"{zipped_folder}/train-*"))
    zipped_records = [record.numpy() for record in read_records(files)]
    assert len(zipped_records) == 400
    assert zipped_records == [record.numpy() for record in read_records(plain)]
    batches = build_dataset(
        files,
        config_definitions.DataConfig(global_batch_size=32, shuffle_buffer_size=64),
        text=TextToIds(configs.Text()),
        seed=0,
        context=None,
    )
    assert next(iter(batches))["input"][WORDS].shape[0] == 32


def test_compressed_and_plain_files_do_not_mix():
    assert compression_of(["a.tfrecord", "b.tfrecord"]) == ""
    with pytest.raises(InputError, match=r"'b.tfrecord.gz' is compressed and 'a.tfrecord' is not"):
        compression_of(["a.tfrecord", "b.tfrecord.gz"])
