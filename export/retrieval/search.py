"""The best responses of an index for an input, by exact search: every response is scored."""

from collections.abc import Sequence

import numpy as np

from export.retrieval.responses import Index

BLOCK = 65_536
"""Rows that are converted to float32 and scored at a time."""


def search(index: Index, inputs: Sequence[str], *, top: int = 10) -> list[list[tuple[float, str]]]:
    """Score and text of the best responses to each input, best first, ties in file order.

    Args:
      index: the responses.
      inputs: texts.
      top: number of responses for each input.
    """
    scores, rows = top_rows(index.matrix, index.module.encode_inputs(inputs), top=top)
    return [
        [
            (float(score), index.texts.read(row).decode(errors="replace"))
            for score, row in zip(scores[number], rows[number], strict=True)
        ]
        for number in range(len(inputs))
    ]


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
