"""Word2vec's binary format; test_vectors.py of the regressors has the text formats."""

import gzip

import numpy as np
import pytest

from model.errors import InputError
from model.initializers import vectors_file

HEADER = b"2 3\n"
WORDS = {"the": [1.0, 2.0, -0.5], "caf\u00e9": [0.0, 1e-3, 4.0]}


def binary(header=HEADER, newline=b"\n"):
    rows = (
        word.encode() + b" " + np.array(row, "<f4").tobytes() + newline
        for word, row in WORDS.items()
    )
    return header + b"".join(rows)


# word2vec ends each row with a line end, gensim does not.
@pytest.mark.parametrize("newline", [b"\n", b""])
@pytest.mark.parametrize("name", ["vectors.bin", "vectors.bin.gz"])
def test_words_and_numbers(tmp_path, name, newline):
    path = tmp_path / name
    content = binary(newline=newline)
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    found = {entry.word: entry.vector().tolist() for entry in vectors_file.entries(path)}
    assert found == {word: np.array(row, np.float32).tolist() for word, row in WORDS.items()}


@pytest.mark.parametrize(
    ("content", "dim", "says"),
    [
        (b"no header\n", None, "no header of word2vec's binary format: b'no header'"),
        (binary(b"3 3\n"), None, "word 3: no word and a space"),
        (binary()[:-4], None, "word 2: the file ends there; its header says 2 words"),
        (binary(), 300, "3 numbers a word; accepted: 300"),
        (binary().replace(b"the", b"th\xff"), None, r"word 1: the word b'th\xff' is not UTF-8"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, content, dim, says):
    path = tmp_path / "vectors.bin"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        list(vectors_file.entries(path, dim=dim))
    assert str(raised.value).startswith(str(path))
    assert says in str(raised.value)


def test_a_number_that_is_not_finite_is_named(tmp_path):
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"1 2\nthe " + np.array([1, np.nan], "<f4").tobytes())
    (entry,) = vectors_file.entries(path)
    with pytest.raises(InputError, match=r"word 1: .*nan.*; accepted: numbers that float32"):
        entry.vector()
