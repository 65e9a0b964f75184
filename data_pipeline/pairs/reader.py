"""Published pair files -> pairs, in any format: `.tfrecord`, `.jsonl` and `.parquet`.

    for pair in read_pairs("pairs/train-*"):
        print(pair["input"], "->", pair["response"])

The name tells the format; `.tfrecord` and `.jsonl` may be compressed. Needs no TensorFlow.
"""

import posixpath
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet

from common import tfrecord
from common.errors import message_of
from common.files import COMPLETED, outputs
from data_pipeline.storage.filesystem import Tap, read_bytes
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, find_inputs
from data_pipeline.storage.lines import plain_suffix, read_chunks, read_line_batches

_TEXTS = ((tfrecord.INPUT, tfrecord.RESPONSE), (tfrecord.PREMISE, tfrecord.HYPOTHESIS))
"""The two texts of a pair of a conversation, and of an NLI pair."""
_ROWS_A_BATCH = 10_000

Pair = dict[str, Any]  # feature name -> value; strings of TFRecords are UTF-8 bytes


def read_pairs(pattern: str | Sequence[str]) -> Iterator[dict[str, str | int]]:
    """Yields the published pairs of files, in the order of their names: feature name -> value.

    Raises an InputError if a pattern matches no file, and an UnreadableFileError if a file is
    truncated, corrupt or of another kind.
    """
    for file in find_inputs([pattern] if isinstance(pattern, str) else pattern):
        yield from pairs_of(file)


def pairs_of(file: InputFile) -> Iterator[dict[str, str | int]]:
    """Yields the pairs of one file, as `read_pairs` does."""
    for pair, _ in _read(file, Tap()):
        yield {
            name: value.decode(errors="replace") if isinstance(value, bytes) else value
            for name, value in pair.items()
        }


def read_texts(file: InputFile, tap: Tap) -> Iterator[tuple[str | bytes, str | bytes]]:
    """Yields both texts of every pair; raises an UnreadableFileError that names the record."""
    return (texts for _, texts in _read(file, tap))


def _read(file: InputFile, tap: Tap) -> Iterator[tuple[Pair, tuple[str | bytes, str | bytes]]]:
    read = 0
    try:
        for pair in _pairs_in(file, tap):
            texts = _texts(pair)
            read += 1
            yield pair, texts
    except (EOFError, ValueError) as error:
        raise UnreadableFileError(f"{file.path}, record {read + 1}: {error}") from error
    folder, name = posixpath.split(file.full_path)
    stated = outputs(folder, read_bytes).get(name, {}).get("crc32c", tap.crc32c)
    if stated != tap.crc32c:
        raise UnreadableFileError(
            f"{file.path}: changed since it was written: CRC-32C {tap.crc32c}, {COMPLETED} beside "
            f"it says {stated}"
        )


def _pairs_in(file: InputFile, tap: Tap) -> Iterator[Pair]:
    match plain_suffix(file.path):
        case ".tfrecord":
            with closing(read_chunks(file, tap)) as chunks:
                yield from map(tfrecord.decode_example, tfrecord.read_frames(chunks))
        case ".jsonl":
            for batch in read_line_batches(file, tap):
                yield from map(orjson.loads, batch.lines)
        case ".parquet":
            # The index is at the end of the file, so all of it is read at once.
            stored = pa.BufferReader(b"".join(read_chunks(file, tap)))
            try:
                table = pyarrow.parquet.ParquetFile(stored, page_checksum_verification=True)
                for batch in table.iter_batches(_ROWS_A_BATCH):
                    yield from batch.to_pylist()
            except OSError as error:  # pyarrow's, of what is in memory already
                raise ValueError(message_of(error)) from error
        case _:
            raise UnreadableFileError(
                f"{file.path}: unknown format; accepted: names that end in .tfrecord, .jsonl or "
                ".parquet; all but the last may be compressed"
            )


def _texts(pair: Any) -> tuple[str | bytes, str | bytes]:
    for names in _TEXTS if isinstance(pair, dict) else ():
        first, second = map(pair.get, names)
        if isinstance(first, str | bytes) and isinstance(second, str | bytes):
            return first, second
    wanted = " nor ".join(f"{first} and {second}" for first, second in _TEXTS)
    raise ValueError(f"holds neither {wanted} as strings")
