"""The texts that a teacher embeds: read from pairs and text files, each once, drawn by hashes."""

import gzip
import hashlib

import pytest

from data_pipeline.pairs.tfrecord import encode_example, frame
from model.errors import InputError
from model.teacher.texts import draw, find_files, read_texts, text_id


def written(path, *records):
    path.write_bytes(b"".join(frame(encode_example(record)) for record in records))
    return path


def test_an_id_is_a_hash_of_the_text():
    # BLAKE2b of 8 bytes; `printf any | b2sum -l 64` prints the same.
    assert text_id("any") == hashlib.blake2b(b"any", digest_size=8).hexdigest()
    assert len(text_id("héllo")) == 16


def test_both_texts_of_pairs_and_every_line_are_read(tmp_path):
    replies = written(tmp_path / "train-0.tfrecord", {"input": "a b", "response": " c ", "x": "y"})
    nli = written(tmp_path / "nli-0.tfrecord", {"premise": "p", "hypothesis": "h", "label": 2})
    lines = tmp_path / "lines.txt.gz"
    lines.write_bytes(gzip.compress("\ufeffone\n\n  two é \n".encode()))
    files = find_files([str(tmp_path / "*.tfrecord"), str(lines), str(nli)])
    assert files == sorted([replies, nli, lines])
    assert list(read_texts([replies, nli, lines])) == ["a b", "c", "p", "h", "one", "", "two é"]


def test_the_words_of_a_vocabulary_are_texts(tmp_path):
    (tmp_path / "words.tsv").write_text("the\t9\n\tb\t2\n")
    assert list(read_texts(find_files([str(tmp_path / "words.tsv")]))) == ["the", "b"]


def test_each_different_text_is_drawn_once_in_the_order_of_the_hashes():
    drawn = draw(["b", "a", "", "b", "c"])
    assert (drawn.read, drawn.different) == (5, 3)
    assert drawn.texts == sorted("abc", key=text_id)
    assert draw(["c", "b", "a"]).texts == drawn.texts


def test_a_sample_is_the_lowest_hashes_and_a_larger_one_adds_to_it():
    texts = [str(number) for number in range(100)]
    expected = sorted(texts, key=text_id)
    for limit in (1, 7, 99, 100, 101):
        drawn = draw(texts * 2, limit=limit)
        assert drawn.texts == expected[:limit]
        assert drawn.read == 200
        assert drawn.is_exact == (limit > 50)
        if drawn.is_exact:
            assert drawn.different == 100


def test_a_sample_holds_few_texts_and_estimates_how_many_there_are():
    drawn = draw((str(number % 50_000) for number in range(100_000)), limit=1000)
    assert (len(drawn.texts), drawn.read, drawn.is_exact) == (1000, 100_000, False)
    assert drawn.different == pytest.approx(50_000, rel=0.1)  # three standard deviations


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("nothing-*", "'.*nothing-.' matches no file; accepted: names and patterns"),
        ("sub", "'.*sub' is a folder; name its files: '.*sub/.'"),
        ("test-0.tfrecord", "'.*test-0.tfrecord' is held out; what a teacher embeds is trained on"),
        ("validation-*", "'.*validation-0.tfrecord' is held out"),
        ("a.csv", "'.*a.csv' does not say by its name how to read it; accepted: pairs in"),
    ],
)
def test_files_that_are_none_are_refused(tmp_path, pattern, message):
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "test-0.tfrecord", "validation-0.tfrecord"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=f"^--texts: {message}"):
        find_files([str(tmp_path / pattern)])


def test_what_cannot_be_read_is_named_with_its_record_or_line(tmp_path):
    good = frame(encode_example({"input": "a", "response": "b"}))
    other = frame(encode_example({"word": "a"}))
    cases = {
        "cut.tfrecord": (good + good[:-1], "cannot be read: the file ends inside a record"),
        "bits.tfrecord": (good + good[:-1] + b"x", "record 2: the record does not fit its check"),
        "other.tfrecord": (good + other, "record 2: has none of the texts input, response, prem"),
        "latin.txt": ("fine\ncaf\xe9\n".encode("latin-1"), "line 2: .* can't decode"),
        "pairs.tsv": (b"the\t9\na question\tits answer\n", "line 2: no word, a tab and a count"),
        "plain.txt.gz": (b"no archive", "cannot be read: Not a gzipped file"),
    }
    for name, (content, message) in cases.items():
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"^--texts: '{path}',? {message}"):
            list(read_texts([path]))
