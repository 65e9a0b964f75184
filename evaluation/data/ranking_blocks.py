"""Which responses compete for an input of response ranking: blocks of shuffled pairs."""

import hashlib

import numpy as np

from common.errors import InputError
from evaluation.data.ranking_files import Pair

Block = tuple[np.ndarray, np.ndarray]
"""The pairs to score, and those whose responses compete: see `blocks`."""


def shuffled(pairs: list[Pair], *, seed: int) -> list[Pair]:
    """Return the pairs in an order that depends on the pairs and the seed alone."""

    def key(pair: Pair) -> bytes:
        fields = (str(seed), pair.input_id, pair.response_id, pair.input, pair.response)
        return hashlib.sha256("\0".join(fields).encode()).digest()

    return sorted(pairs, key=key)


def blocks(n: int, candidates: int) -> list[Block]:
    """Return for each block the pairs to score and the pairs whose responses compete.

    The first are int [block], each pair in exactly one block; the second int [candidates] and
    begin with the first, so that the true response of row i is in column i.

    Raises:
      InputError: if there are fewer pairs than candidates, or fewer than 2 of these.
    """
    if not 2 <= candidates <= n:
        raise InputError(f"--candidates is {candidates}; 2 to {n}, the pairs, are accepted")
    result = []
    for start in range(0, n, candidates):
        columns = np.arange(start, start + candidates) % n
        result.append((columns[: n - start], columns))
    return result
