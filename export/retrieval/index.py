"""An index of texts: the vector of each, encoded once and stored on disk.

index.json      module, mode, files with their number of texts, dimension
texts.arrow     the texts, in the order of the rows
matrix.npy      float16 [texts, dim], read by memory mapping
codes.faiss     from `CODES_FROM` texts on: what approximate search scans

In the mode `responses` the vectors are v', which rank as replies to an input (its u); in the mode
`similar` they are embeddings, which rank by similarity to a text (its embedding).
"""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from common import saved_model
from common.errors import InputError
from common.files import CLAIM, aside, claim, write_json
from common.text_files import sha256
from export.card import identity
from export.module.signatures import ENCODE_INPUT, ENCODE_RESPONSE, SERVING_DEFAULT
from export.options import MODES, RESPONSES, SIMILAR
from export.retrieval import codes as quantized
from model.teacher.texts import REPLIES, find_files, read_texts

INDEX, TEXTS, MATRIX, CODES = "index.json", "texts.arrow", "matrix.npy", "codes.faiss"
CODES_FROM = 20_000
"""With fewer texts, exact search takes milliseconds."""
BLOCK = 8192
"""Texts that are sorted by length together, to pad little."""
BATCH = 256
_SCHEMA = pa.schema([("text", pa.string())])


class Module(NamedTuple):
    """A module, by the signatures of it that a mode uses."""

    fingerprint: str
    inputs: saved_model.Apply
    """To what is searched with: u, or embeddings."""
    responses: saved_model.Apply
    """To what is indexed: v', or embeddings."""

    def encode_inputs(self, texts: Sequence[str]) -> np.ndarray:
        """What is searched with: float32 [texts, dim]."""
        return saved_model.encode(self.inputs, texts, path="--module")

    def encode_responses(self, texts: Sequence[str]) -> np.ndarray:
        """What is indexed: float32 [texts, dim]."""
        return saved_model.encode(self.responses, texts, path="--module")


class Index(NamedTuple):
    """Texts and their vectors; both stay on disk."""

    module: Module
    texts: pa.ChunkedArray
    matrix: np.ndarray
    """float16 [texts, dim]."""
    codes: faiss.Index | None = None
    """In memory; None where exact search is fast enough."""


def build_index(
    module: str | Path,
    responses: str | Path | Sequence[str | Path],
    *,
    output: str | Path | None = None,
    mode: str = RESPONSES,
) -> Index:
    """An index of files of texts. One that exists is opened, and files that it lacks are added.

    It is made anew if the module or the mode is another one, or if a file in it has changed or is
    no longer among the files, or if the index is damaged.

    Args:
      module: a module that `export` has written; for the mode `responses`, of a model trained on
        conversations.
      responses: files with a text per line, plain or `.gz`, or TFRecords of pairs, of which the
        responses are indexed; names and glob patterns.
      output: the folder of the index; by default, of a single file, `FILE.index` or
        `FILE.similar.index`.
      mode: `responses` or `similar`.

    Raises:
      ValueError: if there is no such mode.
      InputError: if the module or a file cannot be used, or `output` is something else.
    """
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}; {', '.join(MODES)} are accepted")
    patterns = [responses] if isinstance(responses, str | Path) else responses
    paths = find_files(list(map(str, patterns)))
    if output is None:
        if len(paths) > 1:
            raise InputError("--output is missing, which the index of several files needs")
        output = f"{paths[0]}.index" if mode == RESPONSES else f"{paths[0]}.{mode}.index"
    loaded = _load(Path(module), mode)
    files = {sha256([path]): path for path in paths}
    output = Path(output).resolve()
    about = {"module": loaded.fingerprint, "mode": mode}
    with claim(output):
        for path in sorted(output.iterdir()):
            if path.name not in (INDEX, TEXTS, MATRIX, CODES, CLAIM):
                raise InputError(f"--output: {path} is not part of an index; name another folder")
        before = _stored(output, loaded, about, files)
        stored = before[1] if before else {}
        missing = {digest: path for digest, path in files.items() if digest not in stored}
        if missing:
            with aside(output) as new:
                new.mkdir()
                _make(loaded, missing, new, before=before, about=about)
        return _open(output, loaded)


def _load(path: Path, mode: str) -> Module:
    about = identity.read(path)
    if mode == RESPONSES and ENCODE_RESPONSE not in about["signatures"]:
        raise InputError(
            f"--module: {str(path)!r} has no signature {ENCODE_RESPONSE}: its model was trained "
            f"for {', '.join(about['tasks'])}; accepted: one of response selection, or "
            f"--mode {SIMILAR}"
        )
    used = (ENCODE_INPUT, ENCODE_RESPONSE) if mode == RESPONSES else 2 * (SERVING_DEFAULT,)
    root = saved_model.load(path)
    applies = (saved_model.of_texts(root, name, path=path) for name in used)
    return Module(about["fingerprint"], *applies)


def _stored(
    folder: Path, module: Module, about: dict[str, Any], files: dict[str, Path]
) -> tuple[Index, dict[str, Any]] | None:
    """An index and its files by SHA-256; None if it is damaged or not of what is asked."""
    try:
        found = json.loads((folder / INDEX).read_text())
        index, size = _open(folder, module), (found["count"], found["dim"])
        is_whole = index.matrix.shape == size and len(index.texts) == len(index.matrix)
        coded = index.codes.ntotal if index.codes else 0
        is_whole = is_whole and coded == (found["count"] if found["count"] >= CODES_FROM else 0)
        is_wanted = about.items() <= found.items() and found["files"].keys() <= files.keys()
        return (index, found["files"]) if is_whole and is_wanted else None
    except Exception:  # each of the libraries has its own errors of damaged files
        return None


def _open(folder: Path, module: Module) -> Index:
    path = folder / CODES
    return Index(
        module,
        pa.ipc.open_file(pa.memory_map(str(folder / TEXTS))).read_all().column(0),
        np.load(folder / MATRIX, mmap_mode="r"),
        faiss.read_index(str(path)) if path.exists() else None,
    )


def _make(
    module: Module,
    files: dict[str, Path],
    folder: Path,
    *,
    before: tuple[Index, dict[str, Any]] | None,
    about: dict[str, Any],
) -> None:
    """Writes an index of the texts of an old one and of more files."""
    old, of_files = before or (None, {})
    with pa.ipc.new_file(str(folder / TEXTS), _SCHEMA) as writer:
        for chunk in old.texts.chunks if old else ():
            writer.write_batch(pa.record_batch([chunk], schema=_SCHEMA))
        for digest, path in files.items():
            count, found = 0, read_texts([path], REPLIES)
            while some := list(islice(found, BLOCK)):
                writer.write_batch(pa.record_batch([some], schema=_SCHEMA))
                count += len(some)
            if not count:
                raise InputError(f"{str(path)!r} holds no text")
            of_files = of_files | {digest: {"file": path.name, "count": count}}
    texts = pa.ipc.open_file(pa.memory_map(str(folder / TEXTS))).read_all().column(0)
    dim = module.encode_responses([texts[0].as_py()]).shape[1]
    matrix = np.lib.format.open_memmap(
        folder / MATRIX, mode="w+", dtype=np.float16, shape=(len(texts), dim)
    )
    first = len(old.matrix) if old else 0
    if old:
        matrix[:first] = old.matrix
    with tqdm(total=len(texts) - first, desc="encoding", unit=" texts", leave=False) as progress:
        for start in range(first, len(texts), BLOCK):
            for rows, vectors in _encoded(module, texts[start : start + BLOCK]):
                if not np.abs(vectors).max() <= np.finfo(matrix.dtype).max:  # NaN is not, either
                    raise InputError("--module: it gives vectors that float16 cannot hold")
                matrix[start + rows] = vectors
                progress.update(len(rows))
    matrix.flush()
    if len(texts) >= CODES_FROM:
        # Learned anew where most texts are new: the old ones may be of another kind.
        kept = old.codes if old and 2 * first >= len(texts) else None
        codes = kept or quantized.learn(matrix)
        quantized.add(codes, matrix)
        faiss.write_index(codes, str(folder / CODES))
    write_json(folder / INDEX, about | {"files": of_files, "count": len(texts), "dim": dim})


def _encoded(module: Module, texts: pa.ChunkedArray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows, and their vectors, in batches of similar length."""
    order = np.argsort(pc.binary_length(texts).to_numpy(), kind="stable")
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        yield rows, module.encode_responses(texts.take(rows).to_pylist())
