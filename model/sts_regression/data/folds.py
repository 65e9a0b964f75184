"""Which pairs train and which are held out.

A sentence may be in several pairs, and in random folds it then both trains and is held out. Grouped
folds keep all pairs together that share a sentence, directly or through other pairs.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from model.errors import InputError
from model.sts_regression.choices import SENTENCES


class Split(NamedTuple):
    """Indices of pairs: int64 [n] each, in order."""

    training: np.ndarray
    held_out: np.ndarray


def make(
    pairs: Sequence[tuple[Hashable, Hashable]], *, folds: int, way: str, seed: int
) -> list[Split]:
    """Cross-validation: each pair is held out once.

    Args:
      pairs: what identifies the two sentences of each pair.
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
        raise InputError(f"folds: {folds}; accepted: 2 to {count}, as there are {count} {what}")
    fold_of_group = _filled(np.bincount(groups), folds=folds, seed=seed)
    fold_of = fold_of_group[groups]
    return [Split(np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(folds)]


def group_of(pairs: Sequence[tuple[Hashable, Hashable]]) -> np.ndarray:
    """The group of each pair, numbered by first appearance: int64 [n]."""
    number_of: dict[Hashable, int] = {}
    sides = [
        [len(pairs) + number_of.setdefault(sentence, len(number_of)) for sentence in pair]
        for pair in pairs
    ]
    # A graph in which each pair is joined to its two sentences.
    nodes = len(pairs) + len(number_of)
    joined = np.repeat(np.arange(len(pairs)), 2), np.ravel(sides)
    graph = sparse.coo_array((np.ones(2 * len(pairs)), joined), shape=(nodes, nodes))
    _, components = sparse.csgraph.connected_components(graph, directed=False)
    return components[: len(pairs)].astype(np.int64)


def shared(pairs: Sequence[tuple[Hashable, Hashable]], split: Split) -> int:
    """How many of the pairs held out have a sentence that also trains."""
    training, held_out = ([pairs[index] for index in indices] for indices in split)
    return shared_with(training, held_out)


def shared_with(
    training: Sequence[tuple[Hashable, Hashable]], pairs: Sequence[tuple[Hashable, Hashable]]
) -> int:
    """How many pairs have a sentence of the training pairs."""
    trained = {sentence for pair in training for sentence in pair}
    return sum(not trained.isdisjoint(pair) for pair in pairs)


def _filled(sizes: np.ndarray, *, folds: int, seed: int) -> np.ndarray:
    """The fold of each group: the largest first, each into the fold with the fewest pairs."""
    order = np.random.default_rng(seed).permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold_of, filled = np.zeros(len(sizes), np.int64), np.zeros(folds, np.int64)
    for group in order:
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    return fold_of
