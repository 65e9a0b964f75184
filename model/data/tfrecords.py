"""The TFRecord files of a data config: finds, counts and checks them."""

import functools
from collections.abc import Callable
from pathlib import PurePath
from posixpath import dirname, realpath
from typing import Any

import tensorflow as tf

from common import tfrecord
from common.errors import InputError, message_of, reading
from common.files import COMPLETED, outputs, require_whole
from model.configs import schema

_AT_ONCE = 1000
_HELD_OUT = ("test-", "validation-")

Parse = Callable[[tf.Tensor], Any]
"""Serialized records, string [batch] -> tensors."""


class Records:
    """The records of a data config, which is called `name`, such as `task.train_data`.

    All that is wrong with them is an InputError that names the config and the file.
    """

    def __init__(self, name: str, config: schema.Data, parse: Parse):
        self.name, self.config, self.parse = name, config, parse

    def error(self, reason: str) -> InputError:
        """An error about the files."""
        return InputError(f"{self.name}.input_path: {reason}")

    @functools.cached_property
    def files(self) -> list[str]:
        """The files, sorted, each once.

        Raises:
          InputError: if the path is missing, matches nothing or a part of what a job published, or
            names test files to train on.
        """
        patterns = self.config.input_path
        patterns = patterns.split(",") if isinstance(patterns, str) else list(patterns)
        files: list[str] = []
        for pattern in filter(None, map(str.strip, patterns)):
            with reading(f"{self.name}.input_path: {pattern!r}"):  # s3:// has no file system here
                matched = tf.io.gfile.glob(pattern)
            if not matched:
                accepted = f"patterns such as 'pairs/{tfrecord.TRAIN_PATTERN}'"
                raise self.error(f"{pattern!r} matches no file; accepted: {accepted}")
            if matched != [pattern]:
                require_whole(matched, names_in=tf.io.gfile.listdir, read=_read)
            files += matched
        if not files:
            raise self.error("is empty; it names the TFRecord files")
        once = {_full_path(file): file for file in reversed(files)}
        files = sorted(once.values(), key=lambda path: (PurePath(path).name, path))
        held_out = [file for file in files if PurePath(file).name.startswith(_HELD_OUT)]
        if self.config.is_training and held_out:
            raise self.error(f"{held_out[0]!r} is held out; training never reads it")
        return files

    def serialized(self) -> tf.data.Dataset:
        """The records of the files, one file after another: string []."""
        return read_records(self.files)

    def count(self, file: str) -> int:
        """Number of records of a file, from the COMPLETED manifest beside it or by reading it."""
        size, entry = _stated(file)
        if entry.get("bytes") == size and "records" in entry:
            return entry["records"]
        count = 0
        try:
            for batch in read_records([file]).batch(_AT_ONCE):
                count += int(tf.size(batch))
        except tf.errors.OpError as error:
            raise self.damage([file]) or error from error
        return count

    def identities(self) -> dict[str, list[Any]]:
        """Bytes of each file and its checksum, None where no COMPLETED manifest has one."""
        found: dict[str, list[Any]] = {}
        for file in self.files:
            size, entry = _stated(file)
            found[file] = [size, entry.get("crc32c") if entry.get("bytes") == size else None]
        return found

    def check(self) -> dict[str, Any]:
        """Parses one batch and each file's first record: a run must not stop at a file later.

        Returns:
          The first record of each file that has one, parsed as a batch.

        Raises:
          InputError: if there are fewer records than a batch, or they are of another kind or cut
            off.
        """
        for file in self.files:  # TensorFlow may take a file that is cut off for a whole one
            size, entry = _stated(file)
            if entry.get("bytes", size) != size:
                raise self.error(
                    f"{file!r} has {size:,} bytes, but {COMPLETED} beside it says "
                    f"{entry['bytes']:,}; accepted: whole files, or files without {COMPLETED}"
                )
        largest = max([self.config.global_batch_size, *self.config.batch_sizes])
        read, firsts = 0, {}
        try:
            for batch in self.serialized().batch(largest).take(1):
                self.parse(batch)
                read = int(tf.size(batch))
            for file in self.files:
                for record in read_records([file]).take(1).batch(1):
                    firsts[file] = self.parse(record)
        except tf.errors.OpError as error:
            raise self.damage() or error from error
        if read < largest:
            raise self.error(
                f"{len(self.files)} files from {self.files[0]!r} on hold {read} records; "
                f"one batch has {largest} ({self.name}.global_batch_size)"
            )
        return firsts

    def require_outside(self, folder: str) -> None:
        """Raises InputError if a file is inside the model folder, at any depth."""
        inside = _full_path(folder).rstrip("/") + "/"
        for file in self.files:
            if _full_path(file).startswith(inside):
                raise self.error(f"{file!r} lies in --model_dir; name a folder without inputs")

    def require_others_than(self, trained_on: "Records") -> None:
        """Raises InputError if validation reads a file that is trained on."""
        full_paths = set(map(_full_path, trained_on.files))
        for file in self.files:
            if _full_path(file) in full_paths:
                accepted = "files that are not, such as validation-*"
                raise self.error(f"{file!r} is trained on, too; accepted: {accepted}")

    def damage(self, files: list[str] | None = None) -> InputError | None:
        """Reads all records; an error that names the first that cannot be read or parsed, or None.

        Of all files, or of some.
        """
        parsed = tf.autograph.experimental.do_not_convert(self.parse)
        for file in files or self.files:
            read = 0
            try:
                for _ in read_records([file]).batch(1).map(parsed):
                    read += 1
            except tf.errors.OpError as error:
                reason = f"is corrupt or of another kind: {message_of(error)}"
                return self.error(f"record {read + 1} of {file!r} {reason}")
        return None


def read_records(files: list[str]) -> tf.data.Dataset:
    """The serialized records of the files, one file after another: string []."""
    return tf.data.TFRecordDataset(files, compression_type=compression_of(files))


def compression_of(files: list[str]) -> str:
    """TensorFlow's name of the files' compression, by their names: `GZIP` or empty.

    Raises:
      InputError: if some are compressed and some are not.
    """
    zipped = [file for file in files if file.endswith(tfrecord.GZIP_SUFFIX)]
    if zipped and len(zipped) < len(files):
        raise InputError(f"input_path: {zipped[0]!r} is compressed and others are not")
    return "GZIP" if zipped else ""


def _stated(file: str) -> tuple[int, dict[str, Any]]:
    """The bytes of a file, and what the COMPLETED manifest beside it says of it."""
    entry = outputs(dirname(file), _read).get(PurePath(file).name, {})
    return tf.io.gfile.stat(file).length, entry


def _read(path: str) -> bytes:
    return tf.io.gfile.GFile(path, "rb").read()


def _full_path(path: str) -> str:
    return path if "://" in path else realpath(path)
