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
    assert list(batching.batches({"d", "a", "c", "b"})) == [["a", "b", "c"], ["d"]]
    # 2 x 9 fits, 3 x 9 does not; one that is too long stands alone.
    lengths = [30, 9, 10, 0, 9, 9, 40]
    texts = [f"{n:0{length}}"[:length] for n, length in enumerate(lengths)]
    assert [[len(text) for text in batch] for batch in batching.batches(texts)] == [
        *([0, 9], [9, 9], [10], [30], [40])
    ]
    assert list(batching.batches([])) == []


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


def test_rows_that_are_remembered_take_no_more_memory_than_allowed(monkeypatch):
    monkeypatch.setattr(batching, "CACHE_BYTES", 3 * 2 * 4)  # three rows of two numbers
    calls = []

    def encode(texts):
        calls.append("".join(texts))
        return numbers(texts)

    encoder = BatchedEncoder(encode, path="m")
    encoder(["a", "b"])
    encoder(["a", "c"])
    assert calls == ["ab", "c"]
    assert encoder(["a", "d"])[:, 0].tolist() == [97, 100]  # a fourth: all are forgotten
    encoder(["d"])
    assert calls == ["ab", "c", "d", "d"]
