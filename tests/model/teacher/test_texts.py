"""The texts that a teacher embeds: read from pairs and text files, each once, drawn by hashes."""

import gzip

import pytest

from common.errors import InputError
from data_pipeline.pairs.tfrecord import encode_example, frame
from model.commands import TeacherOptions
from model.teacher.command import run
from model.teacher.texts import draw, find_files, read_texts, text_id


def written(path, *records):
    path.write_bytes(b"".join(frame(encode_example(record)) for record in records))
    return path


def test_texts_of_pairs_lines_and_words_are_read(tmp_path):
    replies = written(tmp_path / "train-0.tfrecord", {"input": "a b", "response": " c ", "x": "y"})
    nli = written(tmp_path / "nli-0.tfrecord", {"premise": "p", "hypothesis": "h", "label": 2})
    lines = tmp_path / "lines.txt.gz"
    # The third and the fourth have no visible character.
    lines.write_bytes(gzip.compress("\ufeffone\n\n\u200b\x07\n\u3164\ufe0f\n  two é \n".encode()))
    words = tmp_path / "words.tsv"
    words.write_text("the\t9\n\tb\t2\n")
    files = find_files([str(tmp_path / "*.tfrecord"), str(lines), str(nli), str(words)])
    assert files == [nli, replies, lines, words]  # in the order given, each once
    found = list(read_texts([replies, nli, lines, words]))
    assert found == ["a b", "c", "p", "h", "one", "two é", "the", "b"]


def test_each_different_text_is_drawn_once_and_a_sample_is_the_lowest_hashes():
    texts = [str(number) for number in range(100)]
    for limit in (1, 7, 99, 100, 101):
        assert draw(texts * 2, limit=limit) == (sorted(texts, key=text_id)[:limit], 200)


@pytest.mark.parametrize("pattern", ["nothing-*", "sub", "test-0.tfrecord", "val*", "a.csv"])
def test_files_that_are_none_are_refused(tmp_path, pattern):
    (tmp_path / "sub").mkdir()
    for name in ("a.csv", "test-0.tfrecord", "validation-0.tfrecord"):
        (tmp_path / name).touch()
    texts = (str(tmp_path / pattern),)
    with pytest.raises(InputError, match="--texts: "):
        run(TeacherOptions(encoder="none", texts=texts, output=tmp_path / "out"))


GOOD = frame(encode_example({"input": "a", "response": "b"}))
OTHER = frame(encode_example({"word": "a"}))


@pytest.mark.parametrize(
    ("name", "content", "after"),
    [
        ("cut.tfrecord", GOOD + GOOD + GOOD[:-1], 2),
        ("other.tfrecord", GOOD + OTHER, 1),
        ("latin.txt", b"fine\ncaf\xe9\n", 1),
        ("pairs.tsv", b"the\t9\na question\tits answer\n", 1),
        ("plain.txt.gz", b"no archive", 0),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(tmp_path, name, content, after):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}', after {after} "):
        list(read_texts([tmp_path / name]))
