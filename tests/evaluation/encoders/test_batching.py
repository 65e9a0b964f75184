import numpy as np
import pytest

from common.errors import InputError
from evaluation.encoders import batching
from evaluation.encoders.batching import BatchedEncoder


def numbers(texts):
    """Rows [code of the letter, 10 times that]."""
    return np.array([[ord(text), 10 * ord(text)] for text in texts], dtype=np.float32)


def test_batches_hold_so_many_sentences_and_characters(monkeypatch):
    monkeypatch.setattr(batching, "SENTENCES", 3)
    monkeypatch.setattr(batching, "CHARACTERS", 20)
    assert list(batching.batches([1, 1, 1, 1])) == [(0, 3), (3, 4)]
    # 2 x 9 fits, 3 x 9 does not; one that is too long stands alone.
    assert list(batching.batches([0, 9, 9, 9, 10, 30, 40])) == [
        *((0, 2), (2, 4), (4, 5), (5, 6), (6, 7))
    ]
    assert list(batching.batches([])) == []
    assert batching.by_length({"bb", "a", "ccc", "ab", ""}) == ["", "a", "ab", "bb", "ccc"]


def test_rows_come_back_to_every_occurrence():
    encoder = BatchedEncoder(numbers, path="m")
    found = encoder(["b", "a", "b", "c", "b"])
    assert found[:, 0].tolist() == [98, 97, 98, 99, 98]
    assert found[:, 1].tolist() == [980, 970, 980, 990, 980]
    assert encoder(["c", "z", "a"])[:, 0].tolist() == [99, 122, 97]  # known ones, a new one


def test_a_batch_that_fails_is_halved():
    calls = []

    def encode(texts):
        calls.append("".join(texts))
        if len(texts) > 2 or "x" in texts:
            raise InputError(texts[0])
        return numbers(texts)

    assert BatchedEncoder(encode, path="m")(list("abcde"))[:, 0].tolist() == [97, 98, 99, 100, 101]
    assert calls == ["abcde", "ab", "cde", "c", "de"]
    with pytest.raises(InputError, match=r"^x$"):
        BatchedEncoder(encode, path="m")(list("wxyz"))


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_rows_that_are_none_are_named(value):
    encoder = BatchedEncoder(lambda texts: value * numbers(texts), path="m")
    with pytest.raises(InputError, match=r"^m: .*'a'"):
        encoder(["b", "a"])
    allowed = BatchedEncoder(lambda texts: 0 * numbers(texts), path="m", zeros_allowed=True)
    assert allowed(["a"]).tolist() == [[0, 0]]


def test_rows_that_are_remembered_take_no_more_memory_than_allowed():
    calls = []

    def encode(texts):
        calls.append("".join(texts))
        return numbers(texts)

    encoder = BatchedEncoder(encode, path="m", max_bytes=3 * 2 * 4)  # three rows of two numbers
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
