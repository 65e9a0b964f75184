import numpy as np
import pytest

from evaluation.encoders import chunks
from evaluation.encoders.cache import RowCache
from evaluation.encoders.chunks import Spread


def test_chunks_hold_so_many_sentences_and_characters(monkeypatch):
    monkeypatch.setattr(chunks, "SENTENCES", 3)
    monkeypatch.setattr(chunks, "CHARACTERS", 20)
    assert list(chunks.chunks([1, 1, 1, 1])) == [(0, 3), (3, 4)]
    # 2 x 9 fits, 3 x 9 does not; one that is too long stands alone.
    assert list(chunks.chunks([0, 9, 9, 9, 10, 30, 40])) == [(0, 2), (2, 4), (4, 5), (5, 6), (6, 7)]
    assert list(chunks.chunks([])) == []


def test_order_depends_on_the_texts_alone():
    assert chunks.by_length({"bb", "a", "ccc", "ab", ""}) == ["", "a", "ab", "bb", "ccc"]


def test_rows_come_back_to_every_place():
    spread = Spread(["b", "a", "b", "c", "b"], ["a", "b", "c"])
    spread.write(np.array([[1.0, 10.0], [2.0, 20.0]], dtype=np.float32))
    spread.write(np.array([[3.0, 30.0]], dtype=np.float32))
    assert spread.rows.tolist() == [[2, 20], [1, 10], [2, 20], [3, 30], [2, 20]]


def test_halves_find_the_one_that_fails():
    calls = []

    def encode(items):
        calls.append(list(items))
        if 3 in items:
            raise LookupError(3)
        return np.array(items)

    assert chunks.in_halves(encode, [1, 2], retry=LookupError).tolist() == [1, 2]
    with pytest.raises(LookupError):
        chunks.in_halves(encode, [1, 2, 3, 4], retry=LookupError)
    assert calls[1:] == [[1, 2, 3, 4], [1, 2], [3, 4], [3]]


def test_what_fits_in_halves_is_put_together():
    def encode(items):
        if len(items) > 2:
            raise MemoryError
        return np.array(items) * 10

    found = chunks.in_halves(encode, [1, 2, 3, 4, 5], retry=MemoryError)
    assert found.tolist() == [10, 20, 30, 40, 50]


def test_the_cache_forgets_the_oldest_and_stays_small():
    cache = RowCache(max_bytes=3 * 2 * 4)  # three rows of two numbers
    cache.add(["a", "b"], np.array([[1, 1], [2, 2]], dtype=np.float32))
    cache.add(["c", "d"], np.array([[3, 3], [4, 4]], dtype=np.float32))
    assert "a" not in cache
    assert len(cache) == 3
    assert cache.rows(["d", "b", "c"]).tolist() == [[4, 4], [2, 2], [3, 3]]
    cache.add(list("vwxyz"), np.arange(10, dtype=np.float32).reshape(5, 2))
    assert [text for text in "abcdvwxyz" if text in cache] == ["x", "y", "z"]
    assert cache.rows(["x", "z"]).tolist() == [[4, 5], [8, 9]]
