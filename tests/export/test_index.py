"""Response suggestion: the index, what it finds, and what it refuses."""

import gzip
import io
import json

import numpy as np
import pytest
import tensorflow as tf

from data_pipeline.pairs.tfrecord import encode_example, frame
from export.__main__ import main
from export.retrieval import responses, search
from export.retrieval.responses import build_index

TEXTS = ["I am 20 years old", "no", "yes, I do", "word " * 50, "🎂", "caf\u00e9"]


@pytest.fixture(scope="module")
def module(shared):
    return shared / "module"


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "replies.txt"
    path.write_text("\n".join([*TEXTS[:3], "", "  ", *TEXTS[3:]]) + "\n")
    return path


def test_the_largest_dot_products_are_found_over_blocks(monkeypatch):
    monkeypatch.setattr(search, "BLOCK", 3)
    matrix = np.array([[1, 0], [5, 0], [0, 3], [5, 0], [4, 0], [-1, 9], [5, 0]], np.float16)
    inputs = np.array([[1, 0], [0, 1]], np.float32)
    scores, rows = search.top_rows(matrix, inputs, top=3)
    np.testing.assert_array_equal(rows, [[1, 3, 6], [5, 2, 0]])  # equal ones in their order
    np.testing.assert_array_equal(scores, [[5, 5, 5], [9, 3, 0]])
    _, rows = search.top_rows(matrix[:2], inputs[:1], top=10)
    np.testing.assert_array_equal(rows, [[1, 0]])


def test_an_index_holds_every_text_and_its_vector(module, lines, tmp_path, monkeypatch):
    monkeypatch.setattr(responses, "BLOCK", 4)
    monkeypatch.setattr(responses, "BATCH", 3)
    found = build_index(module, lines, output=tmp_path / "index", dtype="float32")
    texts = [found.texts.read(row).decode() for row in range(len(found.texts))]
    assert texts == [text.strip() for text in TEXTS]
    np.testing.assert_allclose(found.matrix, found.module.encode_responses(TEXTS), atol=1e-5)
    assert isinstance(found.matrix, np.memmap)
    assert json.loads((tmp_path / "index" / "index.json").read_text())["count"] == 6


def test_the_best_are_those_that_the_module_ranks_first(module, lines, tmp_path):
    found = build_index(module, lines, output=tmp_path / "index")
    assert found.matrix.dtype == np.float16
    said = ["How old are you?"]
    (best,) = search.search(found, said, top=6)
    ranked = found.module.root.signatures["rank_responses"](
        input=tf.constant(said), responses=tf.constant(TEXTS)
    )["scores"].numpy()
    expected = [TEXTS[row].strip() for row in np.argsort(-ranked)]
    assert [text for _, text in best] == expected
    np.testing.assert_allclose([score for score, _ in best], np.sort(ranked)[::-1], atol=5e-3)


def test_an_index_is_used_again_unless_something_changed(module, lines, tmp_path):
    output = tmp_path / "index"
    made = [build_index(module, lines, output=output) for _ in range(2)]
    first, second = (index.matrix.filename for index in made)
    assert first == second
    inode = output.stat().st_ino
    build_index(module, lines, output=output)
    assert output.stat().st_ino == inode
    lines.write_text("another one\n")
    assert len(build_index(module, lines, output=output).texts) == 1
    assert output.stat().st_ino != inode
    assert {path.name for path in tmp_path.iterdir()} == {"index", "replies.txt"}


def test_gzip_and_pairs_are_read_too(module, tmp_path):
    zipped, pairs = tmp_path / "r.txt.gz", tmp_path / "train-0.tfrecord"
    zipped.write_bytes(gzip.compress(b"one\r\ntwo\n"))
    pair = {"input": "how are you?", "response": "fine"}
    pairs.write_bytes(frame(encode_example(pair)))
    for path, expected in ((zipped, [b"one", b"two"]), (pairs, [b"fine"])):
        texts = build_index(module, path, output=tmp_path / path.stem, dtype="float32").texts
        assert [texts.read(row) for row in range(len(texts))] == expected


def test_the_command_answers(shared, lines, capsys, monkeypatch):
    command = ["index", "--module", str(shared / "module"), "--responses", str(lines)]
    main([*command, "--input", "How old are you?", "--top", "2"])
    out = capsys.readouterr().out
    assert "6 responses, 7 numbers each" in out
    assert out.count("\n  1  ") == out.count("\n  2  ") == 1
    assert "\n  3  " not in out
    assert (lines.parent / "replies.txt.index" / "matrix.npy").exists()

    monkeypatch.setattr("sys.stdin", io.StringIO("one?\n\ntwo?\n"))
    main([*command, "--input", "-", "--top", "1"])
    out = capsys.readouterr().out
    assert out.count("\n  1  ") == 2
    assert out.index("one?") < out.index("two?")


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--responses", "nowhere.txt", "--responses: "),
        ("--responses", "empty.txt", "holds no text"),
        ("--responses", "broken.gz", "cannot be read"),
        ("--module", "home", "was not written by `python -m export`"),
        ("--output", "home", "exists and is not an index"),
        ("--top", "0", "--top: 0; accepted is 1 or more"),
    ],
)
def test_what_cannot_be_is_refused(shared, lines, tmp_path, monkeypatch, option, value, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("years of work")
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"one\ntwo\n")[:-9])
    options = {"--module": str(shared / "module"), "--responses": str(lines)} | {option: value}
    with pytest.raises(SystemExit) as raised:
        main(["index", *(part for pair in options.items() for part in pair)])
    message = str(raised.value.code)
    assert message.startswith("error: ")
    assert says in message
    assert "\n" not in message
    assert (tmp_path / "home" / "thesis.txt").exists()
