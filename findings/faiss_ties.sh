#!/usr/bin/env bash
# Guess: an exact index lists vectors of equal score by ascending id, whatever the metric.
# Seen: IndexFlatL2 does; IndexFlatIP keeps the lowest ids, but lists them descending. On vectors of
#   unit length, whose ranking is the same by both, the two indexes disagree on the first hit.
# Hurt: who expects the first of equal texts, compares two indexes, or scores P@1 with copies.
# Versions: faiss-cpu 1.15.1; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile faiss-cpu==1.15.1 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import faiss
import numpy as np

# One text eight times, among others.
vectors = np.eye(16, dtype=np.float32)[[3, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 9]]
copies = np.flatnonzero(vectors[:, 0]).tolist()
for queries in (1, 50):
    query = np.repeat(np.eye(16, dtype=np.float32)[:1], queries, axis=0)
    for make, expected in ((faiss.IndexFlatL2, copies[:4]), (faiss.IndexFlatIP, copies[3::-1])):
        index = make(16)
        index.add(vectors)
        found = index.search(query, 4)[1]
        print(f"{make.__name__}, {queries} queries: {found[0].tolist()} of {copies}")
        assert (found == expected).all(), "changed"
PYTHON
