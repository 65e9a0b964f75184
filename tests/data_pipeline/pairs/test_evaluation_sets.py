"""`--exclude_texts` through the whole command: what is taken out, counted and written down."""

import gzip
import json
import re

import orjson
import pytest

from data_pipeline.pairs.decontamination import Excluded, read_texts


@pytest.fixture
def dump(write_dump, comment):
    """Three questions and their answers."""
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
    return write_dump("RC.gz", rows)


FILES = {
    "lines.txt": "a man is playing a flute\r\nnothing\r\n",
    "sts.tsv": "news\t2.5\tA man is playing a flute.\tsomething else\n",
    "sts.csv": "news\t2.5\tsomething else\tA MAN is playing a \uff26lute\n",
    "snli.jsonl": orjson.dumps({"a": [{"b": "A man\u2028is playing a flute"}], "c": 1}).decode(),
    "cqa.xml": "<?xml version='1.0' encoding='UTF-8'?><a><b>A man is &#112;laying a flute</b></a>",
}


@pytest.mark.parametrize("name", FILES)
def test_pairs_are_taken_out_counted_and_listed(run, dump, tmp_path, statistics_of, stored, name):
    plain, others, output = tmp_path / name, tmp_path / "others.txt.gz", tmp_path / "out"
    plain.write_bytes(b"\xef\xbb\xbf" + FILES[name].encode())
    others.write_bytes(gzip.compress(b"two dogs run through snow\n"))
    run(
        *("--input", dump, "--output", output, "--format", "jsonl"),
        *("--exclude_texts", plain, others),
    )
    assert [pair["response_id"] for pair in stored(output)] == ["a2"]
    statistics = statistics_of(output)
    assert (statistics["pairs"], statistics["excluded"]) == (3, 2)
    assert statistics["train_pairs"] + statistics["test_pairs"] == 1
    lines = (output / "excluded-00000-of-00001.jsonl").read_text().splitlines()
    assert sorted(map(json.loads, lines), key=lambda line: line["input_id"]) == [
        {
            "file": str(plain),
            "input": "A man is playing a flute.",
            "response": "I like the flute a lot",
            "input_id": "q0",
            "response_id": "a0",
        },
        {
            "file": str(others),
            "input": "What is your age?",
            "response": "Two dogs run   through snow!",
            "input_id": "q1",
            "response_id": "a1",
        },
    ]
    card = json.loads((output / "data_card.json").read_text())
    assert card["counts"]["excluded"] == 2
    assert [pair["response"] for pair in card["example_pairs"]] == ["In a house by the sea"]


def test_evaluation_sets_without_a_text_exclude_nothing(run, dump, tmp_path, statistics_of, caplog):
    (tmp_path / "seen.txt").write_text("\n42\n")
    output = tmp_path / "out"
    run("--input", dump, "--output", output, "--exclude_texts", tmp_path / "seen.txt")
    assert statistics_of(output)["excluded"] == 0
    assert "no text has 4 letters and digits; shorter ones exclude nothing" in caplog.text
    assert (output / "excluded-00000-of-00001.jsonl").read_bytes() == b""
    assert (output / "COMPLETED").exists()


def test_only_the_feed_of_a_line_ends_it(tmp_path):
    text = "one\u2028two\x85three\x0cfour"
    for name, content in {
        "a.txt": f"{text}\r\nmore\n",
        "a.tsv": f"x\t{text}\r\nmore\ty\n",
        "a.jsonl": f'"{text}"\r\n"more"\n'.replace("\x0c", ""),
    }.items():
        (tmp_path / name).write_bytes(content.encode())
        excluded = Excluded([str(tmp_path / name)])
        assert len(excluded) == 2
        assert excluded.find("One two three four" if "jsonl" not in name else "one two threefour")
        assert excluded.find("more")


def test_the_first_of_several_files_is_named(tmp_path):
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).write_text("the same text\n")
    paths = [str(tmp_path / "b.txt"), str(tmp_path / "a.txt")]
    assert Excluded(paths).find("THE same text!") == paths[0]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("Two  dogs\trun", "two dogs run"),
        ("two-dogs_run...", "Two dogs run"),
        ("ﬁsh & ①", "FISH 1"),
        ("Ἀθῆναι", "ἀθῆναι"),
        ("don't", "don’t"),
        ("cafe\u0301 noir", "caf\u00e9 noir"),
    ],
)
def test_texts_with_the_same_words_are_the_same(tmp_path, text, same):
    (tmp_path / "a.txt").write_text(text)
    assert Excluded([str(tmp_path / "a.txt")]).find(same)


def test_columns_of_a_text_file_are_texts_too(tmp_path):
    (tmp_path / "snli_1.0_test.txt").write_text("neutral\tTwo dogs run.\tA man is out.\n")
    excluded = Excluded([str(tmp_path / "snli_1.0_test.txt")])
    assert excluded.find("two dogs run")
    assert excluded.find("A man is out!")


@pytest.mark.parametrize("other", ["two dogs ran", "twodogs run", "two dogs", "two dogs run far"])
def test_texts_with_other_words_are_not(tmp_path, other):
    (tmp_path / "a.txt").write_text("two dogs run")
    assert Excluded([str(tmp_path / "a.txt")]).find(other) is None


def damaged_gzip():
    content = bytearray(gzip.compress(bytes(range(256)) * 20))
    content[20:60] = b"\xff" * 40
    return bytes(content)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a", b"x", "accepted: .txt, .csv, .tsv, .jsonl and .xml, plain or .gz"),
        ("a.zip", b"x", "accepted: "),
        ("a.gz", gzip.compress(b"x", mtime=0), "accepted: "),
        ("a.txt.gz", b"plain", "cannot be read"),
        ("a.txt.gz", gzip.compress(b"some words", mtime=0)[:-5], "cannot be read"),
        ("a.txt.gz", damaged_gzip(), "cannot be read"),
        ("a.txt", b"caf\xe9", "cannot be read: 'utf-8' codec"),
        ("a.jsonl", b'"fine"\n\n{"a": ', ", line 3: "),
        ("a.xml", b"<a><b></a>", ": mismatched tag"),
        ("a.xml", b"", ": no element found"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_one_error(
    fails, dump, tmp_path, name, content, reason
):
    path = tmp_path / name
    path.write_bytes(content)
    message = fails("--input", dump, "--output", tmp_path / "out", "--exclude_texts", path)
    assert re.match(rf"error: --exclude_texts: '{path}'", message)
    assert reason in message
    assert not (tmp_path / "out").exists()


def test_a_folder_is_one_error(fails, dump, tmp_path):
    folder = tmp_path / "texts.txt"
    folder.mkdir()
    message = fails("--input", dump, "--output", tmp_path / "out", "--exclude_texts", folder)
    assert f"--exclude_texts: '{folder}' cannot be read" in message


def test_an_option_given_twice_adds_up(run, write_dump, comment, tmp_path, statistics_of):
    first = write_dump("RC_1", [comment("q", body="Where?"), comment("a", "t1_q", body="There.")])
    second = write_dump("RC_2", [comment("r", body="When?"), comment("b", "t1_r", body="Now.")])
    for name, text in (("1.txt", "there\n"), ("2.txt", "elsewhere\n")):
        (tmp_path / name).write_text(text)
    run(
        *("--input", first, "--input", second, "--output", tmp_path / "out"),
        *("--exclude_texts", tmp_path / "1.txt", "--exclude_texts", tmp_path / "2.txt"),
        *("--rules", "none", "--test_fraction", 0),
    )
    statistics = statistics_of(tmp_path / "out")
    assert (statistics["pairs"], statistics["excluded"]) == (2, 1)


def test_a_text_of_json_within_json_is_found_at_any_depth(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"k": [1, null, {"deep": [["a text"]]}]}\n"alone"\n')
    assert list(read_texts(str(path))) == ["a text", "alone"]
