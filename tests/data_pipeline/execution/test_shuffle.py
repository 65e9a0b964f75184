"""Pairs on their way between two stages."""

import pytest

from data_pipeline.execution import shuffle
from data_pipeline.execution.shuffle import PackRows, Pair, Transport, as_row, read_pairs


def pair(number, *, thread="t"):
    texts = (f"question\n{number}\u2028", f"answer {number}")
    return Pair(*texts, "c1", f"r{number}", thread, "s", number, "c0", ["earlier"], ["c0"])


def rows_by_thread(pairs):
    rows = {}
    for one in pairs:
        rows[one.thread_id] = rows.get(one.thread_id, b"") + as_row(one)
    return rows


@pytest.fixture(params=[True, False])
def packer(request, tmp_path):
    packer = PackRows(Transport(str(tmp_path), inline=request.param), rows_by_thread)
    packer.start_bundle()
    return packer


def packed(packer, *batches):
    """The elements yielded for each batch, then those at the end of the bundle."""
    early = [element for pairs in batches for element in packer.process(pairs)]
    return early, [windowed.value for windowed in packer.finish_bundle()]


def pairs_of(block):
    return [pair for pairs in read_pairs([block]) for pair in pairs]


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1000, 1234])
def test_every_pair_arrives_once_and_in_order(packer, count):
    pairs = [pair(number) for number in range(count)]
    early, late = packed(packer, pairs[:700], pairs[700:])
    assert early == []
    assert [key for key, _ in late] == ["t"] * (count > 0)
    pieces = list(read_pairs(block for _, block in late))
    assert [one for piece in pieces for one in piece] == pairs
    assert [len(piece) for piece in pieces] == [500] * (count // 500) + [count % 500]


def test_pairs_of_one_key_are_together(packer):
    _, late = packed(packer, [pair(0), pair(1, thread="u")], [pair(2, thread="u"), pair(3)])
    found = {key: pairs_of(block) for key, block in late}
    assert found == {
        "t": [pair(0), pair(3)],
        "u": [pair(1, thread="u"), pair(2, thread="u")],
    }


def test_a_worker_lets_go_of_its_rows_when_there_are_enough(packer, monkeypatch):
    batch = [pair(0), pair(1)]
    enough = 2 * sum(len(as_row(one)) for one in batch)
    monkeypatch.setattr(shuffle, "FLUSH_BYTES", enough)
    early, late = packed(packer, batch, batch, batch)
    assert [pairs_of(block) for _, block in early] == [batch + batch]
    assert [pairs_of(block) for _, block in late] == [batch]
    monkeypatch.setattr(shuffle, "FLUSH_BYTES", enough + 1)
    packer.start_bundle()
    early, late = packed(packer, batch, batch)
    assert (early, [pairs_of(block) for _, block in late]) == ([], [batch + batch])
