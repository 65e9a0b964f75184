import gzip

import numpy as np
import pytest
import tensorflow as tf

from model.errors import InputError
from model.sts_regression.data import vectors

GOOD = "the 1 2\ncat 3 -4e-1\n"


def file_with(tmp_path, text, name="vectors.txt"):
    path = tmp_path / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_wanted_words_are_read(tmp_path, name):
    found = vectors.load(file_with(tmp_path, GOOD, name), {"cat", "dog"}, unknown_as="zero")
    assert (found.words, found.dim) == (["cat"], 2)
    np.testing.assert_allclose(found.table, [[0, 0], [0, 0], [3, -0.4]])


def test_words_are_tried_as_they_stand_then_in_lower_case_and_counted(tmp_path):
    path = file_with(tmp_path, "may 1 1\nMay 2 2\n")
    found = vectors.load(path, {"May", "MAY", "june"}, unknown_as="mean")
    assert found.ids(["May", "MAY", "june", "june"]) == [3, 2, vectors.UNKNOWN, vectors.UNKNOWN]
    np.testing.assert_allclose(found.table[vectors.UNKNOWN], [1.5, 1.5])
    assert found.counts() == {
        "words": 4,
        "words_without_vector": 2,
        "different_words_without_vector": 1,
    }


def test_the_first_words_can_be_kept_besides(tmp_path):
    found = vectors.load(
        file_with(tmp_path, "a 1 1\nb 1 2\nc 1 3\n"), {"c"}, unknown_as="zero", first=1
    )
    assert found.words == ["a", "c"]


@pytest.mark.parametrize(
    ("text", "words"),
    [("2 3\nthe 1 2 3\ncat 1 2 3\n", ["the", "cat"]), (". . . 1 2\nthe 1 2\n", [". . .", "the"])],
    ids=["a line of sizes first", "a word with spaces"],
)
def test_forms_that_are_about(tmp_path, text, words):
    dim = 2 if words[0] == ". . ." else None
    path = file_with(tmp_path, text)
    assert vectors.load(path, set(words), unknown_as="zero", dim=dim).words == words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "dog 1\n", ":3: 1 numbers after the word; accepted: 2"),
        (GOOD + "dog 1 2 3\n", ":3: 3 numbers after the word; accepted: 2"),
        (GOOD + "dog 1 nan\n", ":3: nan of the word 'dog'; accepted: finite numbers"),
        (GOOD + "dog -Inf 1\n", ":3: -inf of the word 'dog'; accepted: finite numbers"),
        (GOOD + "cat 1 2\n", ":3: the word 'cat' again, first in line 2"),
        (b"the 1 2\nca\xff 1 2\n", ":2: the word b'ca\\xff' is not UTF-8"),
        ("the 1 2\ncat 1 x\n", ":2: b'x'; accepted: numbers such as"),
        ("the 1 2\ncat 1 1e99\n", ":2: 1e99; accepted: numbers that float32 can hold"),
        ("3 2\n" + GOOD, ":4: the file ends there; its first line says 3 words"),
        ("the 1 2\n", "has a vector for none of the 1 words"),
        ("", "has a vector for none"),
    ],
)
def test_bad_vectors_are_named(tmp_path, text, message):
    with pytest.raises(InputError) as error:
        vectors.load(file_with(tmp_path, text), {"cat"}, unknown_as="zero")
    assert message in str(error.value)


def test_a_width_can_be_demanded(tmp_path):
    with pytest.raises(InputError, match=":1: 2 numbers after the word; accepted: 300"):
        vectors.load(file_with(tmp_path, GOOD), {"cat"}, unknown_as="zero", dim=300)


def test_a_truncated_gzip_file_is_named(tmp_path):
    path = file_with(tmp_path, GOOD * 1, "vectors.gz")
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(InputError, match="damaged gzip file"):
        vectors.load(path, {"cat"}, unknown_as="zero")


def test_what_is_written_is_read_again(tmp_path):
    rows = np.array([[0.5, -1.25], [3, 1e-7]], np.float32)
    vectors.write(tmp_path / "v.txt", ["é", "b"], rows)
    found = vectors.load(tmp_path / "v.txt", {"é", "b"}, unknown_as="zero")
    np.testing.assert_allclose(found.table[2:], rows)


class Module(tf.Module):
    """As a hub module's: a word's length and first byte; words of one letter have none."""

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def word_vectors(self, inputs):
        lengths = tf.strings.length(inputs)
        first = tf.io.decode_raw(tf.strings.substr(inputs, 0, 1), tf.uint8)[:, 0]
        rows = tf.stack([lengths, tf.cast(first, tf.int32)], axis=1)
        return {"outputs": tf.cast(tf.where(lengths[:, None] > 1, rows, 0), tf.float32)}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("module"))
    made = Module()
    tf.saved_model.save(made, path, signatures={"word_vectors": made.word_vectors})
    return path


def test_a_module_gives_its_word_vectors(module, tmp_path):
    found = vectors.load(tmp_path / module, {"cat", "a"}, unknown_as="zero")
    assert found.words == ["cat"]
    np.testing.assert_allclose(found.table[2], [3, ord("c")])
    with pytest.raises(InputError, match="2 numbers a word; accepted: 300"):
        vectors.load(tmp_path / module, {"cat"}, unknown_as="zero", dim=300)


def test_a_module_without_them_is_named(tmp_path):
    tf.saved_model.save(tf.Module(), str(tmp_path))
    with pytest.raises(InputError, match="no signature word_vectors; found: none"):
        vectors.load(tmp_path, {"cat"}, unknown_as="zero")


def test_glove_840b_is_read(real_data):
    path = real_data / "glove" / "glove.840B.300d.head596.txt.gz"
    found = vectors.load(path, {"The", ",", "zyzzyva"}, unknown_as="zero", first=1000)
    assert (len(found.words), found.dim) == (596, 300)
