"""Test pairs of the data pipeline, and the blocks in which their responses compete."""

import hashlib
import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common import text_files
from common.errors import InputError
from common.files import require_whole
from common.text_files import Source, TextPairs
from common.tfrecord import Features, parse_records

NAME = "response_ranking"
_IDS = ("input_id", "response_id")


class Pair(NamedTuple):
    """A comment and one of its replies."""

    input: str
    response: str
    input_id: str
    response_id: str
    context: str = ""  # the messages before the input in one text, the nearest first
    own_reply: str | None = None  # "true" if one author wrote both texts


RankingData = TextPairs[Pair]


def find(path: Path, split: str = "test") -> Source:
    """Return the file itself, the files of a pattern, or those of a folder's split."""
    return Source(NAME, find_files(path, f"{split}-*.tfrecord"))


def find_files(path: Path, *patterns: str) -> tuple[Path, ...]:
    """Return the file itself, the files of a pattern, or those of a folder that match."""
    if path.is_file():
        return (path,)
    folder, wanted = (path, patterns) if path.is_dir() else (path.parent, (path.name,))
    files = text_files.find(folder, *wanted)
    if not files:
        raise InputError(f"{folder}: no {' or '.join(wanted)} here (plain or .gz)")
    require_whole(files)
    return tuple(files)


def read(source: Source, *, own_replies: bool = False) -> RankingData:
    """Read every pair, but replies to oneself only if asked. Single shards may be empty."""
    pairs = [pair for path in source.files for pair in parse_records(path, _pair)]
    if not pairs:
        raise InputError(f"{source.files[0]}: no pairs")
    if all(pair.own_reply is None for pair in pairs):
        return TextPairs(source.name, pairs)
    scored = [pair for pair in pairs if own_replies or pair.own_reply != "true"]
    return TextPairs(source.name, scored, {"own_replies_left_out": len(pairs) - len(scored)})


def _pair(features: Features) -> Pair:
    turns = itertools.takewhile(features.__contains__, map("context/{}".format, itertools.count()))
    context = " ".join(text(features, name) for name in turns).strip()
    texts = {name: text(features, name) for name in ("input", "response")}
    if any(name in features for name in _IDS):
        ids = {name: text(features, name) for name in _IDS}
    else:  # of the texts, not of the place: shards may be cut anew
        digests = [hashlib.sha256(each.encode()).hexdigest()[:16] for each in texts.values()]
        ids = dict(zip(_IDS, digests, strict=True))
    own_reply = text(features, "own_reply") if "own_reply" in features else None
    return Pair(**texts, **ids, context=context, own_reply=own_reply)


def text(features: Features, name: str) -> str:
    """Return a feature that holds one text."""
    if not isinstance(value := features.get(name), bytes):
        raise ValueError(f"feature {name!r}: no text, or several; one is needed")
    return value.decode()


def shuffled(pairs: list[Pair], *, seed: int) -> list[Pair]:
    """Return the pairs in an order that depends on the pairs and the seed alone."""

    def key(pair: Pair) -> bytes:
        fields = (str(seed), pair.input_id, pair.response_id, pair.input, pair.response)
        return hashlib.sha256("\0".join(fields).encode()).digest()

    return sorted(pairs, key=key)


def blocks(n: int, candidates: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return for each block the pairs to score, int [block], and those whose responses compete.

    The second, int [candidates], begin with the first: row i has its true response in column i.
    """
    if not 2 <= candidates <= n:
        raise InputError(f"--candidates is {candidates}; 2 to {n}, the pairs, are accepted")
    columns = [np.arange(start, start + candidates) % n for start in range(0, n, candidates)]
    return [(block[: n - block[0]], block) for block in columns]
