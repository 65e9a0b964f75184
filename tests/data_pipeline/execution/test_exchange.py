"""Rows on their way between two stages."""

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest

from data_pipeline.execution import exchange
from data_pipeline.execution.exchange import BatchCoder, Exchange, received

SCHEMA = pa.schema([("text", pa.large_string()), ("number", pa.int64()), ("id", pa.string())])


def batch(numbers):
    rows = [
        {"text": f"text\n{n}\u2028", "number": n, "id": None if n % 3 else "i"} for n in numbers
    ]
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def by_last_digit(some):
    return some, some.column("number").to_numpy() % 10


@pytest.fixture(params=[True, False], ids=["inline", "in files"])
def sent(request, tmp_path):
    """A function that sends batches: blocks of each, then those at the end of the bundle."""

    def send(*batches, key_of=by_last_digit):
        function = Exchange(str(tmp_path), inline=request.param).send(key_of).fn
        function.start_bundle()
        early = [element for some in batches for element in function.process(some)]
        return early, [windowed.value for windowed in function.finish_bundle()]

    return send


def rows_of(*blocks):
    return received(blocks, SCHEMA).to_pylist()


@pytest.mark.parametrize("count", [0, 1, 1234])
def test_every_row_arrives_once_under_its_key_and_in_order(sent, count):
    rows = batch(range(count))
    early, late = sent(rows.slice(0, 700), rows.slice(700))
    assert early == []
    assert sorted(key for key, _ in late) == list(range(min(count, 10)))
    for key, block in late:
        assert rows_of(block, None) == [
            row for row in rows.to_pylist() if row["number"] % 10 == key
        ]


def test_a_worker_lets_go_of_its_rows_when_there_are_enough(sent, monkeypatch):
    rows = batch([0, 10])
    monkeypatch.setattr(exchange, "FLUSH_BYTES", 2 * rows.nbytes)
    early, late = sent(rows, rows, rows)
    assert [rows_of(block) for _, block in early] == [rows.to_pylist() * 2]
    assert [rows_of(block) for _, block in late] == [rows.to_pylist()]
    assert len(rows_of(None, early[0][1], late[0][1])) == 6


def test_large_keys_are_kept_apart_and_negative_ones_stay(sent):
    keys = np.array([70_000, 3, -1, 70_000])
    _, late = sent(batch([1, 2, 3, 4]), key_of=lambda some: (some, keys))
    found = {key: [row["number"] for row in rows_of(block)] for key, block in late}
    assert found == {3: [2], 70_000: [1, 4]}


def test_a_batch_travels_between_stages_whole():
    coder = BatchCoder()
    for some in (batch(range(9)).slice(3, 4), batch([])):
        back = coder.decode(coder.encode(some))
        assert back.equals(some)
        assert back.schema == SCHEMA
    assert isinstance(beam.coders.registry.get_coder(pa.RecordBatch), BatchCoder)
