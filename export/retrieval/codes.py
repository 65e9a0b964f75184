"""Product quantization: which rows of a large matrix may have the largest dot products.

Each row becomes codes of 4 bits, one for `DIMS` numbers, which faiss compares with a query by table
lookups ("fast scan", André et al. 2015). The rows found are then scored exactly. Unlike a graph
(HNSW), the codes need no vectors of unit length and are made in seconds.
`benchmarks/speed/search.py` compares the two.
"""

from pathlib import Path

import faiss
import numpy as np

DIMS, SHORT = 5, 64
"""Numbers that one code stands for; in rows of fewer than `SHORT` numbers, each has its own."""
TRAINED_ON = 65_536
"""Rows that the codes are learned from, at most."""
BLOCK = 65_536
"""Rows that are converted to float32 at a time."""
SEED = 0


def learn(matrix: np.ndarray) -> faiss.Index:
    """Codes for all rows of a matrix, float16 or float32 [rows, dim]; rows beyond 15 are needed."""
    dim = _padded_dim(matrix.shape[1])
    count = dim if dim < SHORT else dim // DIMS
    codes = faiss.IndexPQFastScan(dim, count, 4, faiss.METRIC_INNER_PRODUCT)
    codes.pq.cp.seed = SEED
    size = min(TRAINED_ON, len(matrix))
    rows = np.sort(np.random.default_rng(SEED).choice(len(matrix), size, replace=False))
    codes.train(_padded(matrix[rows]))
    add(codes, matrix)
    return codes


def add(codes: faiss.Index, matrix: np.ndarray) -> None:
    """Codes the rows of a matrix that have no codes yet: those from `codes.ntotal` on."""
    for start in range(codes.ntotal, len(matrix), BLOCK):
        codes.add(_padded(matrix[start : start + BLOCK]))


def candidates(codes: faiss.Index, inputs: np.ndarray, *, count: int) -> np.ndarray:
    """The rows that may score highest, ascending: int64 [inputs, count], -1 where there are fewer.

    Args:
      codes: of the matrix.
      inputs: float32 [inputs, dim].
      count: how many, at most the number of rows.
    """
    _, rows = codes.search(_padded(inputs), count)
    return np.sort(rows, axis=1)


def write(codes: faiss.Index, path: Path) -> None:
    """Writes codes to a file."""
    faiss.write_index(codes, str(path))


def read(path: Path) -> faiss.Index:
    """Reads what `write` has written."""
    return faiss.read_index(str(path))


def _padded_dim(dim: int) -> int:
    return -(-dim // DIMS) * DIMS


def _padded(rows: np.ndarray) -> np.ndarray:
    """Rows as float32 [rows, a multiple of DIMS]; zeros behind change no dot product."""
    missing = _padded_dim(rows.shape[1]) - rows.shape[1]
    return np.pad(np.asarray(rows, np.float32), ((0, 0), (0, missing)))
