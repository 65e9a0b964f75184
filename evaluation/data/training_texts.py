"""Training records as pairs of texts, from each kind of file.

    *.tfrecord      tf.Examples: input and response, or premise and hypothesis
    *.jsonl         SNLI
    *.csv           STS Benchmark

each plain or compressed with gzip. Of a folder, its files train-*.tfrecord and nli-*.tfrecord
are read, or else sts-train.csv and *train*.jsonl.
"""

from collections.abc import Iterator
from pathlib import Path

from common import sts, text_files
from common.errors import InputError
from common.text_files import Source, unpacked_name
from evaluation.data import snli_files, tfrecords
from evaluation.data.tfrecords import Features

_IN_FOLDER = (("train-*.tfrecord", "nli-*.tfrecord"), ("sts-train.csv", "*train*.jsonl"))


def find(path: Path) -> list[Path]:
    """Return the file, or the training files of a folder."""
    if path.is_file():
        return [path]
    for patterns in _IN_FOLDER:
        if found := text_files.find(path, *patterns):
            return found
    accepted = ", ".join(pattern for patterns in _IN_FOLDER for pattern in patterns)
    raise InputError(f"{path}: no training files here ({accepted}; plain or .gz)")


def read(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the two texts of each record of a file, and the context turns that it has."""
    source = Source(path.name, (path,))
    match Path(unpacked_name(path)).suffix:
        case ".tfrecord":
            yield from tfrecords.parse_records(path, _texts)
        case ".jsonl":
            yield from snli_files.read(source).texts()
        case ".csv":
            yield from sts.read(source).texts()
        case _:
            raise InputError(f"{path}: accepted: .tfrecord, .jsonl and .csv, plain or .gz")


def _texts(features: Features) -> tuple[str, ...]:
    """Return the pair of a conversation or of NLI, by the features that the record has."""
    names = ("premise", "hypothesis") if "premise" in features else ("input", "response")
    context = (name for name in features if name.startswith("context/"))
    used = [name for name in sorted(context) if features[name].bytes_list.value]
    return tuple(tfrecords.text(features, name) for name in (*names, *used))
