import bz2
import csv
import gzip
import io
import json
import lzma

import orjson
import pyarrow as pa
import pyarrow.parquet
import pytest
from backports import zstd

from data_pipeline.__main__ import main
from data_pipeline.pairs.reader import read_pairs

COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}


@pytest.fixture(scope="session", autouse=True)
def arguments_of_methods():
    """Looks once at each method; Beam looks 6,000 times a job, a quarter of a small job's time."""
    from apache_beam.transforms import core

    original, known = core.get_function_args_defaults, {}

    def get(function):
        method = getattr(function, "__func__", None)
        if method is None:
            return original(function)
        if method not in known:
            known[method] = original(function)
        return tuple(map(list, known[method]))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "get_function_args_defaults", get)
        yield


@pytest.fixture
def compress():
    """A function of bytes for each suffix."""
    return COMPRESS


@pytest.fixture
def write_dump(tmp_path):
    """Writes comments (dicts) or raw lines (bytes) as a dump compressed by its name."""

    def write(name, lines):
        texts = [line if isinstance(line, bytes) else orjson.dumps(line) for line in lines]
        path = tmp_path / name
        path.write_bytes(COMPRESS.get(path.suffix, bytes)(b"".join(text + b"\n" for text in texts)))
        return path

    return write


@pytest.fixture
def comment():
    """A comment's line as a dict; kept unless its fields say otherwise."""

    def make(own_id, parent="t3_p", **fields):
        return {
            "id": own_id,
            "parent_id": parent,
            "link_id": "t3_p",
            "subreddit": "sub",
            "author": "someone",
            "body": f"the words of {'abcdefghij'[len(own_id) % 10] * 3}",
        } | fields

    return make


@pytest.fixture
def run():
    """Runs `python -m data_pipeline reddit` with these arguments."""

    def reddit(*arguments):
        main(["reddit", *map(str, arguments)])

    return reddit


@pytest.fixture
def statistics_of():
    """The statistics that a job left in a folder."""
    return lambda folder: json.loads((folder / "statistics.json").read_text())


@pytest.fixture
def world(write_dump, comment):
    """Two months in two compressions: one of everything."""
    write_dump(
        "RC_1.zst",
        [
            comment("c1", body="what are the words of c1"),
            comment("c2", "t1_c1", body="an answer &gt; to it", link_id="t3_p"),
            comment("c3", "t1_c1", body="[deleted]"),
            b'{"id": "broken',
            comment("c4", "t1_c3"),
            comment("c2", "t1_c1", body="the same id again"),
        ],
    )
    write_dump(
        "RC_2.bz2",
        [
            comment("d1", "t1_c2", body="a reply", subreddit="other", created_utc="1422835200.5"),
            comment("d2", "t1_gone"),
            comment("d3", author="a_bot"),
            comment("d4", body="1234567"),
            comment("d5", body="y" * 400),
            comment("d6", body="https is a protocol"),
            {"id": "d7"},
        ],
    )


@pytest.fixture
def stored():
    """The pairs that a job left in a folder, as dicts."""
    return lambda folder, splits="t*": list(read_pairs(f"{folder}/{splits}-*-of-*"))


@pytest.fixture
def make(tmp_path, statistics_of, stored):
    """Runs a command; returns the statistics and the pairs, sorted by the response's id."""

    def run(command, *arguments, output="out"):
        out = tmp_path / output
        main([command, "--output", str(out), "--format", "jsonl", *map(str, arguments)])
        pairs = sorted(stored(out), key=lambda pair: (pair["response_id"], pair["input_id"]))
        return statistics_of(out), pairs

    return run


@pytest.fixture
def refused(tmp_path, capsys):
    """Runs a command that must fail, and returns its one line; what is complete stays so."""

    def run(command, *arguments):
        completed = tmp_path / "out" / "COMPLETED"
        was_complete = completed.exists()
        with pytest.raises(SystemExit) as raised:
            main([command, "--output", str(tmp_path / "out"), *map(str, arguments)])
        usage = capsys.readouterr().err
        code = raised.value.code
        message = f"error: {usage.splitlines()[-1]}" if code == 2 else str(code)
        assert message.startswith("error: ")
        assert "\n" not in message
        assert completed.exists() == was_complete
        return message.removeprefix("error: ")

    return run


@pytest.fixture
def write_table(tmp_path, compress):
    """Writes rows (dicts) as a table of the format and compression that its name says."""

    def write(name, rows):
        path = tmp_path / name
        kind = name.split(".")[1]
        if kind == "parquet":
            pa.parquet.write_table(pa.Table.from_pylist(rows), path)
            return path
        if kind == "jsonl":
            text = "".join(json.dumps(row) + "\n" for row in rows)
        else:
            stream = io.StringIO(newline="")
            fields = list(dict.fromkeys(name for row in rows for name in row))
            writer = csv.DictWriter(stream, fields, delimiter="\t" if kind == "tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
            text = stream.getvalue()
        suffix = path.suffix if path.suffix in compress and path.suffix != f".{kind}" else ""
        path.write_bytes(compress[suffix](text.encode()))
        return path

    return write
