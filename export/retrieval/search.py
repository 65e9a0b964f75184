"""The best texts of an index for an input; the command `index`.

In a large index, those that its codes find are scored exactly; in a small one, all are.
"""

import io
import json
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import faiss
import numpy as np
import orjson

from export.options import RESPONSES, IndexOptions
from export.retrieval.index import Index, build_index

BLOCK = 65_536
"""Rows that are converted to float32 and scored at a time."""
RESCORED, LEAST_RESCORED = 10, 100
"""Texts that are scored exactly for each one that is asked for, and for each input."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def command(options: IndexOptions) -> None:
    """Builds or extends the index if needed, and prints the best texts for each input."""
    names = ("output", "mode", "text_field", "id_field", "remove")
    of = {name: getattr(options, name) for name in names}
    found = build_index(options.module, options.texts, **of)
    what = "responses" if options.mode == RESPONSES else "texts"
    print(f"{len(found.texts):,} {what}, {found.matrix.shape[1]} numbers each")
    if not options.input:
        print("a text a line on a terminal, --input TEXT or --input - finds the best of them")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # what the terminal's encoding lacks
    for text in _inputs(options.input):
        (best,) = search(found, [text], top=options.top, exact=options.exact)
        print(f"\n{text}")
        for rank, each in enumerate(best, start=1):
            # Without line breaks and what else a terminal acts upon.
            print(f"{rank:3}  {each.score:8.4f}  {_CONTROLS.sub(' ', each.text)}", flush=True)
            fields = ({} if each.id is None else {"id": each.id}) | each.fields
            if fields:
                print(_CONTROLS.sub(" ", f"{'':15}{json.dumps(fields, ensure_ascii=False)}"))


def _inputs(given: Sequence[str]) -> Iterator[str]:
    """The texts of `--input`, and lines of standard input."""
    for text in given or (["-"] if sys.stdin.isatty() else []):
        lines = sys.stdin if text == "-" else [text]
        yield from (line.rstrip("\r\n") for line in lines if line.strip())


class Found(NamedTuple):
    """A text that was found."""

    score: float
    text: str
    id: str | None  # None where it has none
    fields: dict[str, Any]  # the other fields of its row, if it is of a table


def search(
    index: Index, inputs: Sequence[str], *, top: int = 10, exact: bool = False
) -> list[list[Found]]:
    """The best texts for each input, best first, ties in file order.

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

    def found(score: float, row: int) -> Found:
        # `take` of a table would copy all of its texts.
        text, own_id, fields = (column[row].as_py() for column in index.table.columns)
        return Found(score, text, own_id, orjson.loads(fields))

    return [list(map(found, *best)) for best in zip(scores.tolist(), rows.tolist(), strict=True)]


def approximate_rows(
    codes: faiss.Index, matrix: np.ndarray, inputs: np.ndarray, *, top: int
) -> tuple[np.ndarray, np.ndarray]:
    """What `top_rows` returns, for the most part: only rows that the codes find are scored."""
    count = min(max(RESCORED * top, LEAST_RESCORED), len(matrix))
    rows = np.sort(codes.search(inputs, count)[1], axis=1)
    scores = np.einsum("nrd,nd->nr", np.asarray(matrix[rows], np.float32), inputs)
    scores[rows < 0] = -np.inf  # where the codes find fewer
    return _largest(scores, rows, top)


def top_rows(matrix: np.ndarray, inputs: np.ndarray, *, top: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest dot products and their rows: float32 and int64 [inputs, top], descending.

    The matrix is float16 [responses, dim], inputs are float32 [inputs, dim].
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
    best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    return np.take_along_axis(scores, best, axis=1), np.take_along_axis(rows, best, axis=1)
