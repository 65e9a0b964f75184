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

OWN_SPLIT = "own_split"
"""How the STS Benchmark is split: its train file trains, its dev file is held out."""


class Data(NamedTuple):
    """Pairs, as rows of the table of word vectors."""

    first: Sequence[Sequence[int]]
    second: Sequence[Sequence[int]]
    scores: np.ndarray
    """float32 [n], in [0, 5]."""

    def take(self, indices: np.ndarray) -> "Data":
        """The pairs at these indices."""
        return Data(
            [self.first[i] for i in indices],
            [self.second[i] for i in indices],
            self.scores[indices],
        )

    def sentences(self) -> list[Sequence[int]]:
        """All first sentences, then all second ones."""
        return [*self.first, *self.second]


class Part(NamedTuple):
    """The pairs of a corpus or of a test, and what is known of them."""

    data: Data
    genres: list[str]
    provenance: dict
    embeddings: Embeddings | None
    """By the module, if one was given."""

    def embedded(self, indices: np.ndarray) -> Embeddings:
        """The embeddings of the pairs at these indices."""
        if self.embeddings is None:
            raise ValueError("embeddings: None, as no module was given")
        return self.embeddings.take(indices)


class Prepared(NamedTuple):
    """What each process that trains needs."""

    corpus: Part
    tests: dict[str, Part]
    """Every fold is scored on them, too."""
    vectors: WordVectors
    splits: dict[str, list[Split]]
    """By the way pairs are put into folds."""
    shared: dict[str, list[int]]
    """For each fold, how many pairs held out have a sentence that also trains."""
    shared_tests: dict[str, int]
    """How many pairs of each test have a sentence that also trains."""
    module: dict | None

    def identity(self) -> dict:
        """Hashes of pairs and vectors."""
        table = hashlib.sha256(self.vectors.table.tobytes()).hexdigest()
        parts = {"corpus": self.corpus} | self.tests
        found = {name: part.provenance["sha256"] for name, part in parts.items()}
        return found | {"vectors": table}

    @property
    def module_fingerprint(self) -> str | None:
        """Of the module, if one was given."""
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
    """Reads pairs, word vectors and, if there is a module, its embeddings.

    Raises:
      InputError: if any of them cannot be used.
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
    if own:
        splits = {OWN_SPLIT: [own]}
    else:
        options = {"folds": choices.folds, "seed": choices.seed}
        splits = {way: folds.make(sentences, way=way, **options) for way in ways}
    training = sentences if own is None else [sentences[index] for index in own.training]
    return Prepared(
        corpus=part(source),
        tests={name: part(test) for name, test in tests.items()},
        vectors=found,
        splits=splits,
        shared={way: [folds.shared(sentences, s) for s in some] for way, some in splits.items()},
        shared_tests={
            name: folds.shared_with(training, [_sentences(pair, words) for pair in test.pairs])
            for name, test in tests.items()
        },
        module=_about(module),
    )


def sources(folder: Path, corpus: str) -> tuple[Source, dict[str, Source], Split | None]:
    """The pairs for training, those for testing, and the split of a corpus that has its own."""
    if corpus == pairs.STS2016:
        return pairs.sts2016(folder), {"sts2017_track5": pairs.sts2017_track5(folder)}, None
    train, dev = (pairs.stsb(folder, split) for split in ("train", "dev"))
    count = len(train.pairs)
    both = Source(train.pairs + dev.pairs, train.files + dev.files)
    own = Split(np.arange(count), np.arange(count, len(both.pairs)))
    return both, {"sts-test": pairs.stsb(folder, "test")}, own


def split_words(some: Sequence[Pair]) -> dict[str, list[str]]:
    """The words of every sentence.

    Raises:
      InputError: if a sentence has none; names file and line.
    """
    from model.sts_regression.data.words import split_all

    where = {sentence: pair.where for pair in some for sentence in (pair.first, pair.second)}
    words = dict(zip(where, split_all(list(where)), strict=True))
    for sentence, found in words.items():
        if not found:
            raise InputError(f"{where[sentence]}: no words in the sentence {sentence!r}")
    return words


def as_data(some: Sequence[Pair], words: dict[str, list[str]], found: WordVectors) -> Data:
    """Pairs as rows of the table; words without a vector are counted."""
    return Data(
        [found.ids(words[pair.first]) for pair in some],
        [found.ids(words[pair.second]) for pair in some],
        np.array([pair.score for pair in some], np.float32),
    )


def _sentences(pair: Pair, words: dict[str, list[str]]) -> tuple[str, str]:
    """What identifies the two sentences: their words in lower case."""
    first, second = (" ".join(words[text]).lower() for text in (pair.first, pair.second))
    return first, second


def _embedder(
    module: Path | None, everything: Sequence[Pair]
) -> Callable[[Sequence[Pair]], Embeddings | None]:
    """A function from pairs to their embeddings; to None without a module."""
    if module is None:
        return lambda _: None
    from model.sts_regression.data import modules

    sentences = {sentence for pair in everything for sentence in (pair.first, pair.second)}
    found = modules.embeddings(module, sentences)
    return lambda some: Embeddings(
        np.stack([found[pair.first] for pair in some]),
        np.stack([found[pair.second] for pair in some]),
    )


def _about(module: Path | None) -> dict | None:
    if module is None:
        return None
    from model.fingerprint import fingerprint

    return {"path": str(module), "fingerprint": fingerprint(module)}
