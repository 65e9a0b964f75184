"""Retrieval on the user's own data: finding the relevant documents of a query among all documents.

Documents are ranked by the cosine of their embedding and the query's, and beside it by BM25, which
does not find documents that it scores 0.
"""

import hashlib
from collections.abc import Callable
from functools import partial

import ir_measures
import numpy as np
from ir_measures import RR, R, nDCG
from sklearn.preprocessing import normalize

from evaluation.data import retrieval_files
from evaluation.data.retrieval_files import Relevant, RetrievalData, RetrievalFiles
from evaluation.encoders.words import Bm25
from evaluation.metrics import similarity
from evaluation.results import measure
from evaluation.results.result import IGNORE_IDENTICAL_IDS, Result
from evaluation.results.store import Evaluation

MEASURES = {
    "ndcg_at_10": nDCG @ 10,
    "mrr_at_10": RR @ 10,
    "recall_at_10": R @ 10,
    "recall_at_100": R @ 100,
}
"""MRR is the mean of reciprocal ranks; nDCG's gain is the grade, discounted by log2(1 + rank)."""
DEEPEST = 100  # no measure looks at a later rank
CELLS = 1 << 25  # scores in memory at a time: 256 MB of float64
KEPT = 10  # documents of each query that a result names
DECIMALS = 6  # scores equal to so many are the same: products of one text differ by about 1e-7
Rankings = dict[str, list[str]]  # ids of documents, best first, by the query's id


def evaluations(
    files: RetrievalFiles, load: Callable, *, seed: int = 0, ignore_identical_ids: bool = False
) -> list[Evaluation]:
    """Return the evaluation of the data set; with or without documents that have a query's id."""
    source = retrieval_files.find(files)
    data = retrieval_files.read(source)
    encoder = load([data.documents.values(), data.queries.values()])
    compute = partial(evaluate, encoder, data, ignore_identical_ids=ignore_identical_ids)
    # As where there was no such setting: results without it are still there.
    settings = {IGNORE_IDENTICAL_IDS: True} if ignore_identical_ids else {}
    module = encoder.provenance()
    return [Evaluation(source=source, compute=compute, module=module, settings=settings)]


def evaluate(encoder, data: RetrievalData, *, ignore_identical_ids: bool = False) -> Result:
    """Rank all documents for each query, by the encoder and by BM25.

    With `ignore_identical_ids` but that of the query's id: in ArguAna each query is a document.
    """
    queries, documents = list(data.queries.values()), list(data.documents.values())
    rank = partial(best, data=data, ignore_identical_ids=ignore_identical_ids)
    rankings = rank(normalize(encoder.encode(queries)), normalize(encoder.encode(documents)))
    bm25 = Bm25().fit(documents)
    words = bm25.encode_inputs(queries), bm25.encode_responses(documents)
    by_words = rank(*words, above=0.0)
    scored, beside = (metrics_of(one, data.relevant) for one in (rankings, by_words))
    notes = []
    if unknown := data.counts.get(retrieval_files.UNKNOWN_DOCUMENT):
        said = "Judgements of relevant documents that are not there"
        notes.append(f"{said}: {unknown:,}. They count as not found.")
    same = sum(data.documents.get(key, "").endswith(text) for key, text in data.queries.items())
    if same and not ignore_identical_ids:
        notes.append(
            f"Queries that are documents too, with the same id: {same:,}. They find themselves; "
            "with --ignore_identical_ids they do not."
        )
    result = Result(
        task="retrieval",
        name=data.name,
        n=len(data.queries),
        counts={"documents": len(data.documents), **data.counts},
        notes=notes,
        items=[
            {
                "query_id": query,
                "metrics": scored[query],
                "documents": rankings[query][:KEPT],
                "baselines": {"bm25": beside[query]},
            }
            for query in data.queries
        ],
    )
    return measure.measured(result, tuple(MEASURES))


def best(
    queries, documents, data: RetrievalData, *, above=-np.inf, ignore_identical_ids: bool = False
) -> Rankings:
    """Return the ids of the `DEEPEST` best documents of each query, best first.

    Takes vectors, float [queries, dim] and [documents, dim]. A document's score, the dot product,
    must be `above` something. Hashes of ids order equal scores, in another way for each query.
    """
    ids, names, top = list(data.documents), list(data.queries), DEEPEST
    of_documents, of_queries = _hashes(ids), _hashes(names)
    row_of = {key: row for row, key in enumerate(ids)} if ignore_identical_ids else {}
    rankings: Rankings = {}
    size = max(1, CELLS // len(ids))
    for start in range(0, len(names), size):
        block = similarity.products(queries[start : start + size], documents)
        for number, scores in enumerate(block, start=start):
            rows = np.flatnonzero(scores > above)
            rows = rows[rows != row_of.get(names[number], -1)]
            found = np.round(scores[rows], DECIMALS)
            if len(rows) > top:
                kept = found >= np.partition(found, -top)[-top]
                rows, found = rows[kept], found[kept]
            order = np.lexsort((of_queries[number] ^ of_documents[rows], -found))[:top]
            rankings[names[number]] = [ids[row] for row in rows[order]]
    return rankings


def metrics_of(rankings: Rankings, relevant: Relevant) -> dict[str, dict[str, float]]:
    """Return every measure of each query, in [0, 1]; a grade above 0 is relevant."""
    names = {measure: name for name, measure in MEASURES.items()}
    # Scores that fall strictly: the libraries order ties each in their own way.
    run = {
        query: {document: float(-rank) for rank, document in enumerate(documents)}
        for query, documents in rankings.items()
    }
    qrels = {query: dict(relevant[query]) for query in rankings}
    found: dict[str, dict[str, float]] = {query: {} for query in rankings}
    for metric in ir_measures.iter_calc(list(names), qrels, run):
        found[metric.query_id][names[metric.measure]] = float(metric.value)
    return found


def _hashes(ids: list[str]) -> np.ndarray:
    """Return a number for each id: uint64 [ids]."""
    digests = (hashlib.blake2b(key.encode(), digest_size=8).digest() for key in ids)
    return np.array([int.from_bytes(digest) for digest in digests], dtype=np.uint64)
