#!/usr/bin/env bash
# Guess: Table.take of one row of a memory-mapped file of texts reads and copies that row.
# Seen: a table read from a file has as many chunks as it was written in batches, and of strings in
#   several chunks take joins all of them first: for one row of 819,200 texts pyarrow allocates as
#   many bytes as the table has, each time. Of a table of one chunk it allocates almost nothing, and
#   so do column[row] and slice.
# Hurt: who shows what a vector search has found: each query copies all texts (8 ms instead of 0.01
#   on a core of AMD EPYC, and the memory of the whole table).
# Versions: pyarrow 25.0.1; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile pyarrow==25.0.1
cd "$folder"
venv/bin/python - <<'PYTHON'
import pyarrow as pa

texts = [f"a reply of some forty characters, number {n}" for n in range(8192)]
batch = pa.record_batch({"text": texts})
with pa.ipc.new_file("texts.arrow", batch.schema) as writer:
    for _ in range(100):
        writer.write_batch(batch)
table = pa.ipc.open_file(pa.memory_map("texts.arrow")).read_all()
whole = pa.table({"text": texts})


def allocated(read):
    """Bytes of Arrow's memory at the peak of a call."""
    with_pool = pa.proxy_memory_pool(pa.default_memory_pool())
    before = pa.default_memory_pool()
    pa.set_memory_pool(with_pool)
    try:
        read()
        return with_pool.max_memory()
    finally:
        pa.set_memory_pool(before)


found = {
    "take, 100 chunks": allocated(lambda: table.take([5])),
    "take, 1 chunk": allocated(lambda: whole.take([5])),
    "column[row]": allocated(lambda: table.column("text")[5].as_py()),
    "slice": allocated(lambda: table.slice(5, 1).to_pylist()),
}
print("bytes of all texts:", table.nbytes)
for name, size in found.items():
    print(f"{name}: {size:,} bytes allocated")
first, *others = found.values()
assert first > table.nbytes / 2
assert max(others) < 100_000
PYTHON
