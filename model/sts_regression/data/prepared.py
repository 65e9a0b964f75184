"""Everything that folds are computed from, read and checked once."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.errors import InputError
from model.sts_regression.choices import Choices
from model.sts_regression.cosine import Embeddings
from model.sts_regression.data import folds, pairs, vectors
from model.sts_regression.data.folds import Split
from model.sts_regression.data.pairs import Pair, Source
from model.sts_regression.data.vectors import WordVectors
from model.sts_regression.training.training import Data

OWN_SPLIT = "own_split"
"""The way STS Benchmark is split: training, dev held out, test."""


class Part(NamedTuple):
    """Some pairs, and what is known of them."""

    data: Data
    genres: list[str]
    provenance: dict
    embeddings: Embeddings | None


class Prepared(NamedTuple):
    """Goes to each process that trains."""

    corpus: Part
    tests: dict[str, Part]
    """On which every fold is tested as well."""
    vectors: WordVectors
    splits: dict[str, list[Split]]
    """By the way pairs were put into folds."""
    shared: dict[str, list[int]]
    """How many pairs held out have a sentence that trains, a number a fold."""
    shared_tests: dict[str, int]
    """How many pairs of each test have a sentence of those that train."""
    module: dict | None

    def identity(self) -> dict:
        """What tells other data from these."""
        table = hashlib.sha256(self.vectors.table.tobytes()).hexdigest()
        parts = {"corpus": self.corpus} | self.tests
        found = {name: part.provenance["sha256"] for name, part in parts.items()}
        return found | {"vectors": table}

    @property
    def module_fingerprint(self) -> str | None:
        """What tells another module from this one."""
        return self.module["fingerprint"] if self.module else None


def prepare(
    folder: Path,
    corpus: str,
    *,
    choices: Choices,
    ways: Sequence[str],
    vectors_path: Path,
    dim: int | None,
    module: Path | None,
) -> Prepared:
    """Reads data, word vectors and maybe the embeddings of a module.

    Raises:
      InputError: if something of it cannot be used.
    """
    source, tests, own = sources(folder, corpus)
    everything = [*source.pairs, *(pair for test in tests.values() for pair in test.pairs)]
    words = split_words(everything)
    found = vectors.load(
        vectors_path,
        {word for sentence in words.values() for word in sentence},
        unknown_as=choices.unknown_words,
        dim=dim,
    )
    embed = _embedder(module, everything)

    def part(source: Source) -> Part:
        data = as_data(source.pairs, words, found)
        genres = [pair.genre for pair in source.pairs]
        return Part(data, genres, source.provenance(), embed(source.pairs))

    sentences = [_sentences(pair, words) for pair in source.pairs]
    splits = (
        {OWN_SPLIT: [own]}
        if own
        else {
            way: folds.make(sentences, folds=choices.folds, way=way, seed=choices.seed)
            for way in ways
        }
    )
    shared = {way: [folds.shared(sentences, s) for s in some] for way, some in splits.items()}
    tested = {name: part(test) for name, test in tests.items()}
    trains = sentences if own is None else [sentences[index] for index in own.training]
    trained = {sentence for pair in trains for sentence in pair}
    shared_tests = {
        name: folds.shared_with(trained, [_sentences(pair, words) for pair in test.pairs])
        for name, test in tests.items()
    }
    return Prepared(part(source), tested, found, splits, shared, shared_tests, _about(module))


def sources(folder: Path, corpus: str) -> tuple[Source, dict[str, Source], Split | None]:
    """The pairs for training, those for testing, and the split that the data come with."""
    if corpus == pairs.STS2016:
        return pairs.sts2016(folder), {"sts2017_track5": pairs.sts2017_track5(folder)}, None
    train, dev = (pairs.stsb(folder, split) for split in ("train", "dev"))
    count = len(train.pairs)
    both = Source(train.pairs + dev.pairs, train.files + dev.files)
    own = Split(np.arange(count), np.arange(count, len(both.pairs)))
    return both, {"sts-test": pairs.stsb(folder, "test")}, own


def split_words(some: Sequence[Pair]) -> dict[str, list[str]]:
    """The words of every sentence; each has one at least."""
    from model.sts_regression.data.words import split_all

    where = {sentence: pair.where for pair in some for sentence in (pair.first, pair.second)}
    words = dict(zip(where, split_all(list(where)), strict=True))
    for sentence, found in words.items():
        if not found:
            raise InputError(f"{where[sentence]}: no words in the sentence {sentence!r}")
    return words


def as_data(some: Sequence[Pair], words: dict[str, list[str]], found: WordVectors) -> Data:
    """Pairs as rows of the table; what has no vector is counted."""
    return Data(
        [found.ids(words[pair.first]) for pair in some],
        [found.ids(words[pair.second]) for pair in some],
        np.array([pair.score for pair in some], np.float32),
    )


def _sentences(pair: Pair, words: dict[str, list[str]]) -> tuple[str, str]:
    """Both as they are told apart: their words, whatever their case."""
    first, second = (" ".join(words[text]).lower() for text in (pair.first, pair.second))
    return first, second


def _embedder(
    module: Path | None, everything: Sequence[Pair]
) -> Callable[[Sequence[Pair]], Embeddings | None]:
    """What looks up the embeddings of pairs; of no module, none."""
    if module is None:
        return lambda _: None
    from model.sts_regression.data import modules

    found = modules.embeddings(module, pairs.sentences(everything))
    return lambda some: Embeddings(
        np.stack([found[pair.first] for pair in some]),
        np.stack([found[pair.second] for pair in some]),
    )


def _about(module: Path | None) -> dict | None:
    if module is None:
        return None
    from model.fingerprint import fingerprint

    return {"path": str(module), "fingerprint": fingerprint(module)}
