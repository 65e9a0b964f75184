"""An index of texts: the vector of each, encoded once and stored on disk.

index.json                 module, mode, files with their number of texts, dimension
matrix.npy                 float16 or float32 [texts, dim], read by memory mapping
codes.faiss                from `CODES_FROM` texts on: what approximate search scans
texts.bin, offsets.npy     the concatenated texts, and the start of each

In the mode `responses` the vectors are v', which rank as replies to an input (its u); in the mode
`similar` they are embeddings, which rank by similarity to a text (its embedding).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np
import tensorflow as tf
from tqdm import tqdm

from export.card import identity
from export.module.signatures import (
    ENCODE_INPUT,
    ENCODE_RESPONSE,
    INPUTS,
    OUTPUTS,
    SERVING_DEFAULT,
)
from export.retrieval import codes as quantized
from export.retrieval import texts as text_files
from export.retrieval.texts import Texts
from model import output_folder, saved_model
from model.errors import InputError

INDEX, MATRIX, CODES = "index.json", "matrix.npy", "codes.faiss"
FILES = (INDEX, MATRIX, CODES, text_files.TEXTS, text_files.OFFSETS)
"""All that an index has."""
DTYPES = ("float16", "float32")
RESPONSES, SIMILAR = MODES = ("responses", "similar")
CODES_FROM = 20_000
"""With fewer texts, exact search takes milliseconds."""
BLOCK = 8192
"""Texts that are sorted by length together, to pad little."""
BATCH = 256


class Module(NamedTuple):
    """A module, and the signatures of it that a mode uses."""

    fingerprint: str
    root: Any
    """Signatures live no longer than the object they came from."""
    of_inputs: str = ENCODE_INPUT
    of_texts: str = ENCODE_RESPONSE

    def encode_inputs(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """What is searched with, u or embeddings: float32 [texts, dim]."""
        return self._encode(self.of_inputs, texts)

    def encode_responses(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """What is indexed, v' or embeddings: float32 [texts, dim]."""
        return self._encode(self.of_texts, texts)

    def _encode(self, signature: str, texts: Sequence[str | bytes]) -> np.ndarray:
        return self.root.signatures[signature](**{INPUTS: tf.constant(texts)})[OUTPUTS].numpy()


class Index(NamedTuple):
    """Texts and their vectors; both stay on disk."""

    module: Module
    texts: Texts
    matrix: np.ndarray
    """float16 or float32 [texts, dim]."""
    codes: faiss.Index | None = None
    """In memory; None where exact search is fast enough."""


def build_index(
    module: str | Path,
    responses: str | Path | Sequence[str | Path],
    *,
    output: str | Path | None = None,
    dtype: str = "float16",
    mode: str = RESPONSES,
) -> Index:
    """An index of files of texts. One that exists is opened, and files that it lacks are added.

    It is made anew if the module, the mode or `dtype` is another one, or if a file in it has
    changed or is no longer among the files, or if the index is damaged.

    Args:
      module: a module that `export` has written; for the mode `responses`, of a model trained on
        conversations.
      responses: files with a text per line, plain or `.gz`, or TFRecords of pairs, of which the
        responses are indexed; names and glob patterns.
      output: the folder of the index; by default, of a single file, `default_output`.
      dtype: `float16` or `float32`, of the stored vectors.
      mode: `responses` or `similar`.

    Raises:
      ValueError: if there is no such mode or `dtype`.
      InputError: if the module or a file cannot be used, or `output` is something else.
    """
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}; {', '.join(MODES)} are accepted")
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}; {' and '.join(DTYPES)} are accepted")
    loaded = _load(Path(module), mode)
    patterns = [responses] if isinstance(responses, str | Path) else list(responses)
    files = {text_files.sha256(path): path for path in text_files.matching(patterns)}
    output = Path(output or default_output(patterns, mode)).resolve()
    about = {"module": loaded.fingerprint, "mode": mode, "dtype": dtype}
    with output_folder.claimed(output):
        _require_index(output)
        stored = _stored(output, about, files)
        missing = {digest: path for digest, path in files.items() if digest not in stored}
        if missing:
            old = output if stored else None
            with output_folder.aside(output) as new:
                new.mkdir()
                _make(loaded, missing, new, old=old, about=about | {"files": stored})
        return _open(output, loaded)


def _require_index(output: Path) -> None:
    """Raises InputError if a folder is there that is no index, or holds other files too."""
    where = f"--output: {str(output)!r}"
    if not (output / INDEX).is_file() and not output_folder.is_free(output):
        raise InputError(f"{where} exists and is not an index; name another folder")
    for name in output_folder.strangers(output, FILES):
        raise InputError(
            f"{where} holds {name!r}, which is not part of an index; name another folder"
        )


def default_output(patterns: Sequence[str | Path], mode: str = RESPONSES) -> Path:
    """The index's folder if none is named: beside the one file of texts.

    Raises:
      InputError: if there are several.
    """
    if len(patterns) != 1 or len(text_files.matching(patterns)) != 1:
        raise InputError("--output is missing, which the index of several files needs")
    (file,) = text_files.matching(patterns)
    return Path(f"{file}.index" if mode == RESPONSES else f"{file}.{mode}.index")


def _load(path: Path, mode: str) -> Module:
    about = identity.read(path)
    if mode == RESPONSES and ENCODE_RESPONSE not in about["signatures"]:
        raise InputError(
            f"--module: {str(path)!r} has no signature {ENCODE_RESPONSE}: its model was trained "
            f"for {', '.join(about['tasks'])}; accepted: one of response selection, or "
            f"--mode {SIMILAR}"
        )
    used = (ENCODE_INPUT, ENCODE_RESPONSE) if mode == RESPONSES else 2 * (SERVING_DEFAULT,)
    return Module(about["fingerprint"], saved_model.load(path), *used)


def _stored(folder: Path, about: dict[str, Any], files: dict[str, Path]) -> dict[str, Any]:
    """The files of an index by SHA-256; none if it is damaged or not of what is asked."""
    try:
        found = json.loads((folder / INDEX).read_text())
        usable = about.items() <= found.items() and found["files"].keys() <= files.keys()
        return found["files"] if usable and _is_whole(folder, found) else {}
    except (FileNotFoundError, ValueError, AttributeError, KeyError):
        return {}


def _is_whole(folder: Path, about: dict[str, Any]) -> bool:
    """Whether the texts, the matrix and the codes of an index are as many as it says."""
    try:
        texts = text_files.open_texts(folder)
        matrix = np.load(folder / MATRIX, mmap_mode="r")
        has_codes = about["count"] >= CODES_FROM
        coded = quantized.read(folder / CODES).ntotal if has_codes else about["count"]
    except (OSError, ValueError, EOFError, RuntimeError):  # faiss raises the last
        return False
    whole = matrix.shape == (about["count"], about["dim"]) and len(texts) == len(matrix)
    whole = whole and coded == len(matrix)
    return whole and texts.offsets[-1] == len(texts.content)


def _open(folder: Path, module: Module) -> Index:
    path = folder / CODES
    return Index(
        module,
        text_files.open_texts(folder),
        np.load(folder / MATRIX, mmap_mode="r"),
        quantized.read(path) if path.exists() else None,
    )


def _make(
    module: Module, files: dict[str, Path], folder: Path, *, old: Path | None, about: dict[str, Any]
) -> None:
    """Writes an index of the texts of an old one and of more files."""
    before = _open(old, module) if old else None
    texts, counts = text_files.append(
        folder, list(files.values()), before.texts if before else None
    )
    dim = module.encode_responses([texts.read(0)]).shape[1]
    matrix = np.lib.format.open_memmap(
        folder / MATRIX, mode="w+", dtype=about["dtype"], shape=(len(texts), dim)
    )
    first = len(before.matrix) if before else 0
    if before:
        matrix[:first] = before.matrix
    with tqdm(total=len(texts) - first, desc="encoding", unit=" texts", leave=False) as progress:
        for start in range(first, len(texts), BLOCK):
            rows = np.arange(start, min(start + BLOCK, len(texts)))
            matrix[start : start + len(rows)] = _encode(module, texts, rows, about["dtype"])
            progress.update(len(rows))
    matrix.flush()
    if len(texts) >= CODES_FROM:
        # Learned anew where most texts are new: the old ones may be of another kind.
        kept = before.codes if before and 2 * first >= len(texts) else None
        codes = kept or quantized.learn(matrix)
        quantized.add(codes, matrix)
        quantized.write(codes, folder / CODES)
    added = zip(files.items(), counts, strict=True)
    of_files = {digest: {"file": path.name, "count": count} for (digest, path), count in added}
    about |= {"files": about["files"] | of_files, "count": len(texts), "dim": dim}
    (folder / INDEX).write_text(json.dumps(about, indent=1) + "\n")


def _encode(module: Module, texts: Texts, rows: np.ndarray, dtype: str) -> np.ndarray:
    """The vectors of some rows, encoded in batches of similar length: [rows, dim]."""
    order = np.argsort(texts.offsets[rows + 1] - texts.offsets[rows], kind="stable")
    batches = [order[start : start + BATCH] for start in range(0, len(rows), BATCH)]
    encoded = [module.encode_responses([texts.read(row) for row in rows[some]]) for some in batches]
    with np.errstate(over="ignore"):
        found = np.concatenate(encoded).astype(dtype)[np.argsort(order)]
    if not np.isfinite(found).all():
        if not all(np.isfinite(some).all() for some in encoded):
            raise InputError("--module: gives vectors that are not finite")
        raise InputError("--dtype: float16 is too narrow for these vectors; accepted: float32")
    return found
