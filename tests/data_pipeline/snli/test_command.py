"""SNLI's files -> labelled pairs: what is kept, what is put aside, what is left behind."""

import json

import orjson
import pytest
import tensorflow as tf

from data_pipeline.__main__ import main
from data_pipeline.storage.filesystem import file_crc32c

HEADER = (
    b"gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\t"
    b"sentence2_parse\tsentence1\tsentence2\tcaptionID\tpairID\tlabel1\tlabel2"
)


def line(label="neutral", premise="A man.", hypothesis="A tall man.", pair_id="p1"):
    return {
        "gold_label": label,
        "sentence1": premise,
        "sentence2": hypothesis,
        "pairID": pair_id,
        "annotator_labels": [label],
    }


def columns(label="neutral", premise="A man.", hypothesis="A tall man.", pair_id="p1"):
    values = [label, "()", "()", "()", "()", premise, hypothesis, "c1", pair_id, label, ""]
    return "\t".join(values).encode()


@pytest.fixture
def write_lines(tmp_path, compress):
    """Writes lines (dicts, or raw ones as bytes) to a file compressed by its name."""

    def write(name, lines):
        texts = [line if isinstance(line, bytes) else orjson.dumps(line) for line in lines]
        path = tmp_path / name
        content = b"".join(text + b"\n" for text in texts)
        path.write_bytes(compress.get(path.suffix, bytes)(content))
        return path

    return write


@pytest.fixture
def snli(tmp_path):
    def run(*arguments):
        main(["snli", "--output", str(tmp_path / "out"), *map(str, arguments)])
        return tmp_path / "out"

    return run


@pytest.fixture
def snli_fails(snli, capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as raised:
            snli(*arguments)
        capsys.readouterr()
        message = str(raised.value.code)
        assert message.startswith("error: ")
        assert "\n" not in message
        return message

    return run


def pairs(folder):
    """(pair id, premise, hypothesis, label) of every record, file by file."""
    files = []
    for path in sorted(folder.glob("nli-*")):
        rows = []
        for record in tf.data.TFRecordDataset(str(path)):
            features = tf.train.Example.FromString(record.numpy()).features.feature
            assert set(features) == {"premise", "hypothesis", "label", "pair_id"}
            texts = (
                features[name].bytes_list.value[0].decode()
                for name in ("pair_id", "premise", "hypothesis")
            )
            (label,) = features["label"].int64_list.value
            rows.append((*texts, label))
        files.append(rows)
    return files


def letters(folder):
    text = (folder / "dead_letters-00000-of-00001.jsonl").read_text()
    return [json.loads(letter) for letter in text.splitlines()]


def test_both_forms_give_the_same_pairs(snli, write_lines, statistics_of, tmp_path):
    three = [
        ("entailment", "A man – outside.", "Someone is outside.", "p1"),
        ("-", "A man.", "A father.", "p2"),
        ("contradiction", "A man.", "", "p3"),
    ]
    expected = {("p1", "A man – outside.", "Someone is outside.", 0), ("p3", "A man.", "", 2)}
    write_lines("a.jsonl.gz", [line(*values) for values in three])
    output = snli("--input", tmp_path / "a.jsonl.gz")
    (rows,) = pairs(output)
    assert set(rows) == expected
    as_json = (output / "nli-00000-of-00001.tfrecord").read_bytes()

    write_lines("a.txt", [HEADER, *(columns(*values) for values in three)])
    snli("--input", tmp_path / "a.txt", "--overwrite")
    assert (output / "nli-00000-of-00001.tfrecord").read_bytes() == as_json
    assert statistics_of(output) == {
        "lines": 3,
        "malformed": 0,
        "no_label": 1,
        "pairs": 2,
        "labels": {"entailment": 1, "neutral": 0, "contradiction": 1},
    }


def test_a_corpus_in_both_forms_is_read_once(snli_fails, write_lines, tmp_path):
    """SNLI's archive has each split in both."""
    write_lines("snli_train.jsonl.gz", [line()])
    write_lines("snli_train.txt", [HEADER, columns()])
    message = snli_fails("--input", f"{tmp_path}/snli_train*")
    assert f"snli_train.txt' has the pairs of '{tmp_path}/snli_train.jsonl.gz'" in message


def test_what_cannot_be_read_is_a_dead_letter(snli, write_lines, statistics_of, tmp_path):
    without_id = line()
    del without_id["pairID"]
    write_lines(
        "a.jsonl",
        [
            b'{"gold_label": "neu',
            b"[1, 2]",
            without_id,
            line() | {"sentence1": 7},
            line("entails"),
            b'{"gold_label": "neutral", "sentence1": "\xff"}',
            b"",
            line(),
            line("-"),
        ],
    )
    write_lines(
        "b.txt.xz",
        [
            HEADER,
            columns() + b"\tmore",
            columns("entailment") + b"\r",
            columns(premise="\\xff").replace(b"\\xff", b"\xff"),
            columns("label?"),
        ],
    )
    output = snli("--input", f"{tmp_path}/a.jsonl,{tmp_path}/b.txt.xz", "--max_malformed", 1)
    found = [(letter["file"][-8:], letter["line"], letter["reason"]) for letter in letters(output)]
    json_file, columns_file = found[:6], found[6:]
    assert [place for *place, _ in json_file] == [["/a.jsonl", n] for n in (1, 2, 3, 4, 5, 6)]
    reasons = [reason for *_, reason in found]
    assert reasons[0].startswith("not JSON: ")
    assert reasons[1:5] == [
        "not a JSON object but list",
        "pairID is missing or no string",
        "sentence1 is missing or no string",
        "gold_label 'entails' is none of entailment, neutral, contradiction, -",
    ]
    assert reasons[5].startswith("not JSON: ")
    assert reasons[6].startswith("not JSON: ")
    assert columns_file[1:] == [
        ("b.txt.xz", 2, "12 columns; the header has 11"),
        ("b.txt.xz", 4, reasons[8]),
        ("b.txt.xz", 5, "gold_label 'label?' is none of entailment, neutral, contradiction, -"),
    ]
    assert reasons[8].startswith("not UTF-8: ")
    assert letters(output)[4]["raw"] == json.dumps(line("entails"), separators=(",", ":"))
    assert statistics_of(output) == {
        "lines": 13,
        "malformed": 10,
        "no_label": 1,
        "pairs": 2,
        "labels": {"entailment": 1, "neutral": 1, "contradiction": 0},
    }


def test_a_line_without_end_fills_no_dead_letter(snli, write_lines, monkeypatch, tmp_path):
    monkeypatch.setattr("data_pipeline.storage.lines.MAX_LINE_BYTES", 2000)
    monkeypatch.setattr("data_pipeline.storage.lines.BATCH_BYTES", 500)
    monkeypatch.setattr("data_pipeline.snli.command.MAX_LINE_BYTES", 2000)
    write_lines("a.jsonl", [b"x" * 5000, line()])
    (letter,) = letters(snli("--input", tmp_path / "a.jsonl"))
    assert letter["reason"] == "5000 bytes; at most 2000 are read"
    assert len(letter["raw"]) == 1000


def test_what_an_evaluation_set_says_is_taken_out(snli, write_lines, statistics_of, tmp_path):
    write_lines("sts.csv", [b"main\timages\t4.2\tA MAN is outside!\tTwo dogs run."])
    three = [
        ("entailment", "A man is outside.", "Someone is outside.", "p1"),
        ("neutral", "A boat.", "Two dogs, run?", "p2"),
        ("contradiction", "A man is outside today.", "Dogs run.", "p3"),
    ]
    write_lines("a.jsonl", [line(*values) for values in three])
    asked = ("--input", tmp_path / "a.jsonl", "--exclude_texts", tmp_path / "sts.csv")
    output = snli(*asked)
    assert [row[0] for row in pairs(output)[0]] == ["p3"]
    found = statistics_of(output)
    assert (found["lines"], found["excluded"], found["pairs"]) == (3, 2, 1)
    taken = (output / "excluded-00000-of-00001.jsonl").read_text().splitlines()
    assert [json.loads(text)["pair_id"] for text in taken] == ["p1", "p2"]
    assert json.loads(taken[0])["file"] == str(tmp_path / "sts.csv")
    write_lines("sts.csv", [b"a boat"])
    snli(*asked, "--overwrite")
    assert {row[0] for row in pairs(output)[0]} == {"p1", "p3"}


def test_pairs_of_one_source_by_their_ids(snli, write_lines, statistics_of, tmp_path):
    ids = ("snlidev-1", "sick-2", "cad-3", "CAD-4", "x-cad-5")
    # Whether people agreed is not asked of another source's.
    labels = ("neutral", "-", "-", "neutral", "neutral")
    lines = [line(label, pair_id=one) for label, one in zip(labels, ids, strict=True)]
    write_lines("a.jsonl", lines)
    asked = ("--input", tmp_path / "a.jsonl", "--pair_ids", "snli*", "cad-?")
    output = snli(*asked)
    assert [row[0] for row in pairs(output)[0]] == ["snlidev-1"]
    found = statistics_of(output)
    counts = {name: found[name] for name in ("lines", "other_ids", "no_label", "pairs")}
    assert counts == {"lines": 5, "other_ids": 3, "no_label": 1, "pairs": 1}
    with pytest.raises(SystemExit):
        snli(*asked[:-1])
    snli(*asked[:-1], "--overwrite")
    assert statistics_of(output)["other_ids"] == 4


def test_a_synthetic_sample_is_stated(snli, write_lines, tmp_path):
    path = write_lines("all.jsonl", [line(pair_id=f"p{n}") for n in range(3)])
    output = snli("--input", path)
    assert "synthetic" not in json.loads((output / "COMPLETED").read_text())
    (tmp_path / "SAMPLE.txt").write_text("A sample world: 10 comments, seed 0.\n")
    snli("--input", path, "--overwrite")
    assert json.loads((output / "COMPLETED").read_text())["synthetic"] is True


def test_shards_do_not_depend_on_how_the_input_is_cut(snli, write_lines, tmp_path):
    lines = [line(pair_id=f"p{n}", premise=f"premise {n}") for n in range(60)]
    write_lines("all.jsonl", lines)
    output = snli("--input", tmp_path / "all.jsonl", "--shards", 3)
    files = {path.name: path.read_bytes() for path in output.glob("nli-*")}
    assert sorted(files) == [f"nli-0000{n}-of-00003.tfrecord" for n in range(3)]
    rows = pairs(output)
    assert sorted(row[0] for shard in rows for row in shard) == sorted(f"p{n}" for n in range(60))
    assert min(map(len, rows)) > 10
    assert [row[0] for row in rows[0]] != sorted(row[0] for row in rows[0])

    write_lines("second.jsonl", lines[25:][::-1])
    write_lines("first.jsonl.bz2", lines[:25])
    snli("--input", tmp_path / "first*", tmp_path / "second*", "--shards", 3, "--overwrite")
    assert {path.name: path.read_bytes() for path in output.glob("nli-*")} == files


def test_the_marker_says_what_was_read_and_written(snli, write_lines, capsys, tmp_path):
    path = write_lines("a.jsonl.zst", [line()])
    output = snli("--input", path)
    assert "neutral" in capsys.readouterr().out
    marker = json.loads((output / "COMPLETED").read_text())
    (described,) = marker["inputs"].values()
    assert described["bytes"] == path.stat().st_size
    assert described["crc32c"] == file_crc32c(str(path))
    assert marker["options"] == {"command": "snli", "shards": 1}
    shard = marker["outputs"]["nli-00000-of-00001.tfrecord"]
    assert shard["records"] == 1
    assert shard["crc32c"] == file_crc32c(str(output / "nli-00000-of-00001.tfrecord"))
    snli("--input", path)
    assert "is complete already; nothing to do" in capsys.readouterr().out


def test_another_job_is_refused_unless_overwritten(snli, snli_fails, write_lines, tmp_path):
    path = write_lines("a.jsonl", [line()])
    output = snli("--input", path, "--shards", 2)
    assert "its shards was 2, now 1" in snli_fails("--input", path)
    assert len(list(output.glob("nli-*"))) == 2
    snli("--input", path, "--overwrite")
    assert [file.name for file in output.glob("nli-*")] == ["nli-00000-of-00001.tfrecord"]


def test_what_is_refused(snli_fails, write_lines, tmp_path):
    good = write_lines("a.jsonl", [line()])
    assert "--shards: 0 is not 1 or more" in snli_fails("--input", good, "--shards", 0)
    assert "unknown arguments: --min_count" in snli_fails("--input", good, "--min_count=2")
    assert "matches no file" in snli_fails("--input", tmp_path / "none*")
    message = snli_fails("--input", good, "--pair_ids", "cad*", "sick*")
    assert "--pair_ids: 'cad*' 'sick*' matches no id of the 1 pairs" in message
    other = tmp_path / "a.csv"
    other.write_bytes(b"a,b")
    assert "a.csv' does not say by its name how to read it" in snli_fails("--input", other)
    no_header = write_lines("b.txt", [columns()])
    message = snli_fails("--input", no_header)
    assert "b.txt', line 1: 'neutral\\t()" in message
    assert "is not a header, without gold_label, sentence1, sentence2, pairID" in message
    header = b"gold_label\tsentence1\tsentence2\tpairID\tgold_label"
    twice = write_lines("b2.txt", [header, b"neutral\ta\tb\tp1\tneutral"])
    assert "several columns are named gold_label" in snli_fails("--input", twice)
    empty = write_lines("c.txt", [])
    assert "line 1: '' is not a header" in snli_fails("--input", empty)
    for name in ("d.jsonl.gz", "e.jsonl.zst"):
        (tmp_path / name).write_bytes(b"no archive")
    message = snli_fails("--input", f"{tmp_path}/[de].jsonl.*")
    assert "d.jsonl.gz: truncated or corrupt" in message
    assert "e.jsonl.zst: truncated or corrupt" in message
    assert not (tmp_path / "out").exists()


def test_an_input_is_never_overwritten(snli_fails, write_lines, tmp_path):
    (tmp_path / "out").mkdir()
    path = write_lines("out/nli-all.jsonl", [line()])
    assert "holds the input" in snli_fails("--input", path, "--overwrite")
    assert path.exists()


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("train", {"entailment": 7058, "neutral": 8216, "contradiction": 6401}),
        ("dev", {"entailment": 340, "neutral": 333, "contradiction": 324}),
        ("test", {"entailment": 3368, "neutral": 3219, "contradiction": 3237}),
    ],
)
def test_real_files(snli, real_data, statistics_of, name, labels):
    output = snli("--input", real_data / "nli" / f"snli_1.0_{name}.jsonl.gz")
    rows = sum(labels.values())
    assert statistics_of(output) == {
        "lines": rows,
        "malformed": 0,
        "no_label": 0,
        "pairs": rows,
        "labels": labels,
    }


def test_a_file_that_is_malformed_as_a_whole_is_warned_of(snli, write_lines, tmp_path, caplog):
    good = write_lines("a.jsonl", [line(pair_id=f"p{n}") for n in range(9)])
    bad = write_lines("b.jsonl", [b"no", b"no"])
    snli("--input", f"{good},{bad}")
    (warning,) = [said for said in caplog.messages if said.startswith("warning: ")]
    assert "2 of 2 lines (100.0%) are malformed" in warning
    assert f"'{bad}', line 1, looks like text of another kind" in warning


def test_evaluation_sets_of_which_no_pair_has_a_text_are_warned_of(
    snli, write_lines, tmp_path, caplog
):
    (tmp_path / "seen.txt").write_text("never said\n")
    snli("--input", write_lines("a.jsonl", [line()]), "--exclude_texts", tmp_path / "seen.txt")
    assert "warning: --exclude_texts" in caplog.text
