#!/usr/bin/env bash
# Guess: lower() of one text is one text, in whatever engine a column is lowered.
# Seen: pyarrow and DuckDB map one character to one character. They write a Greek word's last sigma
#   as inside a word, drop the dot of a Turkish capital I, and make a capital of German sharp s;
#   Python and Polars follow Unicode's rules for words. So keys made in SQL or Arrow do not meet
#   keys made in Python: of three words below, one.
# Hurt: who removes duplicates or evaluation texts by lower-cased keys in two engines.
# Versions: pyarrow 25.0.1, DuckDB 2.0.0, Polars 2.1.0, Python 3.11; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  pyarrow==25.0.1 duckdb==2.0.0 polars==2.1.0
cd "$folder"
venv/bin/python - <<'PYTHON'
import duckdb
import polars
import pyarrow
import pyarrow.compute

# "road" in Greek, "Istanbul" in Turkish, a word without special cases; "street" in German.
WORDS, STREET = ["\u039f\u0394\u039f\u03a3", "\u0130STANBUL", "STREET"], "stra\u00dfe"
lower = {
    "Python": [word.lower() for word in WORDS],
    "Polars": polars.Series(WORDS).str.to_lowercase().to_list(),
    "pyarrow": pyarrow.compute.utf8_lower(pyarrow.array(WORDS)).to_pylist(),
    "DuckDB": [duckdb.execute("select lower(?)", [w]).fetchall()[0][0] for w in WORDS],
}
for engine, words in lower.items():
    print(engine, [ascii(word) for word in words])
assert lower["Python"] == lower["Polars"], "changed"
assert lower["pyarrow"] == lower["DuckDB"], "changed"
same = [a == b for a, b in zip(lower["Python"], lower["DuckDB"])]
assert same == [False, False, True], "changed"

upper = {
    "Python": STREET.upper(),
    "pyarrow": pyarrow.compute.utf8_upper(pyarrow.array([STREET]))[0].as_py(),
    "DuckDB": duckdb.execute("select upper(?)", [STREET]).fetchall()[0][0],
}
print({engine: ascii(word) for engine, word in upper.items()})
assert upper["pyarrow"] == upper["DuckDB"] == "STRA\u1e9eE" != upper["Python"], "changed"
PYTHON
