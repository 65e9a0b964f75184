"""Test pairs of the data pipeline, in which the true response is to be found."""

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from common import text_files
from common.errors import InputError
from common.text_files import Source
from evaluation.data import tfrecords
from evaluation.data.tfrecords import Features

NAME = "response_ranking"


class Pair(NamedTuple):
    """A comment and one of its replies."""

    input: str
    response: str
    input_id: str
    response_id: str
    context: str = ""
    """The messages before the input in one text, the nearest first."""


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
    return [Source(NAME, (path,)) if path.is_file() else shards(path, "test")]


def shards(folder: Path, split: str) -> Source:
    """Return the files of a split."""
    files = text_files.find(folder, f"{split}-*.tfrecord")
    if not files:
        raise InputError(f"{folder}: no {split}-*.tfrecord here (plain or .gz)")
    return Source(NAME, tuple(files))


def read(source: Source) -> RankingData:
    """Read every pair. Single shards may be empty: a small data set leaves some so.

    A record without ids gets them from its place, FILE:RECORD:input and FILE:RECORD:response.
    """
    pairs = [
        pair if pair.input_id else pair._replace(**_ids(f"{path.name}:{number}"))
        for path in source.files
        for number, pair in enumerate(tfrecords.parse_records(path, _pair), start=1)
    ]
    if not pairs:
        raise InputError(f"{source.files[0]}: no pairs")
    return RankingData(source.name, pairs)


def _pair(features: Features) -> Pair:
    turns = itertools.takewhile(features.__contains__, map("context/{}".format, itertools.count()))
    context = [tfrecords.text(features, name) for name in turns]
    ids = ("input_id", "response_id")
    has_ids = any(name in features for name in ids)
    names = ("input", "response", *(ids if has_ids else ()))
    texts = {"input_id": "", "response_id": ""}
    texts |= {name: tfrecords.text(features, name) for name in names}
    return Pair(**texts, context=" ".join(context).strip())


def _ids(place: str) -> dict[str, str]:
    return {f"{role}_id": f"{place}:{role}" for role in ("input", "response")}
