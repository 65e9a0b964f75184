"""Which pairs train and which are held out.

A sentence may be in several pairs, and in random folds it then both trains and is held out. Grouped
folds keep all pairs together that share a sentence, directly or through other pairs.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from common.errors import InputError
from model.sts_regression.settings import SENTENCES

Pairs = Sequence[tuple[Hashable, Hashable]]
"""What identifies the two sentences of each pair."""


class Split(NamedTuple):
    """Indices of pairs: int64 [n] each, in order."""

    training: np.ndarray
    held_out: np.ndarray


def make(pairs: Pairs, *, folds: int, folds_by: str, seed: int) -> list[Split]:
    """Cross-validation: each pair is held out once.

    Args:
      pairs: the sentences.
      folds: how many.
      folds_by: `random`, or `sentences`: pairs that share a sentence are in one fold.
      seed: of the order.

    Raises:
      InputError: if there are more folds than pairs, or than groups of them.
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
    held_out = [fold_of[groups] == fold for fold in range(folds)]
    return [Split(np.flatnonzero(~mask), np.flatnonzero(mask)) for mask in held_out]


def group_of(pairs: Pairs) -> np.ndarray:
    """The group of each pair, numbered by first appearance: int64 [n]."""
    number_of: dict[Hashable, int] = {}
    sides = [[number_of.setdefault(text, len(number_of)) for text in pair] for pair in pairs]
    # A graph in which each pair is joined to its two sentences.
    nodes = len(pairs) + len(number_of)
    joined = np.repeat(np.arange(len(pairs)), 2), len(pairs) + np.ravel(sides)
    graph = sparse.coo_array((np.ones(2 * len(pairs)), joined), shape=(nodes, nodes))
    _, components = sparse.csgraph.connected_components(graph, directed=False)
    return components[: len(pairs)].astype(np.int64)


def shared(training: Pairs, pairs: Pairs) -> int:
    """How many pairs have a sentence of the training pairs."""
    trained = {sentence for pair in training for sentence in pair}
    return sum(not trained.isdisjoint(pair) for pair in pairs)
