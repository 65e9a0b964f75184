"""Which pairs train and which are held out.

A sentence may be in several pairs, and in random folds it then both trains and is held out. Grouped
folds keep all pairs together that share a sentence, directly or through other pairs.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from common.errors import InputError
from model.sts_regression.options import SENTENCES


class Split(NamedTuple):
    """Indices of pairs, int64 [n] each, in order."""

    training: np.ndarray
    held_out: np.ndarray
    shared: int
    """How many pairs held out have a sentence that also trains."""


def make(pairs: np.ndarray, *, folds: int, folds_by: str, seed: int) -> list[Split]:
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
