"""The TFRecord files of a data config: finds, counts and checks them."""

from collections.abc import Callable
from pathlib import PurePath
from posixpath import dirname, realpath
from typing import Any

import tensorflow as tf

from common.errors import InputError, message_of, reading
from common.files import COMPLETED, outputs, require_whole
from data_pipeline.pairs import tfrecord
from model.configs import schema

_AT_ONCE = 1000

Parse = Callable[[tf.Tensor], object]
"""Serialized records, string [batch] -> tensors."""


def find_files(name: str, config: schema.Data) -> list[str]:
    """The record files of one data config, such as `task.train_data`, sorted, each once.

    Raises:
      InputError: if the path is missing, matches nothing or a part of what a job published, or
        names test files to train on.
    """
    patterns = config.input_path
    patterns = patterns.split(",") if isinstance(patterns, str) else list(patterns)
    files: list[str] = []
    for pattern in filter(None, map(str.strip, patterns)):
        with reading(f"{name}.input_path: {pattern!r}"):  # s3:// has no file system here
            matched = tf.io.gfile.glob(pattern)
        if not matched:
            raise InputError(
                f"{name}.input_path: {pattern!r} matches no file; accepted: patterns "
                f"such as 'pairs/{tfrecord.TRAIN_PATTERN}'"
            )
        if matched != [pattern]:
            require_whole(matched, names_in=tf.io.gfile.listdir, read=_read)
        files += matched
    if not files:
        raise InputError(f"{name}.input_path is empty; it names the TFRecord files")
    once = {_full_path(file): file for file in reversed(files)}
    files = sorted(once.values(), key=lambda path: (PurePath(path).name, path))
    held_out = [file for file in files if PurePath(file).name.startswith(("test-", "validation-"))]
    if config.is_training and held_out:
        raise InputError(f"{name}.input_path: {held_out[0]!r} is held out; training never reads it")
    return files


def compression_of(files: list[str]) -> str:
    """TensorFlow's name of the files' compression, by their names: `GZIP` or empty.

    Raises:
      InputError: if some are compressed and some are not.
    """
    zipped = [file for file in files if file.endswith(tfrecord.GZIP_SUFFIX)]
    if zipped and len(zipped) < len(files):
        raise InputError(f"input_path: {zipped[0]!r} is compressed and others are not")
    return "GZIP" if zipped else ""


def read_records(files: list[str]) -> tf.data.Dataset:
    """The serialized records of the files, one file after another: string []."""
    return tf.data.TFRecordDataset(files, compression_type=compression_of(files))


def count_records(name: str, file: str) -> int:
    """Number of records of a file, from the COMPLETED manifest beside it or by reading it.

    Raises:
      InputError: if the file is corrupt.
    """
    size, entry = _stated(file)
    if entry.get("bytes") == size and "records" in entry:
        return entry["records"]
    count = 0
    try:
        for batch in read_records([file]).batch(_AT_ONCE):
            count += int(tf.size(batch))
    except tf.errors.OpError as error:
        raise find_damage(name, [file]) or error from error
    return count


def identities(name: str, config: schema.Data) -> dict[str, list[Any]]:
    """Bytes of each record file and its checksum, None where no COMPLETED manifest has one."""
    found: dict[str, list[Any]] = {}
    for file in find_files(name, config):
        size, entry = _stated(file)
        found[file] = [size, entry.get("crc32c") if entry.get("bytes") == size else None]
    return found


def _stated(file: str) -> tuple[int, dict[str, Any]]:
    """The bytes of a file, and what the COMPLETED manifest beside it says of it."""
    entry = outputs(dirname(file), _read).get(PurePath(file).name, {})
    return tf.io.gfile.stat(file).length, entry


def _read(path: str) -> bytes:
    return tf.io.gfile.GFile(path, "rb").read()


def check(name: str, config: schema.Data, parse: Parse) -> dict[str, Any]:
    """Reads and parses one batch and each file's first record: a run must not stop at a file later.

    Returns:
      The first record of each file that has one, parsed as a batch.

    Raises:
      InputError: if there are no files, fewer records than a batch, or they are of another kind or
        cut off.
    """
    files = find_files(name, config)
    for file in files:  # TensorFlow may take a file that is cut off for a whole one
        size, entry = _stated(file)
        if entry.get("bytes", size) != size:
            raise InputError(
                f"{name}.input_path: {file!r} has {size:,} bytes, but {COMPLETED} beside it says "
                f"{entry['bytes']:,}; accepted: whole files, or files without {COMPLETED}"
            )
    largest, read, firsts = max([config.global_batch_size, *config.batch_sizes]), 0, {}
    try:
        for batch in read_records(files).batch(largest).take(1):
            parse(batch)
            read = int(tf.size(batch))
        for file in files:
            for record in read_records([file]).take(1).batch(1):
                firsts[file] = parse(record)
    except tf.errors.OpError as error:
        raise find_damage(name, files, parse) or error from error
    if read < largest:
        raise InputError(
            f"{name}.input_path: {len(files)} files from {files[0]!r} on hold {read} records; "
            f"one batch has {largest} ({name}.global_batch_size)"
        )
    return firsts


def require_apart(name: str, config: schema.Data, folder: str) -> None:
    """Raises InputError if an input is inside the model folder, at any depth."""
    inside = _full_path(folder).rstrip("/") + "/"
    for file in find_files(name, config):
        if _full_path(file).startswith(inside):
            raise InputError(
                f"{name}.input_path: {file!r} lies in --model_dir; name a folder without inputs"
            )


def require_held_out(section: str, config: schema.Training | schema.FurtherTask) -> None:
    """Raises InputError if validation reads a file that is trained on."""
    trained_on = set(map(_full_path, find_files(f"{section}.train_data", config.train_data)))
    name = f"{section}.validation_data"
    for file in find_files(name, config.validation_data):
        if _full_path(file) in trained_on:
            raise InputError(
                f"{name}.input_path: {file!r} is trained on, too; accepted: files that are not, "
                "such as validation-*"
            )


def _full_path(path: str) -> str:
    return path if "://" in path else realpath(path)


def find_damage(name: str, files: list[str], parse: Parse | None = None) -> InputError | None:
    """Reads all records; an error that names the first that cannot be read or parsed, or None."""
    for file in files:
        read = 0
        try:
            dataset = read_records([file])
            if parse is not None:
                dataset = dataset.batch(1).map(tf.autograph.experimental.do_not_convert(parse))
            for _ in dataset:
                read += 1
        except tf.errors.OpError as error:
            return InputError(
                f"{name}.input_path: record {read + 1} of {file!r} is corrupt or of another "
                f"kind: {message_of(error)}"
            )
    return None
