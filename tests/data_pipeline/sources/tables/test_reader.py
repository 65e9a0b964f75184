"""Files of every format -> the same rows; what is broken is a dead letter or one error."""

import io
import json
from contextlib import closing
from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from common import tables
from common.errors import InputError
from common.tables import RFC4180, Dialect
from data_pipeline.sources.tables.reader import MISSING, ROWS_A_BATCH, read_rows, suffix_of
from data_pipeline.sources.tables.values import as_text
from data_pipeline.storage import lines
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError

NAMES = ["id", "said"]
TRICKY = [
    ("1", "plain"),
    ("2", 'a "quoted" word, and a comma'),
    ("3", "two\nlines; and\r\na third|"),
    ("4", "\ttab and ünïcode \u2028"),
    ("5", ""),
]


def file_of(path):
    return InputFile(str(path), path.stat().st_size)


def read(path, names=NAMES, form=Dialect()):  # noqa: B008
    batches = list(read_rows(file_of(path), {name: name for name in names}, tap=Tap(), form=form))
    values = [row for batch in batches for row in zip(*batch.fields.values(), strict=True)]
    numbers = [number for batch in batches for number in batch.numbers]
    malformed = [line for batch in batches for line in batch.malformed]
    return values, numbers, malformed


def as_csv(rows, delimiter=",", end="\r\n"):
    def quoted(text):
        return '"' + text.replace('"', '""') + '"'

    lines = [delimiter.join(["id", "other", "said"])]
    lines += [delimiter.join([own, "x", quoted(text)]) for own, text in rows]
    return end.join([*lines, ""]).encode()


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("kind", [".jsonl", ".csv", ".tsv"])
def test_each_format_and_compression_gives_the_same_rows(tmp_path, compress, kind, suffix):
    if kind == ".jsonl":
        rows = [json.dumps({"said": text, "id": own}) for own, text in TRICKY]
        content = "\n".join(rows).encode()
    else:
        content = as_csv(TRICKY, "\t" if kind == ".tsv" else ",")
    path = tmp_path / f"f{kind}{suffix}"
    path.write_bytes(compress[suffix](content))
    values, numbers, malformed = read(path, form=Dialect(quotes=RFC4180))
    assert values == TRICKY
    assert malformed == []
    assert numbers == ([1, 2, 3, 4, 5] if kind == ".jsonl" else [2, 3, 4, 7, 8])


def test_parquet_gives_the_same_rows_and_its_types(tmp_path):
    path = tmp_path / "f.parquet"
    at = datetime(2020, 1, 2, tzinfo=UTC)
    inner = pa.array(
        [{"at": at, "n": n} for n in range(5)],
        pa.struct({"at": pa.timestamp("ns", "UTC"), "n": pa.int64()}),
    )
    table = pa.table(
        {"id": [own for own, _ in TRICKY], "said": [t for _, t in TRICKY], "in": inner}
    )
    pa.parquet.write_table(table, path, row_group_size=2)
    assert read(path)[:2] == (TRICKY, [1, 2, 3, 4, 5])
    assert read(path, ["in.n", "in.at"])[0][3] == (3, datetime(2020, 1, 2, tzinfo=UTC))


def test_a_carriage_return_without_quotes_does_not_cut_a_text(tmp_path):
    """pandas writes one so."""
    path = tmp_path / "f.csv"
    path.write_bytes(b'id,said\n1,hello\rworld\n2,"quoted\rtoo"\n3,three\r\n')
    values, numbers, malformed = read(path)
    assert values == [("2", "quoted\rtoo"), ("3", "three")]
    assert numbers == [3, 4]
    assert [(line.number, line.line) for line in malformed] == [(2, b"1,hello\rworld")]
    assert r"\r" in malformed[0].reason


def test_a_field_or_a_line_that_is_too_long_is_malformed(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MAX_FIELD_CHARACTERS", 200)
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 4000)
    monkeypatch.setattr(lines, "BATCH_BYTES", 1000)
    path = tmp_path / "f.csv"
    path.write_text(f"id,said\n1,{'x' * 200}\n2,{'y' * 201}\n3,{'z,' * 9000}\n4,four\n")
    values, numbers, malformed = read(path)
    assert values == [("1", "x" * 200), ("4", "four")]
    assert numbers == [2, 5]
    assert [line.number for line in malformed] == [3, 4]


def test_json_may_be_nested_and_broken(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"id": 1, "m": {"t": {"x": "deep"}}, "m.t.y": "plain"}\n'
        b'{"id": 2, "m": 5}\n\n[1]\n{"id": \n{"id": 3, "m": {"t": {"x": null}}}\n'
    )
    values, numbers, malformed = read(path, ["id", "m.t.x", "m.t.y"])
    assert values == [(1, "deep", "plain"), (2, MISSING, MISSING), (3, None, MISSING)]
    assert numbers == [1, 2, 6]
    assert [line.number for line in malformed] == [4, 5]
    assert all("accepted" in line.reason for line in malformed)


def test_the_first_rows_of_a_large_row_group_are_read_without_the_others(tmp_path):
    path = tmp_path / "f.parquet"
    said = np.random.default_rng(0).bytes(16 << 20)
    rows = [{"id": n, "said": said[n << 10 : (n + 1) << 10]} for n in range(16 << 10)]
    pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    sizes = []

    class Counted(io.FileIO):
        def read(self, size=-1):
            found = super().read(size)
            sizes.append(len(found))
            return found

    file = SimpleNamespace(path=str(path), open=lambda: Counted(path))
    with closing(read_rows(file, {"id": "id", "text": "said"}, tap=Tap())) as batches:
        assert len(next(batches).numbers) == ROWS_A_BATCH
    assert 5 << 20 < sum(sizes) < 10 << 20


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.csv", b"a,b\n1,2\n"),
        ("f.csv", b""),
        ("f.csv", b"1,hello\n2,there\n"),
        ("f.csv", "id,said\n".encode("utf-16")),
        ("f.csv", b"id,said\r1,one\r"),
        ("f.csv", b"x" * 2_000_000 + b"\n1,2\n"),
        ("f.csv", b'id,said\n1,"not closed\n2,b\n'),
        ("f.csv.gz", b"id,said\n"),
        ("f.csv.gz", b""),
        ("f.parquet", b"id,said\n"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_error(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UnreadableFileError) as raised:
        read(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_number_in_a_name_is_that_of_an_element(tmp_path, kind):
    path = tmp_path / f"f.{kind}"
    rows = [
        {"answers": {"text": ["a", "b"]}, "turns": [{"said": "x"}, {"said": "y"}], "b": [b"c"]},
        {"answers": {"text": []}, "turns": None, "b": [b"d"]},
    ]
    if kind == "parquet":
        pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row, default=bytes.decode) + "\n" for row in rows))
    names = ["answers.text.0", "answers.text.1", "turns.1.said", "answers.text.01"]
    values, _, _ = read(path, names)
    assert values == [("a", "b", "y", MISSING), (MISSING,) * 4]
    assert [as_text(value) for (value,) in read(path, ["b.0"])[0]] == ["c", "d"]


def test_columns_are_named_where_there_is_no_header(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("1,one,x\nid,said,more\n2,two,y\n3,three\n")
    values, numbers, malformed = read(path, form=Dialect(columns=("id", "said", "more")))
    assert (values, numbers) == ([("1", "one"), ("2", "two")], [1, 3])
    assert [line.number for line in malformed] == [2, 4]


@pytest.mark.parametrize("name", ["f", "f.txt", "f.gz", "f.xlsx"])
def test_a_name_must_say_the_format(name):
    with pytest.raises(InputError, match=f"--input: '{name}'"):
        suffix_of(name)
