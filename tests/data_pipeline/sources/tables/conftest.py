import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet
import pytest


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
