"""An index of texts: the vector of each, encoded once and stored on disk.

index.json      module, mode, fields, files by SHA-256, ids that were removed, checksums of the
                other files
texts.arrow     the texts with their ids and fields, in the order of the rows
matrix.npy      float16 [texts, dim], read by memory mapping
codes.faiss     from `CODES_FROM` texts on: what approximate search scans

In the mode `responses` the vectors are v', which rank as replies to an input (its u); in the mode
`similar` they are embeddings, which rank by similarity to a text (its embedding).
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import faiss
import google_crc32c
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from tqdm import tqdm

from common.encoders import saved_model
from common.errors import InputError, message_of
from common.files import aside, claim, require_only, write_json
from common.text_files import sha256
from export.card import identity
from export.module.signatures import ENCODE_INPUT, ENCODE_RESPONSE, SERVING_DEFAULT
from export.options import MODES, RESPONSES, SIMILAR
from export.retrieval import codes as quantized
from export.retrieval.rows import KINDS, Row, of_file, write_table
from model.teacher.texts import TFRECORD, find_files, kind_of

INDEX, TEXTS, MATRIX, CODES = "index.json", "texts.arrow", "matrix.npy", "codes.faiss"
CODES_FROM = 20_000
"""With fewer texts, exact search takes milliseconds."""
BLOCK = 8192
"""Texts that are sorted by length together, to pad little."""
BATCH = 256
_SCHEMA = pa.schema([(name, pa.string()) for name in ("text", "id", "fields")])
"""`fields` is a JSON object."""


class Module(NamedTuple):
    """A module, by the signatures of it that a mode uses: texts to float32 [texts, dim]."""

    fingerprint: str
    dim: int
    # What is searched with, u or embeddings, and what is indexed, v' or embeddings.
    encode_inputs: Callable[[Sequence[str]], np.ndarray]
    encode_responses: Callable[[Sequence[str]], np.ndarray]


class Index(NamedTuple):
    """Texts and their vectors; both stay on disk."""

    module: Module
    table: pa.Table  # text, id, fields
    matrix: np.ndarray  # float16 [texts, dim]
    codes: faiss.Index | None = None  # in memory; None where exact search is fast enough

    @property
    def texts(self) -> pa.ChunkedArray:
        """The texts, in the order of the rows."""
        return self.table.column("text")


def build_index(
    module: str | Path,
    responses: str | Path | Sequence[str | Path] = (),
    *,
    output: str | Path | None = None,
    mode: str = RESPONSES,
    text_field: str | None = None,
    id_field: str | None = None,
    remove: Collection[str] = (),
    rows: Sequence[str | Mapping[str, Any]] = (),
) -> Index:
    """An index of texts. One that exists is opened, and files that it lacks are added.

    It is made anew if it is damaged, if the module, the mode or a field is another one, or if a
    file in it has changed or is no longer given. Without files it is opened alone.

    The arguments are the options of `python -m export index`; `responses` is `--texts`. The mode
    `responses` needs a module of a model trained on conversations. `rows` are texts, or
    dictionaries with a `text`, perhaps an `id`, and other fields, instead of files.

    Raises:
      ValueError: if there is no such mode.
      InputError: if the module or a file cannot be used, an id is there twice, or one to remove is
        not there, or `output` is something else.
    """
    if mode not in MODES:
        raise ValueError(f"mode is {mode!r}; {', '.join(MODES)} are accepted")
    if rows:
        if responses or output is None:
            raise InputError("rows: accepted with an output, and without files")
        with TemporaryDirectory() as folder:
            table = Path(folder, "rows.jsonl")
            fields: Any = write_table(rows, table, text_field=text_field, id_field=id_field)
            return build_index(module, table, output=output, mode=mode, remove=remove, **fields)
    patterns = [responses] if isinstance(responses, str | Path) else responses
    paths = find_files(list(map(str, patterns)), KINDS)
    if output is None:
        if len(paths) != 1:
            raise InputError("--output is missing, which the index of several files needs")
        output = f"{paths[0]}.index" if mode == RESPONSES else f"{paths[0]}.{mode}.index"
    loaded = _load(Path(module), mode)
    fields = {"text_field": text_field, "id_field": id_field}
    sources = {sha256([path]): path for path in paths}
    output = Path(output).resolve()
    about: dict[str, Any] = {"module": loaded.fingerprint, "mode": mode}
    about |= fields if sources else {}
    with claim(output):
        require_only(output, INDEX, TEXTS, MATRIX, CODES)
        old, described = None, {}
        try:
            described = dict(json.loads((output / INDEX).read_text()))
            old = _open(output, loaded, described, about)
        except Exception as error:  # each of the libraries has its own errors of damaged files
            if not sources:
                raise InputError(
                    f"--output: {output}: no index to open without --texts: {message_of(error)}"
                ) from error
        if sources and described.get("removed"):
            for name in ("mode", "id_field"):  # ids of texts would be others, or none
                if described.get(name) != about[name]:
                    raise InputError(
                        f"--{name}: {about[name]!r}; accepted: {described.get(name)!r}, as texts "
                        f"were removed from the index {output}; delete it to begin anew"
                    )
        if old and sources and not described["files"].keys() <= sources.keys():
            old = None  # a file has changed or is gone
        files, removed = described["files"] if old else {}, set(described.get("removed", ()))
        missing = {digest: path for digest, path in sources.items() if digest not in files}
        if old and not missing and set(remove) <= removed:
            return old
        about |= {name: described[name] for name in fields if not sources}
        about["files"] = files | {digest: path.name for digest, path in missing.items()}
        with aside(output) as new:
            new.mkdir()
            _make(new, loaded, old, missing.values(), about=about, removed=removed, remove=remove)
        return _open(output, loaded, json.loads((output / INDEX).read_text()), about)


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
    applies = [saved_model.of_texts(root, name, path=path) for name in used]
    encode = (partial(saved_model.encode, apply, path="--module") for apply in applies)
    return Module(about["fingerprint"], about["dim"], *encode)


def _open(folder: Path, module: Module, described: dict[str, Any], about: dict[str, Any]) -> Index:
    """The index of a folder; any exception if it is damaged, or not of what is asked."""
    for name, value in about.items():
        if described[name] != value:
            raise ValueError(f"its {name} is {described[name]!r}, not {value!r}")
    for name, checksum in described["crc32c"].items():
        if _crc32c(folder / name) != checksum:
            raise ValueError(f"{name} does not fit its checksum")
    codes = faiss.read_index(str(folder / CODES)) if CODES in described["crc32c"] else None
    return Index(module, _read_table(folder), np.load(folder / MATRIX, mmap_mode="r"), codes)


def _read_table(folder: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(folder / TEXTS))).read_all()


def _crc32c(path: Path) -> int:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            checksum = google_crc32c.extend(checksum, block)
    return checksum


def _make(
    folder: Path,
    module: Module,
    old: Index | None,
    paths: Collection[Path],
    *,
    about: dict[str, Any],
    removed: set[str],
    remove: Collection[str],
) -> None:
    """Writes an index of the texts of an old one and of more files, without some ids."""
    unwanted = removed | set(remove)
    old_table = old.table if old else _SCHEMA.empty_table()
    is_gone = pc.is_in(old_table["id"], value_set=pa.array(sorted(unwanted), pa.string()))
    left_out = set(old_table["id"].filter(is_gone).to_pylist())
    # A message is in several pairs: once in the index.
    of_pairs = {path for path in paths if about["mode"] == SIMILAR and kind_of(path) == TFRECORD}
    columns = (old_table[name].to_pylist() if of_pairs else [] for name in ("text", "id"))
    known = {_key(*row) for row in zip(*columns, strict=True)}
    fields = {name: about[name] for name in ("text_field", "id_field")}

    def new_rows() -> Iterator[Row]:
        for path in paths:
            once, count = path in of_pairs, 0
            for count, row in enumerate(of_file(path, **fields, both=once), start=1):  # noqa: B007
                if row.id in unwanted:
                    left_out.add(row.id)
                elif not once or (key := _key(row.text, row.id)) not in known:
                    yield row
                    known.update([key] if once else [])
            if not count and not once:  # shards may be empty
                raise InputError(f"{path.name!r} holds no text")

    with pa.ipc.new_file(str(folder / TEXTS), _SCHEMA) as writer:
        writer.write_table(old_table.filter(pc.invert(is_gone)))
        found = new_rows()
        while some := list(islice(found, BLOCK)):
            records = [row._asdict() for row in some]
            writer.write_batch(pa.RecordBatch.from_pylist(records, schema=_SCHEMA))
    if unknown := sorted(set(remove) - removed - left_out):
        raise InputError(f"--remove: {unknown[0]!r} is the id of no text in the index")
    table = _read_table(folder)
    counts = Counter(table["id"].drop_null().to_pylist())
    if repeated := next((each for each, count in counts.items() if count > 1), None):
        raise InputError(f"--id_field: the id {repeated!r} is there {counts[repeated]} times")
    if not len(table):
        raise InputError("--remove: no text would be left")
    kept = np.flatnonzero(~is_gone.to_numpy())
    with (folder / MATRIX).open("wb") as file:
        shape = len(table), module.dim
        header = {"descr": "<f2", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, len(kept), BLOCK):
            file.write(old.matrix[kept[start : start + BLOCK]].tobytes())  # type: ignore[union-attr]
        for block in _encoded(module, table["text"][len(kept) :]):
            file.write(block.tobytes())
    if len(table) >= CODES_FROM:
        matrix = np.load(folder / MATRIX, mmap_mode="r")
        # Learned anew where most texts are new, which may be of another kind, or some are gone.
        may_stay = old and len(old_table) == len(kept) and 2 * len(kept) >= len(table)
        codes = (old.codes if old and may_stay else None) or quantized.learn(matrix)
        quantized.add(codes, matrix)
        faiss.write_index(codes, str(folder / CODES))
    checksums = {path.name: _crc32c(path) for path in sorted(folder.iterdir())}
    write_json(folder / INDEX, about | {"removed": sorted(unwanted), "crc32c": checksums})


def _key(text: str, own_id: str | None) -> tuple[str, str]:
    """What tells messages apart: their ids, or their texts where they have none."""
    return ("text", text) if own_id is None else ("id", own_id)


def _encoded(module: Module, texts: pa.ChunkedArray) -> Iterator[np.ndarray]:
    """The vectors of blocks of texts, float16 [texts, dim]; batches have similar lengths."""
    with tqdm(total=len(texts), desc="encoding", unit=" texts", leave=False) as progress:
        for start in range(0, len(texts), BLOCK):
            some = texts[start : start + BLOCK]
            order = np.argsort(pc.binary_length(some).to_numpy(), kind="stable")
            block = np.empty((len(some), module.dim), np.float16)
            for rows in np.split(order, range(BATCH, len(order), BATCH)):
                vectors = module.encode_responses(some.take(rows).to_pylist())
                if not np.abs(vectors).max() <= np.finfo(np.float16).max:  # NaN is not, either
                    raise InputError("--module: it gives vectors that float16 cannot hold")
                block[rows] = vectors
                progress.update(len(rows))
            yield block
