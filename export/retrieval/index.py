"""An index of texts: the vector of each, encoded once and stored on disk.

index.json      module, mode, fields, files with their number of texts, ids that were removed,
                dimension, checksums of the other files
texts.arrow     the texts with their ids and fields, in the order of the rows
matrix.npy      float16 [texts, dim], read by memory mapping
codes.faiss     from `CODES_FROM` texts on: what approximate search scans

In the mode `responses` the vectors are v', which rank as replies to an input (its u); in the mode
`similar` they are embeddings, which rank by similarity to a text (its embedding).
"""

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import google_crc32c
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from common import saved_model
from common.errors import InputError, message_of
from common.files import CLAIM, aside, claim, write_json
from common.text_files import sha256
from export.card import identity
from export.module.signatures import ENCODE_INPUT, ENCODE_RESPONSE, SERVING_DEFAULT
from export.options import MODES, RESPONSES, SIMILAR
from export.retrieval import codes as quantized
from export.retrieval import rows as rows_to_index
from export.retrieval.rows import Names, Row
from model.teacher.texts import TFRECORD, find_files, kind_of

INDEX, TEXTS, MATRIX, CODES = "index.json", "texts.arrow", "matrix.npy", "codes.faiss"
CODES_FROM = 20_000
"""With fewer texts, exact search takes milliseconds."""
BLOCK = 8192
"""Texts that are sorted by length together, to pad little."""
BATCH = 256
_SCHEMA = pa.schema([(name, pa.string()) for name in ("text", "id", "fields")])
"""`fields` is a JSON object."""
_LIST = "list"
"""What a list of rows is called among the files."""


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
    table: pa.Table
    """text, id, fields."""
    matrix: np.ndarray
    """float16 [texts, dim]."""
    codes: faiss.Index | None = None
    """In memory; None where exact search is fast enough."""

    @property
    def texts(self) -> pa.ChunkedArray:
        """The texts, in the order of the rows."""
        return self.table.column("text")


class _Source(NamedTuple):
    """A file or a list to index."""

    name: str
    read: Any
    """A function that returns its rows."""
    once: bool = False
    """Whether a message that the index has already is left out: each is in several pairs."""


_Stored = tuple[Index, dict[str, Any]]
"""An index on disk, and its files by SHA-256."""


def build_index(
    module: str | Path,
    responses: str | Path | Sequence[str | Path] = (),
    *,
    rows: Sequence[str | Mapping[str, Any]] = (),
    output: str | Path | None = None,
    mode: str = RESPONSES,
    text_field: str | None = None,
    id_field: str | None = None,
    remove: Collection[str] = (),
) -> Index:
    """An index of texts. One that exists is opened, and files that it lacks are added.

    It is made anew if the module, the mode or a field is another one, or if a file in it has
    changed or is no longer among the files, or if the index is damaged. Without files and rows it
    is opened alone.

    Args:
      module: a module that `export` has written; for the mode `responses`, of a model trained on
        conversations.
      responses: files with a text per line, plain or `.gz`; TFRecords of pairs, of which the
        responses are indexed or, in the mode `similar`, all messages, each once, with their ids;
        tables, CSV or JSON lines; names and glob patterns.
      rows: a list to index beside the files: texts, or dictionaries with a `text`, perhaps an
        `id`, and other fields.
      output: the folder of the index; by default, of a single file, `FILE.index` or
        `FILE.similar.index`.
      mode: `responses` or `similar`.
      text_field: the field of tables, and of dictionaries, to index.
      id_field: their field that tells rows apart.
      remove: ids of rows that the index shall not hold, now or when it is made anew.

    Raises:
      ValueError: if there is no such mode.
      InputError: if the module or a file cannot be used, an id is there twice, or one to remove is
        not there, or `output` is something else.
    """
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}; {', '.join(MODES)} are accepted")
    names = Names(text_field, id_field)
    patterns = [responses] if isinstance(responses, str | Path) else responses
    paths = find_files(list(map(str, patterns)), rows_to_index.KINDS)
    if output is None:
        if len(paths) != 1 or rows:
            raise InputError("--output is missing, which the index of several files needs")
        output = f"{paths[0]}.index" if mode == RESPONSES else f"{paths[0]}.{mode}.index"
    loaded = _load(Path(module), mode)
    sources = {}
    for path in paths:
        both = mode == SIMILAR and kind_of(path) == TFRECORD
        read = partial(rows_to_index.of_file, path, names, both=both)
        sources[sha256([path])] = _Source(path.name, read, once=both)
    if rows:
        digest = hashlib.sha256(orjson.dumps(list(rows), default=str)).hexdigest()
        sources[digest] = _Source(_LIST, partial(rows_to_index.of_list, rows, names))
    output = Path(output).resolve()
    about: dict[str, Any] = {"module": loaded.fingerprint, "mode": mode}
    about |= {"text_field": text_field, "id_field": id_field} if sources else {}
    with claim(output):
        for path in sorted(output.iterdir()):
            if path.name not in (INDEX, TEXTS, MATRIX, CODES, CLAIM):
                raise InputError(f"--output: {path} is not part of an index; name another folder")
        stored, described = None, {}
        try:
            described = json.loads((output / INDEX).read_text())
            stored = _stored(output, loaded, described, about)
            if sources and not stored[1].keys() <= sources.keys():
                stored = None  # a file has changed or is gone
        except Exception as error:  # each of the libraries has its own errors of damaged files
            if not sources:
                raise InputError(
                    f"--output: {output}: no index to open without --texts: {message_of(error)}"
                ) from error
        removed = set(described.get("removed", ())) if isinstance(described, dict) else set()
        files = stored[1] if stored else {}
        missing = {digest: each for digest, each in sources.items() if digest not in files}
        if stored and not missing and set(remove) <= removed:
            return stored[0]
        about |= {name: described[name] for name in ("text_field", "id_field") if not sources}
        with aside(output) as new:
            new.mkdir()
            _make(loaded, missing, new, before=stored, about=about, removed=removed, remove=remove)
        return _open(output, loaded, json.loads((output / INDEX).read_text()))


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


def _stored(folder: Path, module: Module, described: Any, about: dict[str, Any]) -> _Stored:
    """The index of a folder.

    Raises:
      Exception: if it is damaged, or not of what is asked.
    """
    for name, value in about.items():
        if described[name] != value:
            raise ValueError(f"its {name} is {described[name]!r}, not {value!r}")
    index = _open(folder, module, described)
    coded = index.codes.ntotal if index.codes else 0
    count, dim = described["count"], described["dim"]
    if (index.matrix.shape, len(index.table)) != ((count, dim), count) or (
        coded != (count if count >= CODES_FROM else 0)
    ):
        raise ValueError("its files do not have as many texts as it says")
    return index, described["files"]


def _open(folder: Path, module: Module, described: dict[str, Any]) -> Index:
    for name, checksum in described["crc32c"].items():
        if _crc32c(folder / name) != checksum:
            raise ValueError(f"{name} does not fit its checksum")
    path = folder / CODES
    table = pa.ipc.open_file(pa.memory_map(str(folder / TEXTS))).read_all()
    if table.schema != _SCHEMA:
        raise ValueError(f"{TEXTS} has other columns")
    return Index(
        module,
        table,
        np.load(folder / MATRIX, mmap_mode="r"),
        faiss.read_index(str(path)) if path.exists() else None,
    )


def _crc32c(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            checksum = google_crc32c.extend(checksum, block)
    return checksum


def _make(
    module: Module,
    sources: dict[str, _Source],
    folder: Path,
    *,
    before: _Stored | None,
    about: dict[str, Any],
    removed: set[str],
    remove: Collection[str],
) -> None:
    """Writes an index of the texts of an old one and of more files, without some ids."""
    old, files = before or (None, {})
    unwanted = removed | set(remove)
    old_table = old.table if old else _SCHEMA.empty_table()
    ids = old_table.column("id")
    is_kept = pc.invert(pc.is_in(ids, value_set=pa.array(sorted(unwanted), pa.string())))
    left_out = set(ids.filter(pc.invert(is_kept)).to_pylist())
    is_once = any(source.once for source in sources.values())
    known = (
        set(map(_key, *map(pa.ChunkedArray.to_pylist, old_table.columns[:2]))) if is_once else set()
    )
    with pa.ipc.new_file(str(folder / TEXTS), _SCHEMA) as writer:
        writer.write_table(old_table.filter(is_kept))
        for digest, source in sources.items():
            count, found = 0, source.read()
            while some := list(islice(found, BLOCK)):
                wanted = [row for row in some if row.id not in unwanted]
                left_out |= {row.id for row in some} & unwanted
                if source.once:
                    new: dict[tuple[str, str], Row] = {}
                    for row in wanted:
                        new.setdefault(_key(row.text, row.id), row)
                    wanted = [row for key, row in new.items() if key not in known]
                    known |= new.keys()
                writer.write_batch(_batch(wanted))
                count += len(some)
            if not count and not source.once:  # shards may be empty
                raise InputError(f"{source.name!r} holds no text")
            files = files | {digest: {"file": source.name, "count": count}}
    if unknown := sorted(set(remove) - removed - left_out):
        raise InputError(f"--remove: {unknown[0]!r} is the id of no text in the index")
    table = pa.ipc.open_file(pa.memory_map(str(folder / TEXTS))).read_all()
    texts = _require_ids_once(table).column("text")
    dim = module.encode_responses([texts[0].as_py()]).shape[1]
    matrix = np.lib.format.open_memmap(
        folder / MATRIX, mode="w+", dtype=np.float16, shape=(len(texts), dim)
    )
    with (folder / MATRIX).open("r+b") as file:
        # A full disk is an error now, and not the end of the process at a page of the mapping.
        os.posix_fallocate(file.fileno(), 0, (folder / MATRIX).stat().st_size)
    from_old = np.flatnonzero(is_kept.to_numpy())
    first = len(from_old)
    for start in range(0, first, BLOCK):
        block = from_old[start : start + BLOCK]
        matrix[start : start + len(block)] = old.matrix[block]  # type: ignore[union-attr]
    with tqdm(total=len(texts) - first, desc="encoding", unit=" texts", leave=False) as progress:
        for start in range(first, len(texts), BLOCK):
            for places, vectors in _encoded(module, texts[start : start + BLOCK]):
                if not np.abs(vectors).max() <= np.finfo(matrix.dtype).max:  # NaN is not, either
                    raise InputError("--module: it gives vectors that float16 cannot hold")
                matrix[start + places] = vectors
                progress.update(len(places))
    matrix.flush()
    if len(texts) >= CODES_FROM:
        # Learned anew where most texts are new, which may be of another kind, or some are gone.
        may_stay = old and len(old_table) == first and 2 * first >= len(texts)
        codes = (old.codes if old and may_stay else None) or quantized.learn(matrix)
        quantized.add(codes, matrix)
        faiss.write_index(codes, str(folder / CODES))
    about = about | {"files": files, "removed": sorted(unwanted), "count": len(texts), "dim": dim}
    checksums = {path.name: _crc32c(path) for path in sorted(folder.iterdir())}
    write_json(folder / INDEX, about | {"crc32c": checksums})


def _key(text: str, own_id: str | None) -> tuple[str, str]:
    """What tells messages apart: their ids, or their texts where they have none."""
    return ("text", text) if own_id is None else ("id", own_id)


def _batch(rows: Sequence[Row]) -> pa.RecordBatch:
    fields = [orjson.dumps(row.fields or {}).decode() for row in rows]
    columns = [[row.text for row in rows], [row.id for row in rows], fields]
    return pa.record_batch([pa.array(column, pa.string()) for column in columns], schema=_SCHEMA)


def _require_ids_once(table: pa.Table) -> pa.Table:
    counts = table.column("id").drop_null().value_counts()
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(repeated):
        first = repeated[0].as_py()
        raise InputError(f"--id_field: the id {first['values']!r} is there {first['counts']} times")
    if not len(table):
        raise InputError("--remove: no text would be left")
    return table


def _encoded(module: Module, texts: pa.ChunkedArray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows, and their vectors, in batches of similar length."""
    order = np.argsort(pc.binary_length(texts).to_numpy(), kind="stable")
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        yield rows, module.encode_responses(texts.take(rows).to_pylist())
