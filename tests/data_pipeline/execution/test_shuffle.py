"""Batches on their way between two stages."""

import re

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest

from data_pipeline.execution import shuffle
from data_pipeline.execution.columns import decode
from data_pipeline.execution.shuffle import (
    BatchCoder,
    DamagedFileError,
    PackBatches,
    Transport,
    read_blocks,
)

SCHEMA = pa.schema([("text", pa.large_string()), ("number", pa.int64()), ("id", pa.string())])


def batch(numbers):
    rows = [
        {"text": f"text\n{n}\u2028", "number": n, "id": None if n % 3 else "i"} for n in numbers
    ]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def by_last_digit(some):
    return some, some.column("number").to_numpy() % 10


@pytest.fixture(params=[True, False], ids=["inline", "in files"])
def packer(request, tmp_path):
    packer = PackBatches(Transport(str(tmp_path), inline=request.param), by_last_digit)
    packer.start_bundle()
    return packer


def packed(packer, *batches):
    """The elements yielded for each batch, then those at the end of the bundle."""
    early = [element for some in batches for element in packer.process(some)]
    return early, [windowed.value for windowed in packer.finish_bundle()]


def rows_of(*blocks):
    return [
        row
        for rows in read_blocks(blocks)
        for some in decode(rows, [SCHEMA])
        for row in some.to_pylist()
    ]


@pytest.mark.parametrize("count", [0, 1, 499, 1234])
def test_every_row_arrives_once_under_its_key_and_in_order(packer, count):
    rows = batch(range(count))
    early, late = packed(packer, rows.slice(0, 700), rows.slice(700))
    assert early == []
    assert sorted(key for key, _ in late) == list(range(min(count, 10)))
    for key, block in late:
        assert rows_of(block) == [row for row in rows.to_pylist() if row["number"] % 10 == key]


def test_a_worker_lets_go_of_its_rows_when_there_are_enough(packer, monkeypatch):
    rows = batch([0, 10])
    enough = 2 * rows.nbytes
    monkeypatch.setattr(shuffle, "FLUSH_BYTES", enough)
    early, late = packed(packer, rows, rows, rows)
    assert [rows_of(block) for _, block in early] == [rows.to_pylist() * 2]
    assert [rows_of(block) for _, block in late] == [rows.to_pylist()]
    monkeypatch.setattr(shuffle, "FLUSH_BYTES", enough + 1)
    packer.start_bundle()
    early, late = packed(packer, rows, rows)
    assert (early, [rows_of(block) for _, block in late]) == ([], [rows.to_pylist() * 2])


def test_keys_beyond_16_bits_are_kept_apart(tmp_path):
    keys = np.array([70_000, 3, 70_000])
    packer = PackBatches(Transport(str(tmp_path), inline=True), lambda some: (some, keys))
    packer.start_bundle()
    _, late = packed(packer, batch([1, 2, 4]))
    assert {key: [row["number"] for row in rows_of(block)] for key, block in late} == {
        3: [2],
        70_000: [1, 4],
    }


def test_a_batch_travels_between_stages_whole():
    coder = BatchCoder()
    for some in (batch(range(5)), batch(range(9)).slice(3, 4), batch([])):
        back = coder.decode(coder.encode(some))
        assert back.equals(some)
        assert back.schema == SCHEMA
        assert coder.estimate_size(some) == some.nbytes
    assert isinstance(beam.coders.registry.get_coder(pa.RecordBatch), BatchCoder)


def test_a_file_that_was_cut_off_is_damaged(tmp_path):
    packer = PackBatches(Transport(str(tmp_path), inline=False), by_last_digit)
    packer.start_bundle()
    _, late = packed(packer, batch(range(100)))
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert len(rows_of(*[block for _, block in late[:-1]])) == 90
    with pytest.raises(DamagedFileError, match=re.escape(str(file))):
        rows_of(late[-1][1])
    file.write_bytes(b"short")
    with pytest.raises(DamagedFileError, match=re.escape(str(file))):
        rows_of(late[-1][1])
