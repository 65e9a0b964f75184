"""Published pair files -> pairs, in any format: `.tfrecord`, `.jsonl` and `.parquet`.

The name tells the format; `.tfrecord` and `.jsonl` may be compressed (`.gz`). Needs no TensorFlow.
"""

import gzip
import zlib
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import PurePath
from typing import Any, TypeVar, cast

import orjson
import pyarrow as pa
import pyarrow.parquet

from data_pipeline.pairs.tfrecord import (
    GZIP_SUFFIX,
    HYPOTHESIS,
    INPUT,
    PREMISE,
    RESPONSE,
    decode_example,
    read_frames,
)
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, find_inputs
from data_pipeline.storage.lines import BATCH_BYTES, MAX_LINE_BYTES, read_line_batches

TEXTS = ((INPUT, RESPONSE), (PREMISE, HYPOTHESIS))
"""The two texts of a pair of a conversation, and of an NLI pair."""
_TEXT_NAMES = tuple(name for names in TEXTS for name in names)
_ROWS_A_BATCH = 10_000

Features = dict[str, Any]
"""Name -> value; strings of TFRecords are UTF-8 bytes."""
Pair = TypeVar("Pair")
_Reader = Callable[[InputFile, Tap, Collection[str] | None], Generator[Features, None, None]]


def read_pairs(pattern: str | Sequence[str]) -> Iterator[dict[str, str | int]]:
    """Yields the published pairs of files, in the order of their names.

    Args:
      pattern: file names or patterns, such as "pairs/train-*".

    Yields:
      Feature name -> value: "input", "response" and so on, or "premise", "hypothesis", "label".

    Raises:
      InputError: if a pattern matches no file.
      UnreadableFileError: if a file is truncated, corrupt or of another kind.
    """
    for file in find_inputs([pattern] if isinstance(pattern, str) else pattern):
        yield from _read(file, Tap(), names=None, convert=_decoded)


def read_texts(file: InputFile, tap: Tap) -> Iterator[tuple[str | bytes, str | bytes]]:
    """Yields both texts of every pair of a file, which is read to its end through `tap`.

    Raises:
      UnreadableFileError: if the file is truncated, corrupt or of another kind, or a record is
        not a pair; says which record.
    """
    return _read(file, tap, names=_TEXT_NAMES, convert=_texts)


def _read(
    file: InputFile,
    tap: Tap,
    *,
    names: Collection[str] | None,
    convert: Callable[[Features], Pair],
) -> Iterator[Pair]:
    path = PurePath(file.path)
    packed = path.suffix == GZIP_SUFFIX
    suffix = PurePath(path.stem).suffix if packed else path.suffix
    if suffix not in _READERS or (packed and suffix == ".parquet"):
        raise UnreadableFileError(
            f"{file.path}: its name does not say how to read it; accepted: names that end in "
            f"{', '.join(_READERS)}, or in .tfrecord{GZIP_SUFFIX} or .jsonl{GZIP_SUFFIX}"
        )
    read = 0
    try:
        with closing(_READERS[suffix](file, tap, names)) as records:
            for features in records:
                pair = convert(features)
                read += 1
                yield pair
    except (EOFError, OSError, ValueError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            # It may pass (on a network file system, say): the runner tries again.
            raise
        raise UnreadableFileError(f"{file.path}, record {read + 1}: {error}") from error


def _texts(features: Features) -> tuple[str | bytes, str | bytes]:
    for names in TEXTS:
        first, second = map(features.get, names)
        if isinstance(first, str | bytes) and isinstance(second, str | bytes):
            return first, second
    wanted = " nor ".join(f"{first} and {second}" for first, second in TEXTS)
    raise ValueError(f"holds neither {wanted} as strings")


def _decoded(features: Features) -> dict[str, str | int]:
    _texts(features)
    return {
        name: value.decode(errors="replace") if isinstance(value, bytes) else value
        for name, value in features.items()
    }


def _read_tfrecord(
    file: InputFile, tap: Tap, names: Collection[str] | None
) -> Generator[Features, None, None]:
    with closing(file.open()) as raw:
        for example in read_frames(_chunks(file, tap.on(raw))):
            yield decode_example(example, names)


def _read_json_lines(
    file: InputFile, tap: Tap, names: Collection[str] | None
) -> Generator[Features, None, None]:
    for batch in read_line_batches(file, tap):
        for index, line in enumerate(batch.lines):
            if index in batch.too_long:
                raise ValueError(
                    f"{batch.too_long[index]:,} bytes; at most {MAX_LINE_BYTES:,} are read of JSON "
                    "lines; TFRecord has no such limit"
                )
            features = orjson.loads(line)
            if not isinstance(features, dict):
                raise ValueError(f"not a JSON object but {type(features).__name__}")
            yield features


def _read_parquet(
    file: InputFile, tap: Tap, names: Collection[str] | None
) -> Generator[Features, None, None]:
    # The index is at the end of the file, so all of it is read at once.
    with closing(file.open()) as raw:
        stored = b"".join(_chunks(file, tap.on(raw)))
    table = pyarrow.parquet.ParquetFile(pa.BufferReader(stored))
    there = table.schema_arrow.names
    columns = there if names is None else [name for name in names if name in there]
    for batch in table.iter_batches(batch_size=_ROWS_A_BATCH, columns=columns):
        yield from batch.to_pylist()


def _chunks(file: InputFile, tap: Tap) -> Iterator[bytes]:
    if not file.path.endswith(GZIP_SUFFIX):
        return iter(partial(tap.read, BATCH_BYTES), b"")
    if file.size == 0:
        raise EOFError(f"an empty file is not a {GZIP_SUFFIX} file")
    return iter(partial(gzip.open(cast(Any, tap)).read, BATCH_BYTES), b"")


_READERS: dict[str, _Reader] = {
    ".tfrecord": _read_tfrecord,
    ".jsonl": _read_json_lines,
    ".parquet": _read_parquet,
}
