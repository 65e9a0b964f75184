"""Response suggestion: the index, what it finds, and what it refuses."""

import csv
import gzip
import io
import json
import sys

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from common.tfrecord import encode_example, frame
from export.__main__ import main
from export.retrieval import codes as quantized
from export.retrieval import index as indices
from export.retrieval import search
from export.retrieval.index import build_index

TEXTS = ["I am 20 years old", "no", "yes, I do", "word " * 50, "🎂", "caf\u00e9"]
STRIPPED = [text.strip() for text in TEXTS]

pytestmark = pytest.mark.usefixtures("loaded_once")


@pytest.fixture(scope="module")
def module(shared):
    return shared / "module"


@pytest.fixture
def encoded(monkeypatch):
    """The texts that are encoded in a test."""
    texts, load = [], indices._load

    def noting(*given):
        module = load(*given)

        def noted(some):
            texts.extend(some)
            return module.encode_responses(some)

        return module._replace(encode_responses=noted)

    monkeypatch.setattr(indices, "_load", noting)
    return texts


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "replies.txt"
    path.write_text("\n".join([*TEXTS[:3], "", " \u200b\x01", "\u3164", *TEXTS[3:]]) + "\n")
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
    monkeypatch.setattr(indices, "BLOCK", 4)
    monkeypatch.setattr(indices, "BATCH", 3)
    zipped, pairs = tmp_path / "r.txt.gz", tmp_path / "train-0.tfrecord"
    zipped.write_bytes(gzip.compress(b"one\r\ntwo\n"))
    pairs.write_bytes(frame(encode_example({"input": "how are you?", "response": "fine"})))
    marked = tmp_path / "m[1].txt"  # not a pattern, as there is such a file
    marked.write_bytes(b"\xef\xbb\xbf three \n\xc2\xa0\n")
    found = build_index(module, [lines, marked, zipped, pairs], output=tmp_path / "index")
    texts = [*STRIPPED, "three", "one", "two", "fine"]
    assert found.texts.to_pylist() == texts
    np.testing.assert_allclose(found.matrix, found.module.encode_responses(texts), atol=2e-3)
    assert isinstance(found.matrix, np.memmap)
    assert found.matrix.dtype == np.float16


def test_the_best_are_those_that_the_module_ranks_first(module, lines, tmp_path):
    found = build_index(module, lines, output=tmp_path / "index")
    said = ["How old are you?"]
    (best,) = search.search(found, said, top=6)
    rank = tf.saved_model.load(str(module)).signatures["rank_responses"]
    ranked = rank(input=tf.constant(said), responses=tf.constant(TEXTS))["scores"].numpy()
    assert [each.text for each in best] == [STRIPPED[row] for row in np.argsort(-ranked)]
    np.testing.assert_allclose([each.score for each in best], np.sort(ranked)[::-1], atol=5e-3)
    for wrong in ({"inputs": "abc"}, {"inputs": ["abc"], "top": 0}):
        with pytest.raises(ValueError, match="accepted"):
            search.search(found, **wrong)
    assert search.search(found, []) == []


def test_of_pairs_similar_texts_are_sought_among_both_each_once(module, tmp_path):
    said = ("how are you?", "fine", "good")
    for number, reply in enumerate(said[1:]):
        pair = encode_example({"input": said[0], "response": reply})
        (tmp_path / f"train-{number}.tfrecord").write_bytes(frame(pair) * 2)
    (tmp_path / "train-2.tfrecord").touch()
    options = {"output": tmp_path / "index", "mode": "similar"}
    found = build_index(module, [tmp_path / "train-0.tfrecord"], **options)
    assert found.texts.to_pylist() == [*said[:2]]
    found = build_index(module, [f"{tmp_path}/train-*"], **options)
    assert sorted(found.texts.to_pylist()) == sorted(said)


def test_of_pairs_messages_with_ids_are_there_once_and_can_be_removed(module, tmp_path):
    texts = ("input", "response")
    pairs = [dict(zip(texts, ends, strict=True)) for ends in (("a", "b"), ("b", "same"))]
    pairs.append({"input": "a", "response": "same"})
    for pair, ids in zip(pairs, ("12", "23", "14"), strict=True):
        pair |= {f"{text}_id": own_id for text, own_id in zip(texts, ids, strict=True)}
    (tmp_path / "a.tfrecord").write_bytes(b"".join(map(frame, map(encode_example, pairs))))
    options = {"output": tmp_path / "index", "mode": "similar"}
    found = build_index(module, tmp_path / "a.tfrecord", **options)
    assert found.table.column("id").to_pylist() == ["1", "2", "3", "4"]
    assert found.texts.to_pylist() == ["a", "b", "same", "same"]
    found = build_index(module, tmp_path / "a.tfrecord", **options, remove=["3"])
    assert found.table.column("id").to_pylist() == ["1", "2", "4"]


def test_the_command_answers(shared, write_table, capsys, monkeypatch):
    table = write_table("jsonl")
    command = ["index", "--module", shared / "module", "--texts", table]
    command = [*map(str, command), "--text_field", "question", "--id_field", "no"]
    main([*command, "--remove", "08", "--input", "How old are you?", "--top", "2"])
    out = capsys.readouterr().out
    assert "2 responses, 7 numbers each" in out
    assert out.count("\n  1  ") == out.count("\n  2  ") == 1
    assert '"id": "7", "answer": "I am 20; honest"' in out
    assert '"08"' not in out
    assert (table.parent / "faq.jsonl.index" / "matrix.npy").exists()

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


def test_new_files_are_added_without_encoding_the_old_ones(module, tmp_path, encoded):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(f"{name} one\n{name} two\n")

    def build(*patterns, **options):
        encoded.clear()
        index = build_index(module, patterns, output=tmp_path / "index", **options)
        return index.texts.to_pylist(), index

    texts, _ = build(tmp_path / "b.txt", tmp_path / "c.txt")
    assert texts == ["b one", "b two", "c one", "c two"]
    texts, index = build(tmp_path / "*.txt")
    assert texts == ["b one", "b two", "c one", "c two", "a one", "a two"]
    assert set(encoded) == {"a one", "a two"}
    vectors = index.module.encode_responses(texts)
    np.testing.assert_allclose(index.matrix, vectors, atol=1e-3)
    files = json.loads((tmp_path / "index" / "index.json").read_text())["files"]
    assert list(files.values()) == ["b.txt", "c.txt", "a.txt"]
    inode = (tmp_path / "index").stat().st_ino
    build(tmp_path / "*.txt")
    assert not encoded
    assert (tmp_path / "index").stat().st_ino == inode
    # A file that is no longer there or has changed, or another mode: all is made anew.
    assert build(tmp_path / "[ab].txt")[0] == ["a one", "a two", "b one", "b two"]
    (tmp_path / "b.txt").write_text("b three\n")
    assert build(tmp_path / "[ab].txt")[0] == ["a one", "a two", "b three"]
    build(tmp_path / "[ab].txt", mode="similar")
    assert len(encoded) == 3
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", "b.txt", "c.txt", "index"}


ROWS = [
    {"no": "7", "question": "How old are you?\nReally?", "answer": "I am 20; honest"},
    {"no": "1e3", "question": 'Is it "safe", here?', "answer": ""},
    {"no": "9", "question": " \n", "answer": "of nothing"},
    {"no": "08", "question": "no", "answer": "yes"},
]


@pytest.fixture
def write_table(tmp_path):
    def write(kind, rows=ROWS):
        path = tmp_path / f"faq.{kind}"
        with path.open("w", newline="") as file:
            if kind == "jsonl":
                file.writelines(json.dumps(row) + "\n" for row in rows)
            else:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
        return path

    return write


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_tables_give_multi_line_texts_ids_and_fields(module, write_table, kind):
    named = {"text_field": "question", "id_field": "no"}
    index = build_index(module, write_table(kind), **named)
    assert index.texts.to_pylist() == [ROWS[row]["question"] for row in (0, 1, 3)]
    (best,) = search.search(index, ["How old are you?"], top=9)
    found = {each.id: each for each in best}
    assert set(found) == {"7", "1e3", "08"}
    assert found["7"].text == "How old are you?\nReally?"
    assert found["7"].fields == {"answer": "I am 20; honest"}
    with pytest.raises(InputError, match="'08'"):
        build_index(module, write_table(kind, [*ROWS, ROWS[3]]), **named)


def test_a_list_is_indexed_as_a_table_is(module, tmp_path):
    index = build_index(module, rows=["no", "yes, I do"], output=tmp_path / "texts")
    assert index.table["text"].to_pylist() == ["no", "yes, I do"]
    assert index.table["id"].to_pylist() == [None, None]
    rows = [{"id": 5, "text": "yes, I do", "rank": [1, None]}, {"id": "b", "text": "word"}]
    index = build_index(module, rows=rows, output=tmp_path / "rows")
    (best,) = search.search(index, ["How old are you?"])
    assert {each.id: (each.text, each.fields) for each in best} == {
        "5": ("yes, I do", {"rank": [1, None]}),
        "b": ("word", {}),
    }
    assert build_index(module, output=tmp_path / "rows").table.equals(index.table)
    for wrong in (3, {"t": "b"}, {"text": 1}, {"text": "a", "id": 1.5}, {"text": "a"}):
        with pytest.raises(InputError, match=r"rows\.jsonl:2"):
            build_index(module, rows=[{"id": 1, "text": "a"}, wrong], output=tmp_path / "rows")
    for wrong in (3, {"text": {"a set"}}):
        with pytest.raises(InputError, match="rows"):
            build_index(module, rows=[wrong], output=tmp_path / "rows")
    for missing in ({}, {"responses": ["a.txt"], "output": tmp_path / "both"}):
        with pytest.raises(InputError, match="rows"):
            build_index(module, rows=["a"], **missing)


def test_texts_are_removed_by_id_also_when_the_index_is_made_anew(
    module, write_table, tmp_path, encoded
):
    named = {"text_field": "question", "id_field": "no", "output": tmp_path / "index"}
    table = write_table("csv")
    before = build_index(module, table, **named)
    vectors = np.array(before.matrix)
    encoded.clear()
    index = build_index(module, output=tmp_path / "index", remove=["1e3"])
    assert index.table.column("id").to_pylist() == ["7", "08"]
    np.testing.assert_array_equal(index.matrix, vectors[[0, 2]])
    assert not encoded
    assert len(build_index(module, table, **named).texts) == 2
    added = {"no": "10", "question": "a new one", "answer": "?"}
    index = build_index(module, write_table("csv", [*ROWS, added]), **named)
    assert index.table.column("id").to_pylist() == ["7", "08", "10"]
    for ids in (["11"], ["7", "08", "10"]):  # not there; none would be left
        with pytest.raises(InputError, match="--remove"):
            build_index(module, output=tmp_path / "index", remove=ids)


def test_what_was_removed_does_not_come_back_under_another_field_or_mode(
    module, write_table, tmp_path
):
    named = {"text_field": "question", "output": tmp_path / "index"}
    index = build_index(module, write_table("csv"), id_field="no", remove=["7"], **named)
    assert "7" not in index.table["id"].to_pylist()
    with pytest.raises(InputError, match="--id_field"):
        build_index(module, write_table("csv"), **named)
    with pytest.raises(InputError, match="--mode"):
        build_index(module, write_table("csv"), id_field="no", mode="similar", **named)
    again = build_index(module, write_table("csv", ROWS[:2]), id_field="no", **named)
    assert "7" not in again.table["id"].to_pylist()


@pytest.mark.parametrize("name", ["matrix.npy", "texts.arrow", "codes.faiss"])
def test_a_damaged_file_is_made_anew_or_refused(module, lines, tmp_path, monkeypatch, name):
    monkeypatch.setattr(indices, "CODES_FROM", 700)
    lines.write_text("".join(f"a word {i} of {i * i % 97}\n" for i in range(800)))
    output = tmp_path / "index"
    build_index(module, lines, output=output)
    whole = (output / name).read_bytes()
    for damaged in (whole[:-400] + bytes(400), whole[:-5]):
        (output / name).write_bytes(damaged)
        with pytest.raises(InputError, match=name):
            build_index(module, output=output)
        build_index(module, lines, output=output)
        assert (output / name).read_bytes() == whole


def test_similar_texts_have_the_largest_cosine(module, lines, tmp_path):
    found = build_index(module, lines, mode="similar")
    assert (tmp_path / "replies.txt.similar.index").is_dir()
    embeddings = tf.saved_model.load(str(module))(TEXTS).numpy()
    (best,) = search.search(found, ["no"], top=6)
    assert best[0][:2] == (pytest.approx(1.0, abs=2e-3), "no")
    cosines = np.sort(embeddings @ embeddings[1])[::-1]
    np.testing.assert_allclose([each.score for each in best], cosines, atol=2e-3)


def test_codes_find_what_exact_search_finds(module, tmp_path, monkeypatch):
    monkeypatch.setattr(indices, "CODES_FROM", 700)
    monkeypatch.setattr(search, "LEAST_RESCORED", 40)
    many, more, output = (tmp_path / name for name in ("many.txt", "more.txt", "index"))
    many.write_text("".join(f"a word {i} of {i * i % 97}\n" for i in range(800)))
    more.write_text("something else\n")
    index = build_index(module, many, output=output)
    said = ["a word", "67 words"]
    found, exact = (search.search(index, said, top=2, exact=exact) for exact in (False, True))
    for some, expected in zip(found, exact, strict=True):
        assert [each.text for each in some] == [each.text for each in expected]
        scores = [each.score for each in expected]
        assert [each.score for each in some] == pytest.approx(scores)
    index = build_index(module, [many, more], output=output)
    assert index.codes.ntotal == 801
    ((best,),) = search.search(index, ["something else"], top=1)
    assert best.text == search.search(index, ["something else"], top=1, exact=True)[0][0].text
    (output / "codes.faiss").unlink()
    assert build_index(module, [many, more], output=output).codes.ntotal == 801


@pytest.mark.parametrize(("top", "rank"), [(1, 99), (30, 299)])
def test_the_best_text_is_found_wherever_codes_rank_it_among_those_rescored(top, rank):
    class Codes:
        def search(self, inputs, count):
            return None, np.tile(np.arange(count), (len(inputs), 1))

    matrix = np.ones((400, 2), np.float16)
    matrix[rank] = 2
    _, rows = search.approximate_rows(Codes(), matrix, np.ones((1, 2), np.float32), top=top)
    assert rows[0, 0] == rank


def test_rows_of_any_length_have_codes_and_copies_come_in_file_order():
    """faiss lists equal scores by falling row."""
    matrix = np.random.default_rng(0).standard_normal((900, 7)).astype(np.float16)
    matrix[5::2] = matrix[5] * 3
    codes = quantized.learn(matrix[:800])
    quantized.add(codes, matrix)
    assert (codes.d, codes.ntotal) == (7, 900)
    inputs = matrix[:6].astype(np.float32) * 3
    _, rows = search.approximate_rows(codes, matrix, inputs, top=4)
    np.testing.assert_array_equal(rows, search.top_rows(matrix, inputs, top=4)[1])
    np.testing.assert_array_equal(rows[5], [5, 7, 9, 11])


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("--texts", "nowhere*.txt", "nowhere*.txt"),
        ("--texts", "empty.txt", "empty.txt"),
        ("--module", "home", "home"),
        ("--output", "home", "thesis.txt"),
        ("--texts", "table.csv", "--text_field"),
        ("--text_field", "text", "'text'"),
        ("--text_field", "n", "lines.jsonl:2: "),
    ],
)
def test_what_cannot_be_is_refused(shared, lines, tmp_path, monkeypatch, option, value, named):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "index.json").write_text('{"mode": "mine"}')
    (tmp_path / "home" / "thesis.txt").write_text("years of work")
    (tmp_path / "empty.txt").write_text("\n \n")
    (tmp_path / "table.csv").write_text("a,b\nc,d\n")
    (tmp_path / "lines.jsonl").write_text('{"n": "a"}\n{"n": 5}\n')
    options = {"--module": str(shared / "module"), "--texts": str(lines)} | {option: value}
    if option == "--text_field":
        options["--texts"] = "lines.jsonl"
    with pytest.raises(SystemExit, match="error: ") as raised:
        main(["index", *(part for pair in options.items() for part in pair)])
    assert named in raised.value.code
    assert (tmp_path / "home" / "thesis.txt").exists()


def test_a_model_without_replies_is_named(module, lines, monkeypatch):
    about = indices.identity.read(module)
    monkeypatch.setattr(
        indices.identity, "read", lambda _: about | {"signatures": ["serving_default"]}
    )
    with pytest.raises(InputError, match="encode_response"):
        indices._load.__wrapped__(module, "responses")
