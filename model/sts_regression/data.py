"""Everything that folds are computed from, read once: pairs, their word vectors and their folds."""

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from scipy import sparse

from common import sts
from common.errors import InputError
from model.sts_regression.options import RANDOM, SENTENCES, Settings
from model.sts_regression.words import UNKNOWN, load_vectors, row_of, split

CORPUS, TEST = "sts2016", "sts2017_track5"
"""Names of the training pairs, and of those that every fold is scored on, too."""
HIGHEST = 5.0
"""Scores are in [0, HIGHEST]."""


class Pairs(NamedTuple):
    """Pairs of sentences, as rows of the table of word vectors."""

    first: Sequence[Sequence[int]]
    second: Sequence[Sequence[int]]
    scores: np.ndarray
    """float32 [n], in [0, HIGHEST]."""

    def take(self, indices: np.ndarray) -> "Pairs":
        """The pairs at these indices."""
        first, second = ([side[i] for i in indices] for side in (self.first, self.second))
        return Pairs(first, second, self.scores[indices])

    def sentences(self) -> list[Sequence[int]]:
        """All first sentences, then all second ones."""
        return [*self.first, *self.second]


class Split(NamedTuple):
    """Which pairs train and which are held out: indices, int64 [n] each, in order.

    A sentence may be in several pairs, and in random folds it then both trains and is held out.
    Grouped folds keep all pairs together that share a sentence, directly or through other pairs.
    """

    training: np.ndarray
    held_out: np.ndarray
    shared: int
    """How many pairs held out have a sentence that also trains."""


class Prepared(NamedTuple):
    """The settings and data of all folds."""

    settings: Settings
    corpus: Pairs
    test: Pairs
    table: np.ndarray
    """The word vectors: float32 [words, dim]."""
    counts: dict[str, int]
    """How many words there are, and how many of them have no vector."""
    splits: dict[str, list[Split]]
    """By the way pairs are put into folds."""
    about: dict[str, Any]
    """Files and hashes of corpus, test and vectors, as a result has them."""

    def identity(self) -> dict[str, Any]:
        """The settings, and hashes of pairs and vectors."""
        table = hashlib.sha256(self.table.tobytes()).hexdigest()
        tests = {name: test["sha256"] for name, test in self.about["tests"].items()}
        data = {"corpus": self.about["sha256"], "vectors": table} | tests
        return dataclasses.asdict(self.settings) | data


def prepare(
    folder: Path, settings: Settings, *, vectors_path: Path, folds_by: Sequence[str] = (RANDOM,)
) -> Prepared:
    """Reads pairs, in `CORPUS` and `TEST` of a folder, and word vectors, and makes folds.

    Raises:
      InputError: if any of them cannot be used.
    """
    files = [sts.sources(folder / name)[0] for name in (CORPUS, TEST)]
    pairs = [sts.read(source).pairs for source in files]
    texts = [text for some in pairs for pair in some for text in (pair.sentence1, pair.sentence2)]
    sentences, numbers = np.unique(np.array(texts, dtype=object), return_inverse=True)
    words = [[word.decode() for word in row] for row in split(tf.constant(sentences)).to_list()]
    if [] in words:
        raise InputError(f"--data: no words in the sentence {sentences[words.index([])]!r}")
    wanted = {word for sentence in words for word in sentence}
    row_of_word, table = load_vectors(vectors_path, wanted)
    rows = [[row_of(word, row_of_word) for word in sentence] for sentence in words]
    # The two sentences of each pair: int [pairs, 2].
    of_pairs = np.split(numbers.reshape(-1, 2), [len(pairs[0])])

    def numbered(some: list[sts.Pair], sides: np.ndarray) -> Pairs:
        first, second = ([rows[number] for number in side] for side in sides.T)
        return Pairs(first, second, np.array([pair.gold for pair in some], np.float32))

    corpus, test = map(numbered, pairs, of_pairs)
    # Sentences are the same if their words are, whatever their case.
    _, same = np.unique([" ".join(row).lower() for row in words], return_inverse=True)
    options = {"folds": settings.folds, "seed": settings.seed}
    unknown = [
        word
        for number in numbers
        for word, row in zip(words[number], rows[number], strict=True)
        if row == UNKNOWN
    ]
    about_test = {
        "pairs": len(test.scores),
        "pairs_with_a_sentence_that_trains": shared(*(same[sides] for sides in of_pairs)),
    }
    return Prepared(
        settings=settings,
        corpus=corpus,
        test=test,
        table=table,
        counts={
            "words": sum(len(rows[number]) for number in numbers),
            "words_without_vector": len(unknown),
            "different_words_without_vector": len(set(unknown)),
        },
        splits={way: make_folds(same[of_pairs[0]], folds_by=way, **options) for way in folds_by},
        about=files[0].provenance()
        | {
            "tests": {TEST: files[1].provenance() | about_test},
            "word_vectors": vectors_path.name,
            "word_dim": table.shape[1],
        },
    )


def make_folds(pairs: np.ndarray, *, folds: int, folds_by: str, seed: int) -> list[Split]:
    """Cross-validation: each pair, numbers of two sentences, int [n, 2], is held out once.

    By `sentences`, pairs that share a sentence are in one fold.
    """
    groups = group_of(pairs) if folds_by == SENTENCES else np.arange(len(pairs))
    sizes = np.bincount(groups)
    if folds > len(sizes):
        raise InputError(f"--folds: {folds}; accepted with {folds_by} folds: up to {len(sizes)}")
    # The largest group first, each into the fold with the fewest pairs.
    order = np.random.default_rng(seed).permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of, filled = np.zeros(len(sizes), np.int64), np.zeros(folds, np.int64)
    for group in order:
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    splits = []
    for fold in range(folds):
        is_held_out = fold_of[groups] == fold
        training, held_out = np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
        splits.append(Split(training, held_out, shared(pairs[training], pairs[held_out])))
    return splits


def group_of(pairs: np.ndarray) -> np.ndarray:
    """The group of each pair of sentences, int [n, 2], numbered by first appearance: int64 [n]."""
    # A graph in which each pair is joined to its two sentences.
    nodes = len(pairs) + pairs.max() + 1
    joined = np.repeat(np.arange(len(pairs)), 2), len(pairs) + pairs.ravel()
    graph = sparse.coo_array((np.ones(pairs.size), joined), shape=(nodes, nodes))
    _, components = sparse.csgraph.connected_components(graph, directed=False)
    return components[: len(pairs)].astype(np.int64)


def shared(training: np.ndarray, pairs: np.ndarray) -> int:
    """How many pairs, int [n, 2], have a sentence of the training pairs."""
    return int(np.isin(pairs, training).any(axis=1).sum())
