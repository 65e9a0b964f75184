"""Texts of training records that the data pipeline writes: of conversations, or of NLI."""

from collections.abc import Iterator
from pathlib import Path

from common import text_files
from common.errors import InputError
from evaluation.data import tfrecords
from evaluation.data.tfrecords import Features

PATTERNS = ("train-*.tfrecord", "nli-*.tfrecord")


def find(path: Path) -> list[Path]:
    """Return the file, or the training files of a folder."""
    files = [path] if path.is_file() else text_files.find(path, *PATTERNS)
    if not files:
        raise InputError(f"{path}: no {' or '.join(PATTERNS)} here (plain or .gz)")
    return files


def read(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the two texts of each record of a file, and the context turns that it has."""
    return tfrecords.parse_records(path, _texts)


def _texts(features: Features) -> tuple[str, ...]:
    names = ("premise", "hypothesis") if "premise" in features else ("input", "response")
    context = (name for name in features if name.startswith("context/"))
    used = [name for name in sorted(context) if features[name].bytes_list.value]
    return tuple(tfrecords.text(features, name) for name in (*names, *used))
