"""An index of responses: the v' of each, encoded once and stored on disk.

index.json                 module, file of responses, number of responses, dimension
matrix.npy                 float16 or float32 [responses, dim], read by memory mapping
texts.bin, offsets.npy     the concatenated texts, and the start of each
"""

import gzip
import hashlib
import json
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops)
from tqdm import tqdm

from export.card import identity
from export.module.signatures import (
    ENCODE_INPUT,
    ENCODE_RESPONSE,
    INPUTS,
    OUTPUTS,
)
from model import output_folder
from model.errors import InputError
from model.tasks.response_selection import RESPONSE

INDEX, MATRIX, OFFSETS, TEXTS = "index.json", "matrix.npy", "offsets.npy", "texts.bin"
BLOCK = 8192
"""Texts that are sorted by length together, to pad little."""
BATCH = 256


class Module(NamedTuple):
    """A module that selects responses."""

    fingerprint: str
    root: Any
    """Signatures live no longer than the object they came from."""

    def encode_inputs(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """u: float32 [texts, dim]."""
        return self._encode(ENCODE_INPUT, texts)

    def encode_responses(self, texts: Sequence[str | bytes]) -> np.ndarray:
        """v': float32 [texts, dim]."""
        return self._encode(ENCODE_RESPONSE, texts)

    def _encode(self, signature: str, texts: Sequence[str | bytes]) -> np.ndarray:
        return self.root.signatures[signature](**{INPUTS: tf.constant(texts)})[OUTPUTS].numpy()


class Texts(NamedTuple):
    """Texts that stay on disk."""

    content: np.ndarray
    """uint8 [bytes]."""
    offsets: np.ndarray
    """int64 [texts + 1]."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def read(self, row: int) -> bytes:
        """The text of a row of the matrix."""
        return self.content[self.offsets[row] : self.offsets[row + 1]].tobytes()


class Index(NamedTuple):
    """Responses and their vectors; both stay on disk."""

    module: Module
    texts: Texts
    matrix: np.ndarray
    """float16 or float32 [responses, dim]."""


def build_index(
    module: str | Path,
    responses: str | Path,
    *,
    output: str | Path | None = None,
    dtype: str = "float16",
) -> Index:
    """An index of a file of responses. One that exists for this module and file is only opened.

    Args:
      module: a module that `export` has written, of a model trained on conversations.
      responses: a text file with a response per line, plain or `.gz`, or TFRecords of pairs.
      output: the folder of the index; by default `RESPONSES.index`.
      dtype: `float16` or `float32`, of the stored vectors.

    Raises:
      InputError: if the module or the file cannot be used, or `output` is something else.
    """
    loaded = _load(Path(module))
    responses = Path(responses)
    output = Path(output or default_output(responses)).resolve()
    about = {
        "module": loaded.fingerprint,
        "responses": {"file": responses.name, "sha256": _sha256(responses)},
        "dtype": dtype,
    }
    with output_folder.claimed(output):
        if not (output / INDEX).is_file() and not output_folder.is_free(output):
            raise InputError(
                f"--output: {str(output)!r} exists and is not an index; name another folder"
            )
        if not _is_of(output, about):
            with output_folder.aside(output) as new:
                new.mkdir()
                _make(loaded, responses, new, about)
        return Index(loaded, _open_texts(output), np.load(output / MATRIX, mmap_mode="r"))


def default_output(responses: Path) -> Path:
    """The index's folder if none is named: beside the file of responses."""
    return Path(f"{responses}.index")


def _load(path: Path) -> Module:
    about = identity.read(path)
    if ENCODE_RESPONSE not in about["signatures"]:
        raise InputError(
            f"--module: {str(path)!r} has no signature {ENCODE_RESPONSE}: its model was trained "
            f"for {', '.join(about['tasks'])}; accepted is one of response selection"
        )
    return Module(about["fingerprint"], tf.saved_model.load(str(path)))


def _is_of(folder: Path, about: dict[str, Any]) -> bool:
    try:
        found = json.loads((folder / INDEX).read_text())
        return about.items() <= found.items()
    except (FileNotFoundError, ValueError, AttributeError):
        return False


def _make(module: Module, responses: Path, folder: Path, about: dict[str, Any]) -> None:
    offsets = array("q", [0])
    with (folder / TEXTS).open("wb") as file:
        for text in _texts(responses):
            offsets.append(offsets[-1] + len(text))
            file.write(text)
    if len(offsets) == 1:
        raise InputError(f"--responses: {str(responses)!r} holds no text")
    np.save(folder / OFFSETS, np.frombuffer(offsets, np.int64))
    texts = _open_texts(folder)
    dim = module.encode_responses([texts.read(0)]).shape[1]
    matrix = np.lib.format.open_memmap(
        folder / MATRIX, mode="w+", dtype=about["dtype"], shape=(len(texts), dim)
    )
    with tqdm(total=len(texts), desc="encoding", unit=" responses", leave=False) as progress:
        for start in range(0, len(texts), BLOCK):
            rows = np.arange(start, min(start + BLOCK, len(texts)))
            matrix[start : start + len(rows)] = _encode(module, texts, rows, about["dtype"])
            progress.update(len(rows))
    matrix.flush()
    about = about | {"count": len(texts), "dim": dim}
    (folder / INDEX).write_text(json.dumps(about, indent=1) + "\n")


def _encode(module: Module, texts: Texts, rows: np.ndarray, dtype: str) -> np.ndarray:
    """The vectors of some rows, encoded in batches of similar length: [rows, dim]."""
    order = np.argsort(texts.offsets[rows + 1] - texts.offsets[rows], kind="stable")
    batches = [order[start : start + BATCH] for start in range(0, len(rows), BATCH)]
    encoded = [module.encode_responses([texts.read(row) for row in rows[some]]) for some in batches]
    with np.errstate(over="ignore"):
        found = np.concatenate(encoded).astype(dtype)[np.argsort(order)]
    if not np.isfinite(found).all():
        raise InputError("--dtype: float16 is too narrow for these vectors; accepted is float32")
    return found


def _texts(path: Path) -> Iterator[bytes]:
    """The responses of a file, without blank ones."""
    lines = _of_pairs(path) if ".tfrecord" in path.name else _lines(path)
    try:
        for line in lines:
            if text := line.strip():
                yield text
    except (OSError, EOFError, zlib.error, tf.errors.OpError) as error:
        reason = error.message if isinstance(error, tf.errors.OpError) else error
        raise InputError(f"--responses: {str(path)!r} cannot be read: {reason}") from error


def _lines(path: Path) -> Iterator[bytes]:
    with _open_plain(path) as file:
        yield from file


def _open_plain(path: Path) -> BinaryIO:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def _of_pairs(path: Path) -> Iterator[bytes]:
    compression = "GZIP" if path.suffix == ".gz" else ""
    for serialized in tf.data.TFRecordDataset(str(path), compression).batch(1000):
        (parsed,) = tf.io.parse_example(serialized, RESPONSE).values()
        yield from parsed.numpy()


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"--responses: {str(path)!r} cannot be read: {error}") from error


def _open_texts(folder: Path) -> Texts:
    return Texts(np.memmap(folder / TEXTS, np.uint8, "r"), np.load(folder / OFFSETS, "r"))
