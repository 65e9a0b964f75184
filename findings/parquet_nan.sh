#!/usr/bin/env bash
# Guess: a filter finds the same rows in a Parquet file as in memory.
# Seen: minimum and maximum of a row group, as pyarrow and Polars write them, leave NaN out. DuckDB,
#   to which NaN is the largest number, trusts them: in such a row group it finds neither `x > 1`
#   nor `x = 'nan'`, and counts the NaN among `x <= 1`. pyarrow's own filter `x != 0.5` loses the
#   NaN where all other values are 0.5. Polars is right; so is DuckDB in a file of its own.
# Hurt: who counts failed scores, which are NaN, in Parquet files, or drops them before training.
# Versions: DuckDB 2.0.0, pyarrow 25.0.1, Polars 2.1.0; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  duckdb==2.0.0 pyarrow==25.0.1 polars==2.1.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import duckdb
import polars
import pyarrow
import pyarrow.parquet
from pyarrow.dataset import field

SCORES = {"x": [0.5, float("nan"), 0.25]}
table = pyarrow.table(SCORES)
pyarrow.parquet.write_table(table, "pyarrow.parquet")
polars.DataFrame(SCORES).write_parquet("polars.parquet")
duckdb.execute("copy (select * from table) to 'duckdb.parquet'".replace("table", '"table"'))


def counted(source):
    return [
        duckdb.execute(f"select count(*) from {source} where {where}").fetchall()[0][0]
        for where in ("x > 1", "x = 'nan'", "x <= 1")
    ]


found = {name: counted(f"'{name}.parquet'") for name in ("pyarrow", "polars", "duckdb")}
print("DuckDB, rows with x > 1, x = nan, x <= 1: in memory", counted('"table"'), "in files", found)
assert counted('"table"') == found["duckdb"] == [1, 1, 2], "changed"
assert found["pyarrow"] == found["polars"] == [0, 0, 3], "changed"

is_nan = polars.scan_parquet("pyarrow.parquet").filter(polars.col("x") > 1).collect()
assert is_nan.height == 1, "changed"

same = pyarrow.table({"x": [0.5, float("nan"), 0.5]})
pyarrow.parquet.write_table(same, "same.parquet")
other = field("x") != 0.5
in_file = pyarrow.parquet.read_table("same.parquet", filters=other)
kept = same.filter(other).num_rows, in_file.num_rows
print("pyarrow, rows with x != 0.5: in memory, in a file:", kept)
assert kept == (1, 0), "changed"
PYTHON
