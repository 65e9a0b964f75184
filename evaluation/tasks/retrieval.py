"""Retrieval on the user's own data: finding the relevant documents of a query among all documents.

Documents are ranked by the cosine of their embedding and the query's. BM25 beside it is what a
search by words finds; it does not find documents that it scores 0. Documents of equal scores are in
an order that depends on their ids and the query's alone, so no order of the file helps.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from sklearn.preprocessing import normalize

from evaluation.data import retrieval_files
from evaluation.data.retrieval_files import RetrievalData, RetrievalFiles
from evaluation.encoders.bm25 import Bm25
from evaluation.metrics import retrieval as metrics
from evaluation.results import measure
from evaluation.results.result import Result
from evaluation.tasks import similarity
from evaluation.tasks.evaluate import Evaluation

CELLS = 1 << 25
"""Scores in memory at a time: 128 MB of float32."""
MOST_ROWS = 1 << 15
"""Documents that are encoded at a time."""
KEPT = 10
"""Documents of each query that a result names."""
DECIMALS = 6
"""Scores that are the same to so many are equal: products of one text differ by about 1e-7."""
NEVER = -np.inf
"""The score of a document that is not found."""

Scores = Iterator[np.ndarray]
"""Float [queries, some of the documents] each, over all documents in order."""


def evaluations(files: RetrievalFiles, load: Callable, *, seed: int = 0) -> list[Evaluation]:
    """Return the evaluation of the data set; `load` gives the encoder, after reading."""
    (source,) = retrieval_files.find(files)
    data = retrieval_files.read(source)
    encoder = load()
    return [
        Evaluation(
            source=source, compute=partial(evaluate, encoder, data), module=encoder.provenance()
        )
    ]


def evaluate(encoder, data: RetrievalData) -> Result:
    """Rank all documents for each query, by the encoder and by BM25."""
    rankings = best(_cosines(encoder, data), data)
    by_words = best(_bm25(data), data)
    scored = metrics.of_rankings(rankings, data.relevant)
    beside = metrics.of_rankings(by_words, data.relevant)
    result = Result(
        task="retrieval",
        name=data.name,
        system="module",
        metrics={},
        n=len(data.queries),
        counts={
            "documents": len(data.documents),
            "queries_left_out": data.queries_left_out,
            "documents_without_text": data.documents_without_text,
        },
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
    return measure.measured(result, tuple(metrics.MEASURES))


def best(blocks: Scores, data: RetrievalData) -> dict[str, list[str]]:
    """Return the ids of the best documents of each query, best first."""
    queries, documents = list(data.queries), list(data.documents)
    of_queries, of_documents = _hashes(queries), _hashes(documents)
    scores: np.ndarray = np.empty((len(queries), 0))
    rows: np.ndarray = np.empty((len(queries), 0), dtype=np.int64)
    start = 0
    for block in blocks:
        end = start + block.shape[1]
        numbers = np.broadcast_to(np.arange(start, end), block.shape)
        scores = np.concatenate([scores, np.round(block, DECIMALS)], axis=1)
        rows = np.concatenate([rows, numbers], axis=1)
        best_of_each = [
            _largest(*query, of_documents) for query in zip(scores, rows, of_queries, strict=True)
        ]
        kept = np.stack(best_of_each)
        scores, rows = (np.take_along_axis(all_, kept, axis=1) for all_ in (scores, rows))
        start = end
    return {
        query: [documents[row] for row in line[one > NEVER]]
        for query, line, one in zip(queries, rows, scores, strict=True)
    }


def _hashes(ids: Sequence[str]) -> np.ndarray:
    """Return a number for each id: uint64 [ids]."""
    digests = (hashlib.blake2b(key.encode(), digest_size=8).digest() for key in ids)
    return np.array([int.from_bytes(digest) for digest in digests], dtype=np.uint64)


def _largest(
    scores: np.ndarray, rows: np.ndarray, of_query: np.uint64, of_documents: np.ndarray
) -> np.ndarray:
    """Return where the `metrics.DEEPEST` largest scores of a query are, descending: int64 [found].

    The hashes set the order of equal ones, another one for each query.

    Args:
      scores: float [n].
      rows: int64 [n], their documents.
      of_query: hash of the query.
      of_documents: uint64 [documents], their hashes.
    """
    top, kept = metrics.DEEPEST, np.arange(len(scores))
    if len(scores) > top:
        kept = np.flatnonzero(scores >= np.partition(scores, -top)[-top])
    return kept[np.lexsort((of_query ^ of_documents[rows[kept]], -scores[kept]))[:top]]


def _cosines(encoder, data: RetrievalData) -> Scores:
    """Yield the cosines of all queries with a block of documents."""
    texts = list(data.documents.values())
    queries = normalize(encoder.encode(list(data.queries.values())))
    for rows in _blocks(data):
        yield similarity.products(queries, normalize(encoder.encode(texts[rows])))


def _bm25(data: RetrievalData) -> Scores:
    """Yield BM25 of all queries with a block of documents."""
    texts = list(data.documents.values())
    ranking = Bm25().fit(texts)
    queries = ranking.encode_inputs(list(data.queries.values()))
    for rows in _blocks(data):
        scores = similarity.products(queries, ranking.encode_responses(texts[rows]))
        yield np.where(scores > 0, scores, NEVER)


def _blocks(data: RetrievalData) -> Iterator[slice]:
    """Yield the documents to score at a time."""
    size = max(1, min(MOST_ROWS, CELLS // len(data.queries)))
    for start in range(0, len(data.documents), size):
        yield slice(start, start + size)
