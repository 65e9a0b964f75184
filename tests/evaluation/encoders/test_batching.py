import numpy as np
import pytest

from evaluation.encoders import batching
from evaluation.encoders.batching import BatchedEncoder


def test_batches_hold_so_many_sentences_and_characters(monkeypatch):
    monkeypatch.setattr(batching, "SENTENCES", 3)
    monkeypatch.setattr(batching, "CHARACTERS", 20)
    assert list(batching.batches([1, 1, 1, 1])) == [(0, 3), (3, 4)]
    # 2 x 9 fits, 3 x 9 does not; one that is too long stands alone.
    assert list(batching.batches([0, 9, 9, 9, 10, 30, 40])) == [
        (0, 2),
        (2, 4),
        (4, 5),
        (5, 6),
        (6, 7),
    ]
    assert list(batching.batches([])) == []


def test_order_depends_on_the_texts_alone():
    assert batching.by_length({"bb", "a", "ccc", "ab", ""}) == ["", "a", "ab", "bb", "ccc"]


def numbers(texts):
    """Rows [code of the letter, 10 times that]."""
    return np.array([[ord(text), 10 * ord(text)] for text in texts], dtype=np.float32)


def test_rows_come_back_to_every_occurrence():
    encoder = BatchedEncoder(numbers, path="m", retry=LookupError)
    found = encoder(["b", "a", "b", "c", "b"])
    assert found[:, 0].tolist() == [98, 97, 98, 99, 98]
    assert found[:, 1].tolist() == [980, 970, 980, 990, 980]
    assert encoder(["c", "z", "a"])[:, 0].tolist() == [99, 122, 97]  # known ones, a new one


def test_what_is_not_text_is_named():
    with pytest.raises(ValueError, match=r"sentences\[1\]: None; accepted: text"):
        BatchedEncoder(numbers, path="m", retry=LookupError)(["a", None])


def test_halves_find_the_one_that_fails():
    calls = []

    def encode(items):
        calls.append(list(items))
        if 3 in items:
            raise LookupError(3)
        return np.array(items)

    assert batching.in_halves(encode, [1, 2], retry=LookupError).tolist() == [1, 2]
    with pytest.raises(LookupError):
        batching.in_halves(encode, [1, 2, 3, 4], retry=LookupError)
    assert calls[1:] == [[1, 2, 3, 4], [1, 2], [3, 4], [3]]


def test_what_fits_in_halves_is_put_together():
    def encode(items):
        if len(items) > 2:
            raise MemoryError
        return np.array(items) * 10

    found = batching.in_halves(encode, [1, 2, 3, 4, 5], retry=MemoryError)
    assert found.tolist() == [10, 20, 30, 40, 50]


def test_rows_that_are_remembered_take_no_more_memory_than_allowed():
    calls = []

    def encode(texts):
        calls.append("".join(texts))
        return numbers(texts)

    encoder = BatchedEncoder(
        encode, path="m", retry=LookupError, max_bytes=3 * 2 * 4
    )  # three rows of two numbers
    encoder(["a", "b"])
    encoder(["a", "c"])
    assert calls == ["ab", "c"]
    assert encoder(["a", "d"])[:, 0].tolist() == [97, 100]  # full: begun again
    encoder(["d"])
    assert calls == ["ab", "c", "d"]
    encoder(["a"])
    assert encoder(list("vwxyz"))[:, 0].tolist() == [118, 119, 120, 121, 122]
    encoder(["a", "v"])
    assert calls == ["ab", "c", "d", "a", "vwxyz", "av"]  # five rows were too many
    assert encoder._bytes <= 3 * 2 * 4
