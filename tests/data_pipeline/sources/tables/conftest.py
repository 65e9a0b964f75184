import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet
import pytest

from data_pipeline.__main__ import main


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


@pytest.fixture
def make(tmp_path, statistics_of, stored):
    """Runs a command; returns the statistics and the pairs, sorted by the response's id."""

    def run(*arguments, output="out"):
        out = tmp_path / output
        main([*map(str, arguments), "--output", str(out), "--format", "jsonl"])
        pairs = sorted(stored(out), key=lambda pair: (pair["response_id"], pair["input_id"]))
        return statistics_of(out), pairs

    return run


@pytest.fixture
def refused(tmp_path, capsys):
    """Runs a command that must fail, and returns its one line; nothing is written."""

    def run(*arguments):
        with pytest.raises(SystemExit) as raised:
            main([*map(str, arguments), "--output", str(tmp_path / "out")])
        usage = capsys.readouterr().err
        code = raised.value.code
        message = f"error: {usage.splitlines()[-1]}" if code == 2 else str(code)
        assert message.startswith("error: ")
        assert "\n" not in message
        assert not (tmp_path / "out" / "COMPLETED").exists()
        return message.removeprefix("error: ")

    return run
