#!/usr/bin/env bash
# Guess: an int8 index scales or clips the numbers, and ranks by the metric that it was given.
# Seen: it scales each vector to unit length by itself. With metric "ip" or "l2sq" it then ranks by
#   the cosine; float32, float16 and bfloat16 rank by the metric. Nothing says so.
# Hurt: who searches by dot product, as for responses whose length says how frequent they are.
# Versions: usearch 2.26.6; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile usearch==2.26.6 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import numpy as np
from usearch.index import Index

# To the query [1, 0]: the largest dot product, the nearest, the largest cosine.
VECTORS = np.array([[0.9, 0.6], [0.8, 0.1], [0.3, 0.0]], np.float32)
QUERY = np.array([1, 0], np.float32)
BEST = {"ip": 0, "l2sq": 1, "cos": 2}
for metric, best in BEST.items():
    for dtype in ("f32", "f16", "bf16", "i8"):
        index = Index(ndim=2, metric=metric, dtype=dtype)
        index.add(np.arange(3), VECTORS)
        found = index.search(QUERY, 3, exact=True).keys.tolist()
        print(metric, dtype, found)
        assert found[0] == (BEST["cos"] if dtype == "i8" else best), "changed"
print("stored for [0.9, 0.6]:", index.get(0))
assert index.get(0).tolist() == [105, 70], "changed"
PYTHON
