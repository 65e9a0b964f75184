"""Columns of pairs -> records of a TFRecord file, all rows at once.

Written by hand because of its speed: 0.9 microseconds a pair, with its checksum, against 11.1 with
protocol buffers.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import google_crc32c
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.execution.columns import distinct, lengths_of
from data_pipeline.pairs.tfrecord import (
    BYTES_LIST,
    CRC,
    before_value,
    frame_header,
    header,
    mask,
)


def encode_columns(names: Sequence[str], columns: Sequence[Any]) -> Any:
    """`encode_example` of each row of string columns, for millions of pairs.

    Args:
      names: of the features.
      columns: Arrow arrays of strings without nulls, [rows] each.

    Returns:
      An Arrow array of large_binary, [rows].
    """
    parts, size = [], np.zeros(len(columns[0]), np.int64)
    for name, column in zip(names, columns, strict=True):
        lengths = lengths_of(column)
        before = _of_sizes(partial(before_value, name, BYTES_LIST), lengths)
        parts += [before, column.cast(pa.large_binary())]
        size += lengths_of(before) + lengths
    return _joined(_of_sizes(partial(header, 1), size), *parts)


def _of_sizes(make: Callable[[int], bytes], sizes: np.ndarray) -> Any:
    """The bytes that `make` gives for each of the sizes [rows], of which there are few."""
    each, which = distinct(sizes)
    return pa.array(map(make, each.tolist()), pa.large_binary()).take(pa.array(which))


def _joined(*columns: Any) -> Any:
    return pc.binary_join_element_wise(*columns, pa.scalar(b"", pa.large_binary()))


def frame_columns(names: Sequence[str], columns: Sequence[Any]) -> tuple[Any, np.ndarray]:
    """The rows of string columns, each as a record of a TFRecord file, and their checksums.

    Takes what `encode_columns` does; the checksums are uint32 [rows], as stored.
    """
    records = encode_columns(names, columns)
    values = map(google_crc32c.value, records.to_pylist())
    checksums = mask(np.fromiter(values, np.uint32, len(records))).astype(CRC)
    behind = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(CRC.itemsize), len(records), [None, pa.py_buffer(checksums.tobytes())]
    )
    headers = _of_sizes(frame_header, lengths_of(records))
    return _joined(headers, records, behind.cast(pa.large_binary())), checksums
