"""The best texts of an index for an input.

In a large index, those that its codes find are scored exactly; in a small one, all are.
"""

from collections.abc import Sequence

import faiss
import numpy as np

from export.retrieval import codes as quantized
from export.retrieval.responses import Index

BLOCK = 65_536
"""Rows that are converted to float32 and scored at a time."""
RESCORED, LEAST_RESCORED = 10, 100
"""Texts that are scored exactly for each one that is asked for, and for each input."""


def search(
    index: Index, inputs: Sequence[str], *, top: int = 10, exact: bool = False
) -> list[list[tuple[float, str]]]:
    """Score and text of the best texts for each input, best first, ties in file order.

    Args:
      index: the texts.
      inputs: texts.
      top: number of texts for each input.
      exact: whether to score all texts, where the index has codes.

    Raises:
      ValueError: if `inputs` is one text, or `top` less than 1.
    """
    if isinstance(inputs, str | bytes):
        raise ValueError(f"inputs is {inputs!r}; a list of texts is accepted")
    if top < 1:
        raise ValueError(f"top is {top}; 1 or more is accepted")
    if not len(inputs):
        return []
    vectors = index.module.encode_inputs(inputs)
    if exact or index.codes is None:
        scores, rows = top_rows(index.matrix, vectors, top=top)
    else:
        scores, rows = approximate_rows(index.codes, index.matrix, vectors, top=top)
    return [
        [
            (float(score), index.texts.read(row).decode(errors="replace"))
            for score, row in zip(scores[number], rows[number], strict=True)
        ]
        for number in range(len(inputs))
    ]


def approximate_rows(
    codes: faiss.Index, matrix: np.ndarray, inputs: np.ndarray, *, top: int
) -> tuple[np.ndarray, np.ndarray]:
    """What `top_rows` returns, for the most part: only rows that the codes find are scored."""
    count = min(max(RESCORED * top, LEAST_RESCORED), len(matrix))
    rows = quantized.candidates(codes, inputs, count=count)
    found = []
    for one, some in zip(inputs, rows, strict=True):
        there = some[some >= 0]
        exact = matrix[there].astype(np.float32) @ one
        found.append(_largest(exact[None], there[None], top))
    scores, best = zip(*found, strict=True)
    return np.concatenate(scores), np.concatenate(best)


def top_rows(matrix: np.ndarray, inputs: np.ndarray, *, top: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest dot products and their rows: float32 and int64 [inputs, top], descending.

    Args:
      matrix: float16 or float32 [responses, dim].
      inputs: float32 [inputs, dim].
      top: how many, at most the number of rows.
    """
    scores = np.empty((len(inputs), 0), np.float32)
    rows = np.empty((len(inputs), 0), np.int64)
    for start in range(0, len(matrix), BLOCK):
        block = np.asarray(matrix[start : start + BLOCK], np.float32)
        numbers = np.broadcast_to(np.arange(start, start + len(block)), (len(inputs), len(block)))
        scores = np.concatenate([scores, inputs @ block.T], axis=1)
        rows = np.concatenate([rows, numbers], axis=1)
        scores, rows = _largest(scores, rows, top)
    return scores, rows


def _largest(scores: np.ndarray, rows: np.ndarray, top: int) -> tuple[np.ndarray, np.ndarray]:
    """The `top` best of each line, descending; ties in their order."""
    if scores.shape[1] > top:
        worst = -np.partition(-scores, top - 1, axis=1)[:, top - 1 : top]
        kept = [np.flatnonzero(line >= least) for line, least in zip(scores, worst, strict=True)]
    else:
        kept = [np.arange(scores.shape[1])] * len(scores)
    order = [
        some[np.argsort(-line[some], kind="stable")][:top]
        for line, some in zip(scores, kept, strict=True)
    ]
    found = np.stack(order)
    return np.take_along_axis(scores, found, axis=1), np.take_along_axis(rows, found, axis=1)
