#!/usr/bin/env bash
# Guess: an id that JSON stores as text stays text; a number that does not fit is an error.
# Seen: pandas turns texts of digits into numbers, and a column with a null into doubles, which
#   round the ids of Discord and Twitter; DuckDB turns UUIDs into its own type, in lower case;
#   pyarrow turns numbers from 2^63 on into doubles. None of them says so. Polars keeps all.
# Hurt: who joins replies with their parents by id.
# Versions: pandas 3.1.1, DuckDB 2.0.0, pyarrow 25.0.1, Polars 2.1.0; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  pandas==3.1.1 duckdb==2.0.0 pyarrow==25.0.1 polars==2.1.0 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow.json

ROOT = "1093487655021281341"
Path("chat.jsonl").write_text(
    '{"id": "%s", "reply_to": null, "code": "007"}\n'
    '{"id": "1093487655021281342", "reply_to": "%s", "code": "008"}\n' % (ROOT, ROOT)
)
read = pandas.read_json("chat.jsonl", lines=True)
print("pandas:", dict(read.dtypes), read.values.tolist())
assert read["code"].tolist() == [7, 8], "changed"
assert int(read["reply_to"][1]) == 1093487655021281280 != int(ROOT), "changed"
assert polars.read_ndjson("chat.jsonl")["reply_to"].to_list() == [None, ROOT]

UUID = "6F9619FF-8B86-D011-B42D-00CF4FC964FF"
Path("uuid.jsonl").write_text('{"id": "%s"}\n' % UUID)
(found,) = duckdb.execute("select id::varchar, typeof(id) from read_json('uuid.jsonl')").fetchall()
print("DuckDB:", UUID, "->", found)
assert found == (UUID.lower(), "UUID"), "changed"

Path("numbers.jsonl").write_text('{"id": 12345678901234567890}\n{"id": 12345678901234567891}\n')
ids = pyarrow.json.read_json("numbers.jsonl")["id"]
print("pyarrow:", ids.type, ids.to_pylist())
assert str(ids.type) == "double" and ids[0] == ids[1], "changed"
assert polars.read_ndjson("numbers.jsonl")["id"].n_unique() == 2
PYTHON
