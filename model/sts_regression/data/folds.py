"""Which pairs train and which are held out.

A sentence may stand in several pairs: at random it then stands on both sides of a fold. Grouped
folds keep pairs together that are joined by a sentence they share, directly or through others.
"""

from collections.abc import Hashable, Sequence, Set
from typing import NamedTuple

import numpy as np

from model.errors import InputError

RANDOM = "random"
SENTENCES = "sentences"
WAYS = (RANDOM, SENTENCES)


class Split(NamedTuple):
    """Indices of pairs: int64 [n] each, in order."""

    training: np.ndarray
    held_out: np.ndarray


def make(
    pairs: Sequence[tuple[Hashable, Hashable]], *, folds: int, way: str, seed: int
) -> list[Split]:
    """Cross-validation: each pair is held out once.

    Args:
      pairs: the two sentences of each pair, in any form that tells same from different.
      folds: how many.
      way: `random`, or `sentences`: pairs that share a sentence are in one fold.
      seed: of the order.

    Raises:
      InputError: if there are fewer than 2 folds, or more than pairs, or than groups of them.
    """
    groups = group_of(pairs) if way == SENTENCES else np.arange(len(pairs))
    count = len(set(groups))
    if not 2 <= folds <= count:
        what = "groups of pairs without a common sentence" if way == SENTENCES else "pairs"
        raise InputError(f"folds: {folds}; accepted are 2 to {count}, as there are {count} {what}")
    fold_of_group = _filled(np.bincount(groups), folds=folds, seed=seed)
    fold_of = fold_of_group[groups]
    return [Split(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(folds)]


def group_of(pairs: Sequence[tuple[Hashable, Hashable]]) -> np.ndarray:
    """The group of each pair, numbered by first appearance: int64 [n]."""
    parent: dict[Hashable, Hashable] = {}

    def root(sentence: Hashable) -> Hashable:
        parent.setdefault(sentence, sentence)
        while parent[sentence] != sentence:
            parent[sentence] = parent[parent[sentence]]
            sentence = parent[sentence]
        return sentence

    for first, second in pairs:
        parent[root(first)] = root(second)
    numbers: dict[Hashable, int] = {}
    roots = [root(first) for first, _ in pairs]
    return np.array([numbers.setdefault(each, len(numbers)) for each in roots], dtype=np.int64)


def shared(pairs: Sequence[tuple[Hashable, Hashable]], split: Split) -> int:
    """How many of the pairs held out have a sentence that also trains."""
    trained = {sentence for index in split.training for sentence in pairs[index]}
    return shared_with(trained, [pairs[index] for index in split.held_out])


def shared_with(trained: Set[Hashable], pairs: Sequence[tuple[Hashable, Hashable]]) -> int:
    """How many of the pairs have one of these sentences."""
    return sum(not trained.isdisjoint(pair) for pair in pairs)


def _filled(sizes: np.ndarray, *, folds: int, seed: int) -> np.ndarray:
    """The fold of each group: the largest first, each into the fold that has the fewest pairs."""
    order = np.random.default_rng(seed).permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of, filled = np.zeros(len(sizes), np.int64), np.zeros(folds, np.int64)
    for group in order:
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    return fold_of
