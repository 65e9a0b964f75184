"""Response suggestion: the index, what it finds, and what it refuses."""

import functools
import gzip
import io
import json
import shutil
import sys

import numpy as np
import pytest
import tensorflow as tf

from data_pipeline.pairs.tfrecord import encode_example, frame
from export import commands
from export.__main__ import main
from export.retrieval import codes as quantized
from export.retrieval import responses, search
from export.retrieval.responses import build_index
from model.errors import InputError

TEXTS = ["I am 20 years old", "no", "yes, I do", "word " * 50, "🎂", "caf\u00e9"]


@pytest.fixture(scope="module")
def module(shared):
    return shared / "module"


@pytest.fixture(scope="module", autouse=True)
def loaded_once():
    """A module is only read: each is loaded once for all tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(responses, "_load", functools.cache(responses._load))
        yield


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


@pytest.mark.parametrize("name", ["matrix.npy", "texts.bin", "offsets.npy"])
def test_a_damaged_index_is_made_anew(module, lines, tmp_path, name):
    found = np.array(build_index(module, lines, output=tmp_path / "index").matrix)
    damaged = tmp_path / "index" / name
    damaged.write_bytes(damaged.read_bytes()[:-5])
    again = build_index(module, lines, output=tmp_path / "index")
    np.testing.assert_array_equal(again.matrix, found)
    assert again.texts.read(5).decode() == TEXTS[5]


def test_a_damaged_module_is_named(shared, lines, tmp_path):
    damaged = tmp_path / "module"
    shutil.copytree(shared / "module", damaged)
    (damaged / "variables" / "variables.index").write_bytes(b"")
    with pytest.raises(InputError, match="a SavedModel that cannot be read"):
        build_index(damaged, lines, output=tmp_path / "index")


def test_inputs_that_are_not_utf8_are_named(monkeypatch):
    with pytest.raises(InputError, match=r"^--input: 'a\\udcff' is not UTF-8; accepted: text in"):
        list(commands._inputs(["fine", "a\udcff"]))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"yes\n\xff\nno\n"), "utf-8"))
    inputs = commands._inputs(["-"])
    assert next(inputs) == "yes"
    with pytest.raises(InputError, match=r"^--input -: line 2: '\\udcff\\n' is not UTF-8"):
        next(inputs)


def test_gzip_and_pairs_are_read_too(module, tmp_path):
    zipped, pairs = tmp_path / "r.txt.gz", tmp_path / "train-0.tfrecord"
    zipped.write_bytes(gzip.compress(b"one\r\ntwo\n"))
    pair = {"input": "how are you?", "response": "fine"}
    pairs.write_bytes(frame(encode_example(pair)))
    marked = tmp_path / "m[1].txt"  # not a pattern, as there is such a file
    marked.write_bytes(b"\xef\xbb\xbfone\n")
    expectations = ((zipped, [b"one", b"two"]), (pairs, [b"fine"]), (marked, [b"one"]))
    for path, expected in expectations:
        texts = build_index(module, path, output=tmp_path / path.stem, dtype="float32").texts
        assert [texts.read(row) for row in range(len(texts))] == expected


def test_lines_without_a_visible_character_are_no_texts(module, tmp_path):
    path = tmp_path / "r.txt"
    path.write_text("one\n\u00a0\u3000\n\x01\u2028\u200b\n \ntwo\n日本\n")
    texts = build_index(module, path, output=tmp_path / "index").texts
    assert [texts.read(row).decode() for row in range(len(texts))] == ["one", "two", "日本"]


def test_arguments_that_cannot_be_are_refused(module, lines, tmp_path):
    with pytest.raises(ValueError, match="dtype is 'int8'; float16 and float32 are accepted"):
        build_index(module, lines, output=tmp_path / "index", dtype="int8")
    found = build_index(module, lines, output=tmp_path / "index")
    with pytest.raises(ValueError, match="inputs is 'abc'; a list of texts is accepted"):
        search.search(found, "abc")
    with pytest.raises(ValueError, match="top is 0; 1 or more is accepted"):
        search.search(found, ["abc"], top=0)
    assert search.search(found, []) == []


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


def test_a_terminal_shows_any_text_on_one_line(shared, tmp_path, monkeypatch):
    (tmp_path / "texts.txt").write_text("snow \u2603\x1b[2Jand\tice\n")
    shown = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(shown, encoding="latin-1"))
    texts = ("--texts", str(tmp_path / "texts.txt"))
    main(["index", "--module", str(shared / "module"), *texts, "--input", "what?"])
    sys.stdout.flush()
    assert shown.getvalue().endswith(b"  snow \\u2603 [2Jand ice\n")


def test_new_files_are_added_without_encoding_the_old_ones(module, tmp_path, monkeypatch):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(f"{name} one\n{name} two\n")
    encoded = []
    encode = responses.Module.encode_responses
    monkeypatch.setattr(
        responses.Module,
        "encode_responses",
        lambda self, texts: (encoded.extend(texts[:]), encode(self, texts))[1],
    )

    def build(*patterns, **options):
        encoded.clear()
        index = build_index(module, patterns, output=tmp_path / "index", **options)
        return [index.texts.read(row).decode() for row in range(len(index.texts))], index

    texts, _ = build(tmp_path / "b.txt", tmp_path / "c.txt")
    assert texts == ["b one", "b two", "c one", "c two"]
    texts, index = build(tmp_path / "*.txt")
    assert texts == ["b one", "b two", "c one", "c two", "a one", "a two"]
    assert set(encoded[1:]) == {b"a one", b"a two"}  # the first tells the dimension
    np.testing.assert_allclose(index.matrix, encode(index.module, texts), atol=1e-3)
    files = json.loads((tmp_path / "index" / "index.json").read_text())["files"]
    assert [file["file"] for file in files.values()] == ["b.txt", "c.txt", "a.txt"]
    build(tmp_path / "*.txt")
    assert not encoded
    # A file that is no longer there, or another mode: all is made anew.
    assert build(tmp_path / "[ab].txt")[0] == ["a one", "a two", "b one", "b two"]
    build(tmp_path / "[ab].txt", mode="similar")
    assert len(encoded) == 5


def test_similar_texts_have_the_largest_cosine(module, lines, tmp_path):
    found = build_index(module, lines, mode="similar", dtype="float32")
    assert (tmp_path / "replies.txt.similar.index").is_dir()
    embed = found.module.root.signatures["serving_default"]
    cosines = embed(inputs=tf.constant(TEXTS))["outputs"] @ tf.transpose(
        embed(inputs=tf.constant(["no"]))["outputs"]
    )
    (best,) = search.search(found, ["no"], top=6)
    assert best[0] == (pytest.approx(1.0), "no")
    np.testing.assert_allclose(
        [score for score, _ in best], np.sort(cosines.numpy().ravel())[::-1], atol=1e-5
    )


@pytest.fixture
def many(tmp_path, monkeypatch):
    monkeypatch.setattr(responses, "CODES_FROM", 700)
    path = tmp_path / "many.txt"
    path.write_text("".join(f"a word {i} of {i * i % 97}\n" for i in range(800)))
    return path


def test_codes_find_what_exact_search_finds(module, many, tmp_path, monkeypatch):
    monkeypatch.setattr(search, "LEAST_RESCORED", 40)
    index = build_index(module, many, output=tmp_path / "index")
    said = ["a word", "67 words"]
    assert index.codes.ntotal == 800
    found, exact = (search.search(index, said, top=2, exact=exact) for exact in (False, True))
    for some, expected in zip(found, exact, strict=True):
        assert [text for _, text in some] == [text for _, text in expected]
        assert [score for score, _ in some] == pytest.approx([score for score, _ in expected])

    more = tmp_path / "more.txt"
    more.write_text("something else\n")
    index = build_index(module, [many, more], output=tmp_path / "index")
    assert index.codes.ntotal == 801
    ((best,),) = search.search(index, ["something else"], top=1)
    assert best[1] == search.search(index, ["something else"], top=1, exact=True)[0][0][1]


@pytest.mark.parametrize("lost", ["all", "end"])
def test_damaged_codes_are_made_anew(module, many, tmp_path, lost):
    codes = tmp_path / "index" / "codes.faiss"
    build_index(module, many, output=tmp_path / "index")
    codes.write_bytes(codes.read_bytes()[:-5]) if lost == "end" else codes.unlink()
    assert build_index(module, many, output=tmp_path / "index").codes.ntotal == 800


def test_rows_of_any_length_have_codes():
    matrix = np.random.default_rng(0).standard_normal((900, 7)).astype(np.float16)
    codes = quantized.learn(matrix[:800])
    quantized.add(codes, matrix)
    assert (codes.d, codes.ntotal) == (10, 900)
    inputs = matrix[:5].astype(np.float32) * 3
    rows = quantized.candidates(codes, inputs, count=50)
    best = np.argmax(inputs @ matrix.astype(np.float32).T, axis=1)
    assert all(row in some for row, some in zip(best, rows, strict=True))
    assert len(set(rows[0])) == 50


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--responses", "nowhere.txt", "'nowhere.txt' cannot be read: [Errno 2]"),
        ("--texts", "nowhere*.txt", "'nowhere*.txt' matches no file of texts"),
        ("--responses", "empty.txt", "holds no text"),
        ("--responses", "broken.txt.gz", "cannot be read"),
        ("--module", "home", "was not written by `python -m export`"),
        ("--output", "home", "exists and is not an index"),
        ("--output", "site", "holds 'page.html', which is not part of an index"),
        ("--top", "0", "--top: 0; accepted: 1 or more"),
    ],
)
def test_what_cannot_be_is_refused(shared, lines, tmp_path, monkeypatch, option, value, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").write_text("years of work")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.json").write_text('{"mode": "mine"}')
    (tmp_path / "site" / "page.html").write_text("mine")
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "broken.txt.gz").write_bytes(gzip.compress(b"one\ntwo\n")[:-9])
    texts = "--texts" if option == "--texts" else "--responses"
    options = {"--module": str(shared / "module"), texts: str(lines)} | {option: value}
    with pytest.raises(SystemExit) as raised:
        main(["index", *(part for pair in options.items() for part in pair)])
    message = str(raised.value.code)
    assert message.startswith("error: ")
    assert says in message
    assert "\n" not in message
    assert (tmp_path / "home" / "thesis.txt").exists()
