"""The matrix that `python -m evaluation sts --tune` learns, as a file `sts_matrix.npz`."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from common.errors import InputError, reading
from common.files import aside

FILE = "sts_matrix.npz"


def write(path: Path, matrix: np.ndarray, *, about: dict[str, Any]) -> None:
    """Writes the matrix, float32 [dim, dim], and as JSON text the `module` it was learned on."""
    with aside(path) as new, new.open("wb") as file:
        np.savez(file, matrix=matrix, about=np.array(json.dumps(about)))


def read(path: Path, *, dim: int) -> tuple[np.ndarray, dict[str, Any]]:
    """The matrix, float32 [dim, dim] of finite numbers, and what the file says about it."""
    with reading(path), np.load(path) as file, np.errstate(over="ignore"):
        matrix, about = file["matrix"].astype(np.float32), json.loads(str(file["about"]))
        _ = about["module"]["path"], about["module"]["fingerprint"]
    if matrix.shape != (dim, dim) or not np.isfinite(matrix).all() or not matrix.any():
        raise InputError(
            f"{path}: a matrix {list(matrix.shape)}; accepted: finite numbers {[dim, dim]}, not "
            "all zero"
        )
    return matrix, about
