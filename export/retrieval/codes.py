"""Product quantization: which rows of a large matrix may have the largest dot products.

Each row becomes codes of 4 bits, one for `DIMS` numbers, which faiss compares with a query by table
lookups ("fast scan", André et al. 2015). The rows found are then scored exactly. Unlike a graph
(HNSW), the codes need no vectors of unit length and are made in seconds.
`benchmarks/speed/search.py` compares the two.
"""

import faiss
import numpy as np

DIMS, SHORT = 5, 64
"""Numbers that one code stands for; in rows of fewer than `SHORT` numbers, each has its own."""
BLOCK = 65_536
"""Rows that codes are learned from, and that are converted to float32 at a time."""


def learn(matrix: np.ndarray) -> faiss.Index:
    """Codes of a matrix, float16 [rows, dim]; rows beyond 15 are needed."""
    dim = matrix.shape[1]
    padded = -(-dim // DIMS) * DIMS
    count = padded if padded < SHORT else padded // DIMS
    codes = faiss.IndexPQFastScan(padded, count, 4, faiss.METRIC_INNER_PRODUCT)
    codes.pq.cp.seed = 0
    # Zeros behind a row change no dot product.
    remapped = faiss.RemapDimensionsTransform(dim, padded, False)  # type: ignore[arg-type]
    found = faiss.IndexPreTransform(remapped, codes)
    size = min(BLOCK, len(matrix))
    rows = np.sort(np.random.default_rng(0).choice(len(matrix), size, replace=False))
    found.train(np.asarray(matrix[rows], np.float32))
    return found


def add(codes: faiss.Index, matrix: np.ndarray) -> None:
    """Codes the rows of a matrix that have no codes yet: those from `codes.ntotal` on."""
    for start in range(codes.ntotal, len(matrix), BLOCK):
        codes.add(np.asarray(matrix[start : start + BLOCK], np.float32))
