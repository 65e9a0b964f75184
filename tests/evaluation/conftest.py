import sys

import numpy as np
import pytest

from evaluation.__main__ import main


class FakeEncoder:
    """Stands in for a module: a vector a sentence, and other vectors for responses if given."""

    def __init__(self, vectors, responses=None):
        self.vectors = vectors
        self.responses = vectors if responses is None else responses

    def encode(self, sentences):
        return np.array([self.vectors[text] for text in sentences], dtype=np.float32)

    encode_inputs = encode

    def encode_responses(self, sentences):
        return np.array([self.responses[text] for text in sentences], dtype=np.float32)


class WordEncoder:
    """Hashes words to dimensions: enough for real files, where any text may come."""

    def encode(self, sentences):
        rows = np.full((len(sentences), 512), 1e-3, dtype=np.float32)
        for row, text in zip(rows, sentences, strict=True):
            for word in text.lower().split():
                row[sum(word.encode()) * 31 % 512] += 1.0
        return rows

    encode_inputs = encode_responses = encode


@pytest.fixture
def fake_encoder():
    return FakeEncoder


@pytest.fixture
def word_encoder():
    return WordEncoder()


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command and return what it prints."""

    def run_command(*argv):
        monkeypatch.setattr(sys, "argv", ["evaluation", *map(str, argv)])
        main()
        return capsys.readouterr().out

    return run_command


@pytest.fixture
def fails():
    """Run a command that must fail with one line, and return the line."""

    def run_command(*argv):
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in argv])
        line = stopped.value.code
        assert isinstance(line, str)
        assert line.startswith("error: ")
        assert "\n" not in line
        return line

    return run_command


@pytest.fixture
def write_records(write_text):
    """Write a TFRecord file of tf.Examples, each a dict of texts, and return its path."""

    def write(name, examples):
        from common.tfrecord import encode_example, frame

        return write_text(name, b"".join(frame(encode_example(each)) for each in examples))

    return write


@pytest.fixture
def xml_file(write_text):
    """Write a question file: rows of (query id, subject, body, related id, rank, label, text)."""

    def write(name, rows):
        lines = ['<?xml version="1.0" encoding="utf-8"?>', '<xml version="1.0">']
        for query, subject, body, related, rank, label, text in rows:
            lines += [
                f'<OrgQuestion ORGQ_ID="{query}">',
                f"<OrgQSubject>{subject}</OrgQSubject><OrgQBody>{body}</OrgQBody>",
                f'<Thread THREAD_SEQUENCE="{related}">',
                f'<RelQuestion RELQ_ID="{related}" RELQ_RANKING_ORDER="{rank}" '
                f'RELQ_RELEVANCE2ORGQ="{label}">',
                f"<RelQSubject>{text}</RelQSubject><RelQBody></RelQBody></RelQuestion>",
                '<RelComment RELC_ID="c"><RelCText>a comment</RelCText></RelComment>',
                "</Thread></OrgQuestion>",
            ]
        return write_text(name, "\n".join([*lines, "</xml>"]))

    return write


@pytest.fixture(scope="session")
def module(save):
    """Two lines of somebody else's TensorFlow."""
    import tensorflow as tf

    def counts(texts):
        letters = [tf.strings.regex_replace(texts, f"[^{x}]", "") for x in "adehnorstu"]
        return tf.stack([tf.cast(tf.strings.length(x), tf.float32) + 0.1 for x in letters], 1)

    return save(counts)
