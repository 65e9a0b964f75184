"""Test pairs of the data pipeline, in which the true response is to be found."""

from dataclasses import dataclass
from pathlib import Path

from evaluation.data import tfrecords
from evaluation.data.files import Source, existing
from evaluation.errors import InputError

FEATURES = ("input", "response", "input_id", "response_id")


@dataclass(frozen=True)
class Pair:
    """A comment and one of its replies."""

    input: str
    response: str
    input_id: str
    response_id: str


@dataclass(frozen=True)
class RankingData:
    """The pairs of one test split."""

    name: str
    pairs: list[Pair]

    def texts(self) -> list[tuple[str, str]]:
        """Return input and response of each pair."""
        return [(pair.input, pair.response) for pair in self.pairs]


def find(path: Path) -> list[Source]:
    """Return one source: the file itself, or the files test-*.tfrecord of the folder."""
    if existing(path).is_file():
        return [Source("response_ranking", (path,))]
    files = sorted([*path.glob("test-*.tfrecord"), *path.glob("test-*.tfrecord.gz")])
    if not files:
        raise InputError(f"{path}: holds no test-*.tfrecord (plain or .gz)")
    return [Source("response_ranking", tuple(files))]


def read(source: Source) -> RankingData:
    """Read every pair. Single shards may be empty: a small data set leaves some so."""
    pairs = [
        Pair(*tfrecords.texts(features, FEATURES, place=place))
        for path in source.files
        for features, place in tfrecords.read(path)
    ]
    if not pairs:
        raise InputError(f"{source.files[0].parent}: no pairs in {source.provenance()['file']}")
    return RankingData(source.name, pairs)
