"""What evaluation sets say, taken out of the pairs."""

import gzip
import json

import orjson
import pytest

from common.errors import InputError
from common.text_files import normalize
from data_pipeline.pairs.decontamination import Excluded, read_texts
from data_pipeline.storage.inputs import find_inputs


@pytest.fixture
def texts_in(tmp_path):
    """The texts of a file with this name and content."""

    def read(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        (file,) = find_inputs([str(path)])
        return read_texts(file)

    return read


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("lines.txt", "One fish.\r\nTwo fish.\r\n"),
        ("snli.txt", "neutral\tOne fish.\tTwo fish.\n"),
        ("sts.csv", "news\t4.2\tOne fish.\tTwo fish.\nnews\t4.2\t'5\" pipe\tx, y\n"),
        ("sts.tsv", '\ufeffnews\tOne fish."\tTwo fish.\n'),
        ("some.csv", '1,"One fish.","Two fish."\r\n2,"with a\ttab in it",y\r\n3,Red fish,z\r\n'),
        ("nli.jsonl", '[[[{"sentence1": "One fish."}]]]\n\n{"n": 3, "x": [null, "Two fish."]}'),
        ("cqa.xml", "<a><b>One f&#105;sh.</b><c d='e'>Two fish.</c></a>"),
    ],
)
def test_texts_of_every_kind_of_file_plain_and_compressed(texts_in, name, content):
    wanted = {"one fish", "two fish"}
    assert wanted <= set(map(normalize, texts_in(name, content)))
    packed = gzip.compress(content.encode())
    assert wanted <= set(map(normalize, texts_in(f"{name}.gz", packed)))


def test_fields_of_csv_may_have_line_ends_quotes_and_any_length(texts_in):
    long = "word " * 50_000
    found = texts_in("eval.csv", f'id,text\r\n2,"Over\r\ntwo lines"\r\n3,"a ""b"", {long}"\r\n')
    assert {"Over\r\ntwo lines", f'a "b", {long}'} <= set(found)


def test_only_a_line_feed_ends_a_line_and_depth_is_no_matter(texts_in):
    text = "one\u2028two\x85three"
    assert texts_in("a.txt", f"{text}\r\nmore\n")[0].rstrip() == text
    assert texts_in("a.jsonl", f'"{text}"\r\n"more"\n') == [text, "more"]
    nested = "[" * 1000 + '"a text", {"k": ["another"]}' + "]" * 1000
    assert sorted(texts_in("b.jsonl", nested)) == ["a text", "another"]
    assert texts_in("c.jsonl", '{"n": NaN, "x": ["NaN \\" text", -Infinity]}') == ['NaN " text']


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", b"x"),
        ("a.gz", gzip.compress(b"x", mtime=0)),
        ("a.txt.gz", b"plain"),
        ("a.txt.gz", gzip.compress(b"some words", mtime=0)[:-5]),
        ("a.txt", b"caf\xe9"),
        ("a.csv", b'a,"5" pipe\n'),
        ("a.csv", b"\n\n"),
        ("a.jsonl", b'"fine"\n\n{"a": '),
        ("a.xml", b"<a><b></a>"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_one_error(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"--exclude_texts: .*{path}"):
        Excluded([str(path)])
    with pytest.raises(InputError, match=r"--exclude_texts: .*nowhere"):
        Excluded([str(tmp_path / "nowhere.txt")])


def test_what_is_found_in_which_file(tmp_path):
    for name, content in (("b.txt", "One fish. Two fish.\nyes\n"), ("a.txt", "one fish two fish")):
        (tmp_path / name).write_text(content)
    paths = [str(tmp_path / "b.txt"), str(tmp_path / "a.txt")]
    excluded = Excluded(paths)
    assert excluded.paths == paths
    assert excluded.find("ONE fish, two fish!") == paths[0]
    for other in ("yes", "one fish two", "onefish two fish", "one fish two fish more"):
        assert excluded.find(other) is None
    # Of halves, the whole message counts too.
    assert excluded.find_pair("One fish!", "two FISH") is None
    assert Excluded(paths, are_halves=True).find_pair("One fish!", "two FISH") == paths[0]
    assert excluded.find_pair("other", "words", None, "one fish two fish") == paths[0]


def test_pairs_are_taken_out_counted_and_listed(
    run, write_dump, comment, tmp_path, statistics_of, stored, caplog
):
    rows = []
    for number, (question, answer) in enumerate(
        [
            ("A man is playing a flute.", "I like the flute a lot"),
            ("What is your age?", "Two dogs run   through snow!"),
            ("Where do you live?", "In a house by the sea"),
        ]
    ):
        rows.append(comment(f"q{number}", body=question))
        rows.append(comment(f"a{number}", f"t1_q{number}", body=answer))
    dump, output = write_dump("RC.gz", rows), tmp_path / "out"
    sts, others = tmp_path / "sts.tsv", tmp_path / "others.txt.gz"
    sts.write_text("news\t2.5\tA MAN is playing a \uff26lute\tsomething else\n")
    others.write_bytes(gzip.compress(b"two dogs run through snow\n"))
    files = ("--input", dump, "--output", output, "--format", "jsonl")
    run(*files, "--exclude_texts", sts, "--exclude_texts", others)
    assert [pair["response_id"] for pair in stored(output)] == ["a2"]
    statistics = statistics_of(output)
    assert (statistics["pairs"], statistics["excluded"]) == (3, 2)
    assert statistics["train_pairs"] + statistics["test_pairs"] == 1
    lines = (output / "excluded-00000-of-00001.jsonl").read_bytes().splitlines()
    listed = sorted(map(orjson.loads, lines), key=lambda line: line["input_id"])
    assert listed[0] == {
        "file": str(sts),
        "input": "A man is playing a flute.",
        "response": "I like the flute a lot",
        "input_id": "q0",
        "response_id": "a0",
    }
    assert (listed[1]["file"], listed[1]["response_id"]) == (str(others), "a1")
    card = json.loads((output / "data_card.json").read_text())
    assert card["counts"]["excluded"] == 2
    assert [pair["response"] for pair in card["example_pairs"]] == ["In a house by the sea"]
    # A text of the context counts, other texts make another job, and no match is warned of.
    sts.write_text("What is your age")
    with pytest.raises(SystemExit, match="exclude_texts"):
        run(*files, "--exclude_texts", sts)
    reply = comment("b1", "t1_a1", body="Three of them!")
    write_dump("RC.gz", [*rows, reply])
    run(*files, "--exclude_texts", sts, "--context_turns", 1, "--overwrite")
    assert statistics_of(output)["excluded"] == 2  # the answer, and the reply to that
    assert "warning: --exclude_texts" not in caplog.text
    sts.write_text("42")
    run(*files, "--exclude_texts", sts, "--overwrite")
    assert (output / "excluded-00000-of-00001.jsonl").read_bytes() == b""
    assert "warning: --exclude_texts" in caplog.text
