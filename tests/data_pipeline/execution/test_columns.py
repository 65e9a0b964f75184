"""Hashes of strings, and batches cut by size."""

import zlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.execution.columns import crc32_of, pieces


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(st.lists(st.text(max_size=60)), st.integers(0, 3))
def test_checksums_are_those_of_zlib(strings, start):
    found = crc32_of(pa.array(strings, pa.string())[start:])
    assert found.tolist() == [zlib.crc32(string.encode()) for string in strings[start:]]


@pytest.mark.parametrize(
    ("sizes", "rows", "most", "expected"),
    [
        ([], 3, 10, []),
        ([1, 1, 1, 1], 3, 10, [(0, 3), (3, 4)]),
        ([4, 6, 1, 9], 3, 10, [(0, 2), (2, 4)]),
        ([99, 1, 99], 3, 10, [(0, 1), (1, 2), (2, 3)]),
        ([0, 0, 0], 2, 0, [(0, 2), (2, 3)]),
    ],
)
def test_pieces_are_cut_by_rows_and_by_bytes(sizes, rows, most, expected):
    found = list(pieces(np.array(sizes, np.int64), rows=rows, most=most))
    assert [(piece.start, piece.stop) for piece in found] == expected
