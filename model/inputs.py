"""TFRecord pairs -> batches of ids."""

from pathlib import PurePath

import tensorflow as tf
from official.core import config_definitions

from data_pipeline import records
from model.errors import InputError
from model.text import TextToIds

_SPEC = {name: tf.io.FixedLenFeature([], tf.string) for name in (records.INPUT, records.RESPONSE)}


def find_files(name: str, config: config_definitions.DataConfig) -> list[str]:
    """The record files of one data config, sorted.

    Raises:
      InputError: if the path is missing or matches nothing.
    """
    patterns = config.input_path or ""
    patterns = patterns.split(",") if isinstance(patterns, str) else list(patterns)
    files: list[str] = []
    for pattern in filter(None, map(str.strip, patterns)):
        matched = tf.io.gfile.glob(pattern)
        if not matched:
            raise InputError(
                f"task.{name}.input_path: {pattern!r} matches no file; accepted are patterns "
                f"such as 'pairs/{records.TRAIN_PATTERN}'"
            )
        files += matched
    if not files:
        raise InputError(f"task.{name}.input_path is empty; it names the TFRecord files")
    return sorted(files, key=lambda path: (PurePath(path).name, path))


def compression_of(files: list[str]) -> str:
    """TensorFlow's name of the compression that the files' names tell: GZIP or none.

    Raises:
      InputError: if some are compressed and some are not.
    """
    zipped = [file for file in files if file.endswith(records.GZIP_SUFFIX)]
    if zipped and len(zipped) < len(files):
        plain = next(file for file in files if file not in zipped)
        raise InputError(
            f"input_path: {zipped[0]!r} is compressed and {plain!r} is not; name one kind"
        )
    return "GZIP" if zipped else ""


def read_records(files: list[str]) -> tf.data.Dataset:
    """The serialized records of the files, one file after the other."""
    return tf.data.TFRecordDataset(files, compression_type=compression_of(files))


def check_files(name: str, config: config_definitions.DataConfig) -> None:
    """Reads as many records as a batch has, so that a run does not begin without data.

    Raises:
      InputError: if there are no files, fewer records than a batch, or they are no pairs.
    """
    files = find_files(name, config)
    records_read = 0
    try:
        for record in read_records(files).take(config.global_batch_size):
            tf.io.parse_single_example(record, _SPEC)
            records_read += 1
    except tf.errors.OpError as error:
        raise InputError(
            f"task.{name}.input_path: record {records_read + 1} of {files[0]!r} and the files "
            f"after it is no pair: {error.message}"
        ) from error
    if records_read < config.global_batch_size:
        raise InputError(
            f"task.{name}.input_path: {len(files)} files from {files[0]!r} on hold {records_read} "
            f"pairs; one batch has {config.global_batch_size} (task.{name}.global_batch_size)"
        )


def build_dataset(
    files: list[str],
    config: config_definitions.DataConfig,
    *,
    text: TextToIds,
    seed: int,
    context: tf.distribute.InputContext | None,
) -> tf.data.Dataset:
    """Batches of `{"input": ids, "response": ids}`, endless and shuffled for training.

    For training, files are read side by side and records shuffled in a buffer; batches always
    have `global_batch_size` pairs over all replicas. For validation one pass, in order.
    """
    context = context or tf.distribute.InputContext()
    batch_size = context.get_per_replica_batch_size(config.global_batch_size)
    compression = compression_of(files)
    dataset = tf.data.Dataset.from_tensor_slices(files)
    if context.num_input_pipelines > 1:
        dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)
    if config.is_training:
        dataset = dataset.shuffle(len(files), seed=seed)
    dataset = dataset.interleave(
        lambda file: tf.data.TFRecordDataset(file, compression_type=compression),
        cycle_length=config.cycle_length or 16,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )
    if config.is_training:
        dataset = dataset.shuffle(config.shuffle_buffer_size, seed=seed).repeat()
    dataset = dataset.batch(batch_size, drop_remainder=config.drop_remainder)
    dataset = dataset.map(
        lambda serialized: _parse(serialized, text), num_parallel_calls=tf.data.AUTOTUNE
    )
    return dataset.prefetch(tf.data.AUTOTUNE)


def _parse(serialized: tf.Tensor, text: TextToIds) -> dict[str, dict[str, tf.Tensor]]:
    strings = tf.io.parse_example(serialized, _SPEC)
    return {
        "input": text(strings[records.INPUT]),
        "response": text(strings[records.RESPONSE]),
    }
