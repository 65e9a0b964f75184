"""Training records as pairs of texts, from each kind of file.

    *.tfrecord      tf.Examples: input and response, or premise and hypothesis
    *.jsonl, *.txt  SNLI
    *.csv           STS Benchmark

each plain or compressed with gzip. Of a folder, its files train-*.tfrecord and nli-*.tfrecord
are read, or else sts-train.csv and *train*.jsonl.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

from evaluation.data import snli_files, sts_files, tfrecords
from evaluation.data.files import Source, existing, without_gz
from evaluation.errors import InputError

TEXTS = (("input", "response"), ("premise", "hypothesis"))
CONTEXT = "context/"
KINDS = ("tfrecord", "jsonl", "txt", "csv")
IN_FOLDER = (("train-*.tfrecord*", "nli-*.tfrecord*"), ("sts-train.csv*", "*train*.jsonl*"))


def find(path: Path) -> list[Path]:
    """Return the file, or the training files of a folder."""
    if existing(path).is_file():
        _kind(path)
        return [path]
    for patterns in IN_FOLDER:
        found = sorted(itertools.chain(*(path.glob(pattern) for pattern in patterns)))
        if found:
            return found
    accepted = ", ".join(itertools.chain(*IN_FOLDER))
    raise InputError(f"{path}: holds no training files ({accepted})")


def read(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the two texts of each record of a file, and the context turns that it has."""
    match _kind(path):
        case "tfrecord":
            yield from _records(path)
        case "jsonl" | "txt":
            for pair in snli_files.read(Source(path.name, (path,))).pairs:
                yield pair.premise, pair.hypothesis
        case "csv":
            for row in sts_files.read_benchmark(path):
                yield row.sentence1, row.sentence2


def _kind(path: Path) -> str:
    """Return the format of a file, by its suffix."""
    kind = without_gz(path).rsplit(".", 1)[-1]
    if kind not in KINDS:
        raise InputError(f"{path}: .tfrecord, .jsonl, .txt and .csv are accepted, or .gz")
    return kind


def _records(path: Path) -> Iterator[tuple[str, ...]]:
    """Yield the pairs of a TFRecord file: of conversations or NLI, by the features it has."""
    for features, place in tfrecords.read(path):
        names = next((names for names in TEXTS if names[0] in features), TEXTS[0])
        context = sorted(
            name
            for name, feature in features.items()
            if name.startswith(CONTEXT) and feature.bytes_list.value
        )
        yield tuple(tfrecords.texts(features, (*names, *context), place=place))
