"""SNLI's files -> labelled pairs: what is kept, what is put aside, what is left behind."""

import json

import pyarrow as pa
import pyarrow.parquet
import pytest

from common.errors import InputError
from data_pipeline import SnliOptions, read_pairs, run_snli

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
def snli(tmp_path):
    """Converts files with these options; returns the folder."""

    def run(*inputs, **options):
        run_snli(
            SnliOptions(input=tuple(map(str, inputs)), output=str(tmp_path / "out"), **options)
        )
        return tmp_path / "out"

    return run


def pairs(folder):
    """(pair id, premise, hypothesis, label) of every record, file by file."""
    names = ("pair_id", "premise", "hypothesis", "label")
    return [
        [tuple(pair[name] for name in names) for pair in read_pairs(str(path))]
        for path in sorted(folder.glob("nli-*"))
    ]


def ids(folder):
    return {row[0] for shard in pairs(folder) for row in shard}


def test_both_forms_give_the_same_pairs(snli, write_dump, statistics_of):
    three = [
        ("entailment", 'A "man" – outside.', '"Someone is outside.', "p1"),
        ("-", "A man.", "A father.", "p2"),
        ("contradiction", "A man.", "", "p3"),
    ]
    output = snli(write_dump("a.jsonl.gz", [line(*values) for values in three]))
    (rows,) = pairs(output)
    assert set(rows) == {(three[0][3], *three[0][1:3], 0), ("p3", "A man.", "", 2)}
    as_json = (output / "nli-00000-of-00001.tfrecord").read_bytes()
    table = write_dump("b.txt", [HEADER, *(columns(*values) for values in three)])
    snli(table, overwrite=True)
    assert (output / "nli-00000-of-00001.tfrecord").read_bytes() == as_json
    assert statistics_of(output) == {
        "lines": 3,
        "malformed": 0,
        "other_ids": 0,
        "no_label": 1,
        "excluded": 0,
        "pairs": 2,
        "labels": {"entailment": 1, "neutral": 0, "contradiction": 1},
    }
    # SNLI's archive has each split in both.
    write_dump("a.txt", [HEADER, columns()])
    with pytest.raises(InputError, match=r"a\.txt"):
        snli(f"{output.parent}/a*", overwrite=True)


def test_numbered_labels_and_other_names_are_read_in_every_form(snli, write_dump, tmp_path):
    rows = [("A man.", f"No {label}.", label) for label in (0, 1, 2, -1)]
    rows = [dict(zip(("premise", "hypothesis", "label"), row, strict=True)) for row in rows]
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    table = [b"label\tpremise\thypothesis"]
    table += [f"{row['label']}\t{row['premise']}\t{row['hypothesis']}".encode() for row in rows]
    expected = {("A man.", f"No {label}.", label) for label in (0, 1, 2)}
    for path, first in (
        (tmp_path / "a.parquet", 1),
        (write_dump("b.jsonl.gz", rows), 1),
        (write_dump("c.tsv", table), 2),
    ):
        output = snli(path, overwrite=True)
        assert {row[1:] for row in pairs(output)[0]} == expected
        assert ids(output) == {f"{path.name}:{first + number}" for number in range(3)}
    with_id = [row | {"idx": 7 + number} for number, row in enumerate(rows)]
    assert ids(snli(write_dump("d.jsonl", with_id), overwrite=True)) == {"7", "8", "9"}


def test_what_cannot_be_read_is_a_dead_letter(snli, write_dump, statistics_of):
    as_json = write_dump(
        "a.jsonl",
        [
            b'{"gold_label": "neu',
            b"[1, 2]",
            line() | {"sentence1": 7},
            line() | {"sentence2": None},
            line("entails"),
            b'{"gold_label": "neutral", "sentence1": "\xff"}',
            line(),
            line("-"),
        ],
    )
    table = write_dump(
        "b.txt.xz",
        [
            HEADER,
            columns() + b"\tmore",
            columns("entailment"),
            columns(premise="?").replace(b"?", b"\xff"),
            columns("label?"),
        ],
    )
    output = snli(as_json, table, max_malformed=1.0)
    letters = (output / "dead_letters-00000-of-00001.jsonl").read_bytes().splitlines()
    found = [
        (letter["file"], letter["line"], letter["reason"]) for letter in map(json.loads, letters)
    ]
    bad = [(as_json, n) for n in (1, 2, 3, 4, 5, 6)] + [(table, n) for n in (2, 4, 5)]
    assert [place for *place, _ in found] == [[str(path), number] for path, number in bad]
    for (*_, reason), named in zip(
        found[2:5], ("sentence1", "sentence2", "gold_label"), strict=True
    ):
        assert named in reason
    counts = statistics_of(output)
    assert (counts["lines"], counts["malformed"], counts["pairs"]) == (12, 9, 2)


def test_what_an_evaluation_set_says_is_taken_out(
    snli, write_dump, statistics_of, tmp_path, caplog
):
    sets = write_dump("sts.csv", [b"main\timages\t4.2\tA MAN is outside!\tTwo dogs run."])
    three = [
        ("entailment", "A man is outside.", "Someone is outside.", "p1"),
        ("neutral", "A boat.", "Two dogs, run?", "p2"),
        ("contradiction", "A man is outside today.", "Dogs run.", "p3"),
    ]
    path = write_dump("a.jsonl", [line(*values) for values in three])
    output = snli(path, exclude_texts=(str(sets),))
    assert ids(output) == {"p3"}
    found = statistics_of(output)
    assert (found["lines"], found["excluded"], found["pairs"]) == (3, 2, 1)
    taken = (output / "excluded-00000-of-00001.jsonl").read_text().splitlines()
    assert [json.loads(text)["pair_id"] for text in taken] == ["p1", "p2"]
    assert json.loads(taken[0])["file"] == str(sets)
    sets.write_text("a text that is nowhere\n")
    assert "warning" not in caplog.text
    snli(path, exclude_texts=(str(sets),), overwrite=True)
    assert ids(output) == {"p1", "p2", "p3"}
    assert "warning: --exclude_texts" in caplog.text


def test_pairs_of_one_source_by_their_ids(snli, write_dump, statistics_of):
    # Whether people agreed is not asked of another source's.
    labels = ("neutral", "-", "-", "neutral", "neutral")
    names = ("snlidev-1", "sick-2", "cad-3", "CAD-4", "x-cad-5")
    lines = [line(label, pair_id=name) for label, name in zip(labels, names, strict=True)]
    path = write_dump("a.jsonl", lines)
    output = snli(path, pair_ids=("snli*", "cad-?"))
    assert ids(output) == {"snlidev-1"}
    found = statistics_of(output)
    counts = {name: found[name] for name in ("lines", "other_ids", "no_label", "pairs")}
    assert counts == {"lines": 5, "other_ids": 3, "no_label": 1, "pairs": 1}
    with pytest.raises(InputError, match="pair_ids"):
        snli(path, pair_ids=("snli*",))
    with pytest.raises(InputError, match="5 other_ids"):
        snli(path, pair_ids=("none-*",), overwrite=True)


def test_shards_do_not_depend_on_how_the_input_is_cut(snli, write_dump):
    lines = [line(pair_id=f"p{n}", premise=f"premise {n}") for n in range(60)]
    output = snli(write_dump("all.jsonl", lines), shards=3)
    files = {path.name: path.read_bytes() for path in output.glob("nli-*")}
    assert sorted(files) == [f"nli-0000{n}-of-00003.tfrecord" for n in range(3)]
    rows = pairs(output)
    assert ids(output) == {f"p{n}" for n in range(60)}
    assert min(map(len, rows)) > 10
    assert [row[0] for row in rows[0]] != sorted(row[0] for row in rows[0])
    parts = (
        write_dump("second.jsonl", lines[25:][::-1]),
        write_dump("first.jsonl.bz2", lines[:25]),
    )
    snli(*parts, shards=3, overwrite=True)
    assert {path.name: path.read_bytes() for path in output.glob("nli-*")} == files


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("a.csv", [b"a,b"]),
        ("b.txt", [columns()]),
        ("b.txt", [b"gold_label\tsentence1\tsentence2\tpairID\tgold_label"]),
        ("c.txt", []),
        ("d.txt.gz", [HEADER]),
    ],
)
def test_a_file_that_is_none_is_named(snli, write_dump, tmp_path, name, lines):
    path = write_dump(name, lines)
    if name == "d.txt.gz":
        path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match=str(path)):
        snli(path)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("train", {"entailment": 7058, "neutral": 8216, "contradiction": 6401}),
        ("test", {"entailment": 3368, "neutral": 3219, "contradiction": 3237}),
    ],
)
def test_real_files(snli, real_data, statistics_of, name, labels):
    found = statistics_of(snli(real_data / "nli" / f"snli_1.0_{name}.jsonl.gz"))
    assert found["labels"] == labels
    assert found["lines"] == found["pairs"] == sum(labels.values())
