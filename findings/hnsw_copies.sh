#!/usr/bin/env bash
# Guess: copies of one text cost space; other texts are found as before.
# Seen: with three copies of one vector for each other vector, added in random order, HNSW no longer
#   finds the others: the copies fill each other's links. Recall of the nearest neighbour, of
#   queries that have nothing to do with the copies, falls from 1.0 to 0.65 (faiss) and 0.50
#   (usearch). Removing copies before indexing restores it.
# Hurt: who indexes chat messages, of which many are "thanks".
# Versions: faiss-cpu 1.15.1, usearch 2.26.6; 28 November 2026.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.11}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile \
  faiss-cpu==1.15.1 usearch==2.26.6 numpy==2.4.6
cd "$folder"
venv/bin/python - <<'PYTHON'
import faiss
import numpy as np
from usearch.index import Index

DIM, TEXTS, QUERIES = 64, 3000, 500
faiss.omp_set_num_threads(1)
random = np.random.default_rng(0)


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def recalls(vectors, queries):
    """Share of queries whose nearest vector is found: faiss, usearch."""
    nearest = (queries @ vectors.T).max(axis=1)
    graph = faiss.IndexHNSWFlat(DIM, 32, faiss.METRIC_INNER_PRODUCT)
    graph.add(vectors)
    index = Index(ndim=DIM, metric="cos", dtype="f32")
    index.add(np.arange(len(vectors)), vectors, threads=1)
    rows = graph.search(queries, 1)[1][:, 0], np.array(index.search(queries, 1).keys).ravel()
    scores = (np.sum(queries * vectors[found.astype(int)], axis=1) for found in rows)
    return [float(np.mean(score > nearest - 1e-5)) for score in scores]


texts = unit(random.normal(size=(TEXTS, DIM)))
copies = np.repeat(unit(random.normal(size=(1, DIM))), 3 * TEXTS, axis=0)
queries = unit(texts[:QUERIES] + 0.05 * random.normal(size=(QUERIES, DIM)))
without = recalls(random.permutation(texts), queries)
beside = recalls(random.permutation(np.concatenate([texts, copies])), queries)
print("recall@1 of faiss, usearch: without copies", without, "with copies", beside)
assert min(without) > 0.99 and max(beside) < 0.9, "changed"
PYTHON
