"""TFRecord files of tf.Examples, record by record; texts of the pipeline's training records."""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import google_crc32c

from common import text_files
from common.errors import InputError, reading
from common.files import require_whole

T = TypeVar("T")
TRAINING = ("train-*.tfrecord", "nli-*.tfrecord")  # of conversations, and of NLI
Features = Mapping[str, Any]  # features of a tf.Example by name


def parse_records(path: Path, parse: Callable[[Features], T]) -> Iterator[T]:
    """Yield what `parse` makes of each record's features; InputError names one that is damaged.

    TensorFlow's own reader takes a .gz file that is cut off for a whole one.
    """
    from tensorflow.core.example.example_pb2 import Example  # importing TensorFlow takes seconds

    number = 0
    with reading(path), text_files.opened(path) as file:
        # A record is its length, that number's checksum, the bytes, and their checksum.
        while header := file.read(12):
            number += 1
            with reading(f"{path}: record {number}"):
                is_length = len(header) == 12 and _checksum(header[:8]) == header[8:]
                record = file.read(*struct.unpack("<Q", header[:8])) if is_length else None
                if record is None or _checksum(record) != file.read(4):
                    raise ValueError("damaged, or no TFRecord file")
                features = parse(Example.FromString(record).features.feature)
            yield features


def text(features: Features, name: str) -> str:
    """Return a feature that holds one text."""
    values: Sequence[bytes] = features[name].bytes_list.value if name in features else ()
    if len(values) != 1:
        raise ValueError(f"feature {name!r} has {len(values)} texts; one is needed")
    return values[0].decode("utf-8")


def find(path: Path, *patterns: str) -> tuple[Path, ...]:
    """Return the file itself, the files of a pattern, or those of a folder that match."""
    if path.is_file():
        return (path,)
    folder, wanted = (path, patterns) if path.is_dir() else (path.parent, (path.name,))
    files = text_files.find(folder, *wanted)
    if not files:
        raise InputError(f"{folder}: no {' or '.join(wanted)} here (plain or .gz)")
    require_whole(files)
    return tuple(files)


def training_texts(features: Features) -> tuple[str, ...]:
    """Return the two texts of a training record, and the context turns that it has."""
    names = ("premise", "hypothesis") if "premise" in features else ("input", "response")
    context = (name for name in features if name.startswith("context/"))
    used = [name for name in sorted(context) if features[name].bytes_list.value]
    return tuple(text(features, name) for name in (*names, *used))


def _checksum(data: bytes) -> bytes:
    crc = google_crc32c.value(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
