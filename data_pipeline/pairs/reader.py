"""Published pair files -> the texts in them, whatever format they are stored in.

Reads what `formats` and `nli` write, told by the name: `.tfrecord`, `.jsonl` and `.parquet`, each
with `.gz` behind or without. Needs no TensorFlow, nor do the Beam workers that read with it.
"""

import gzip
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import PurePath
from typing import Any, cast

import orjson
import pyarrow as pa
import pyarrow.parquet

from data_pipeline.files.inputs import (
    BATCH_BYTES,
    Dump,
    Tap,
    UnreadableDumpError,
    read_line_batches,
)
from data_pipeline.files.output_folder import open_stored
from data_pipeline.pairs.examples import decode_strings, read_frames
from data_pipeline.pairs.tfrecord import (
    GZIP_SUFFIX,
    HYPOTHESIS,
    INPUT,
    PREMISE,
    RESPONSE,
)

SIDES = ((INPUT, RESPONSE), (PREMISE, HYPOTHESIS))
"""The texts of a pair of a conversation, and of one of NLI."""
NAMES = tuple(name for side in SIDES for name in side)
_ROWS_A_BATCH = 10_000

Features = dict[str, Any]
Pairs = Generator[Features, None, None]


def read_texts(dump: Dump, tap: Tap) -> Iterator[tuple[str | bytes, str | bytes]]:
    """Yields both texts of every pair of a file, which is read to its end through the tap.

    Raises:
      UnreadableDumpError: if the file cannot be read, is truncated or corrupt, or something in
        it is no pair; says which record.
    """
    path = PurePath(dump.path)
    suffix = PurePath(path.stem).suffix if path.suffix == GZIP_SUFFIX else path.suffix
    if suffix not in _READERS:
        raise UnreadableDumpError(
            f"{dump.path}: its name does not say how to read it; accepted are names that end in "
            f"{', '.join(_READERS)}, and then in {GZIP_SUFFIX} or nothing"
        )
    read = 0
    try:
        with closing(_READERS[suffix](dump, tap)) as pairs:
            for features in pairs:
                texts = _texts(features)
                read += 1
                yield texts
    except (EOFError, OSError, ValueError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            # That may pass (a network file system's, say): the runner tries again.
            raise
        raise UnreadableDumpError(f"{dump.path}, record {read + 1}: {error}") from error


def _texts(features: Features) -> tuple[str | bytes, str | bytes]:
    for first, second in SIDES:
        if first in features and second in features:
            return features[first], features[second]
    wanted = " nor ".join(f"{first} and {second}" for first, second in SIDES)
    raise ValueError(f"holds neither {wanted} as strings")


def _read_tfrecord(dump: Dump, tap: Tap) -> Pairs:
    with closing(open_stored(dump.path)) as raw:
        for example in read_frames(_chunks(dump, tap.on(raw))):
            yield decode_strings(example, NAMES)


def _read_json_lines(dump: Dump, tap: Tap) -> Pairs:
    for batch in read_line_batches(dump, tap):
        for line in batch.lines:
            features = orjson.loads(line)
            if not isinstance(features, dict):
                raise ValueError(f"not a JSON object but {type(features).__name__}")
            yield _strings(features)


def _read_parquet(dump: Dump, tap: Tap) -> Pairs:
    # What stands where is said at the end of the file, so that all of it is read at once.
    with closing(open_stored(dump.path)) as raw:
        stored = b"".join(_chunks(dump, tap.on(raw)))
    file = pyarrow.parquet.ParquetFile(pa.BufferReader(stored))
    columns = [name for name in NAMES if name in file.schema_arrow.names]
    for batch in file.iter_batches(batch_size=_ROWS_A_BATCH, columns=columns):
        yield from map(_strings, batch.to_pylist())


def _strings(features: Features) -> Features:
    return {name: features[name] for name in NAMES if isinstance(features.get(name), str)}


def _chunks(dump: Dump, tap: Tap) -> Iterator[bytes]:
    if not dump.path.endswith(GZIP_SUFFIX):
        return iter(partial(tap.read, BATCH_BYTES), b"")
    if dump.size == 0:
        raise EOFError(f"an empty file is no {GZIP_SUFFIX} file")
    return iter(partial(gzip.open(cast(Any, tap)).read, BATCH_BYTES), b"")


_READERS: dict[str, Callable[[Dump, Tap], Pairs]] = {
    ".tfrecord": _read_tfrecord,
    ".jsonl": _read_json_lines,
    ".parquet": _read_parquet,
}
