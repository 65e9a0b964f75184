"""Test pairs of the data pipeline, in which the true response is to be found."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.data import tfrecords
from evaluation.data.files import Source, existing, require_once
from evaluation.errors import InputError

TEXTS = ("input", "response")
IDS = ("input_id", "response_id")
FEATURES = (*TEXTS, *IDS)
CONTEXT = "context/{}"


@dataclass(frozen=True)
class Pair:
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
    if existing(path).is_file():
        return [Source("response_ranking", (path,))]
    return [Source("response_ranking", shards(path, "test"))]


def shards(folder: Path, split: str) -> tuple[Path, ...]:
    """Return the files of a split."""
    name = f"{split}-*.tfrecord"
    files = require_once([*existing(folder).glob(name), *folder.glob(f"{name}.gz")])
    if not files:
        raise InputError(f"{folder}: holds no {name} (plain or .gz)")
    return tuple(files)


def read(source: Source) -> RankingData:
    """Read every pair. Single shards may be empty: a small data set leaves some so.

    A record without ids gets them from its place, FILE:RECORD:input and FILE:RECORD:response.
    """
    pairs = [
        _pair(features, place=place, made=f"{path.name}:{number}")
        for path in source.files
        for number, (features, place) in enumerate(tfrecords.read(path), start=1)
    ]
    if not pairs:
        raise InputError(f"{source.files[0].parent}: no pairs in {source.provenance()['file']}")
    return RankingData(source.name, pairs)


def _pair(features: Mapping[str, Any], *, place: str, made: str) -> Pair:
    turns = itertools.takewhile(features.__contains__, map(CONTEXT.format, itertools.count()))
    context = " ".join(tfrecords.texts(features, list(turns), place=place)).strip()
    names = FEATURES if any(name in features for name in IDS) else TEXTS
    found = dict(zip(names, tfrecords.texts(features, names, place=place), strict=True))
    ids = {f"{name}_id": f"{made}:{name}" for name in TEXTS}
    return Pair(**(ids | found), context=context)
