"""Files of word vectors, and lines that are none."""

import gzip

import numpy as np
import pytest

from common import word_vectors
from common.errors import InputError

GOOD = "the 1 2\ncaf\u00e9 3 -4e-1\n"


def written(folder, content, name="vectors.txt"):
    data = content if isinstance(content, bytes) else content.encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("vectors.txt", GOOD),
        ("vectors.txt.gz", GOOD),
        ("vectors.vec", "2 2\n" + GOOD.replace("\n", " \r\n")),
    ],
)
def test_words_and_numbers(tmp_path, name, content):
    found = {
        entry.word: entry.vector() for entry in word_vectors.read(written(tmp_path, content, name))
    }
    assert list(found) == ["the", "caf\u00e9"]
    np.testing.assert_array_equal(list(found.values()), np.array([[1, 2], [3, -0.4]], np.float32))


def test_a_word_may_contain_spaces(tmp_path):
    for content in ("the 1 2\n. . . 1 2\n", "2 2\n. . . 1 2\nthe 1 2\n"):
        found = word_vectors.read(written(tmp_path, content))
        assert {entry.word for entry in found} == {"the", ". . ."}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (GOOD + "dog 1\n", ":3: "),
        (GOOD + "dog 1 2 3\n", ":3: "),
        (GOOD + "dog 1 nan\n", ":3: "),
        (GOOD + "dog 1 x\n", ":3: "),
        (GOOD + "dog 1 1e99\n", ":3: "),
        (b"the 1 2\nca\xff 1 2\n", ":2: "),
        ("3 2\n" + GOOD, ":3: "),
        ("2 3\n" + GOOD, ":2: "),
    ],
)
def test_a_wrong_line_is_named(tmp_path, content, place):
    path = written(tmp_path, content)
    with pytest.raises(InputError) as raised:
        [entry.vector() for entry in word_vectors.read(path)]
    assert str(raised.value).startswith(f"{path}{place}")


def test_a_cut_file_is_named(tmp_path):
    path = written(tmp_path, GOOD, "vectors.gz")
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(InputError, match=str(path)):
        list(word_vectors.read(path))
