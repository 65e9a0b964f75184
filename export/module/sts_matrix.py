"""Reads the matrix that `python -m evaluation sts --tune` has learned."""

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from model.errors import InputError

MATRIX, ABOUT = "matrix", "about"


def read(path: Path, *, dim: int) -> tuple[np.ndarray, dict[str, Any]]:
    """The matrix, float32 [dim, dim], and what the file says about it.

    Raises:
      InputError: if the file has no matrix for embeddings of that width.
    """
    accepted = f"accepted: a .npz file of `python -m evaluation sts --tune`, {dim} x {dim}"
    if path.is_file() and not zipfile.is_zipfile(path):
        raise InputError(f"--with_sts_matrix: {str(path)!r} is not an .npz file; {accepted}")
    try:
        with np.load(path) as file:
            matrix, about = file[MATRIX], json.loads(str(file[ABOUT]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"--with_sts_matrix: {str(path)!r}: {error}; {accepted}") from error
    where = f"--with_sts_matrix: {str(path)!r} holds {matrix.dtype} {list(matrix.shape)}"
    if matrix.shape != (dim, dim) or matrix.dtype.kind != "f":
        raise InputError(f"{where}; {accepted}")
    with np.errstate(over="ignore"):
        matrix = matrix.astype(np.float32)
    if not np.isfinite(matrix).all():
        raise InputError(f"{where}, not finite in float32; {accepted}")
    if not matrix.any():
        raise InputError(f"{where}, all zeros; {accepted}")
    return matrix, about


def learned_on(about: Any) -> str:
    """The module whose embeddings a matrix was learned on, by what its file says; empty if nothing.

    It cannot be told from fingerprints whether it has the weights that are exported: the matrix is
    one of the module's weights.
    """
    try:
        module = about["module"]
        return f"{module['path']} (fingerprint {module['fingerprint']})"
    except (TypeError, KeyError):
        return ""
