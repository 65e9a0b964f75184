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
from evaluation.metrics import similarity
from evaluation.results import measure
from evaluation.results.evaluation import Evaluation
from evaluation.results.result import Result

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


def evaluations(files: RetrievalFiles, load: Callable, *, seed: int = 0) -> list[Evaluation]:
    """Return the evaluation of the data set; `load` gives the encoder, after reading."""
    (source,) = retrieval_files.find(files)
    data = retrieval_files.read(source)
    encoder = load()
    compute = partial(evaluate, encoder, data)
    return [Evaluation(source=source, compute=compute, module=encoder.provenance())]


def evaluate(encoder, data: RetrievalData) -> Result:
    """Rank all documents for each query, by the encoder and by BM25."""
    queries = normalize(encoder.encode(list(data.queries.values())))
    cosines = (
        similarity.products(queries, normalize(encoder.encode(texts))) for texts in _blocks(data)
    )
    rankings = best(cosines, data)
    bm25 = Bm25().fit(list(data.documents.values()))
    words = bm25.encode_inputs(list(data.queries.values()))
    scores = (similarity.products(words, bm25.encode_responses(texts)) for texts in _blocks(data))
    by_words = best((np.where(block > 0, block, NEVER) for block in scores), data)
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


def _blocks(data: RetrievalData) -> Iterator[list[str]]:
    """Yield the documents to score at a time."""
    texts = list(data.documents.values())
    size = max(1, min(MOST_ROWS, CELLS // len(data.queries)))
    for start in range(0, len(texts), size):
        yield texts[start : start + size]


def best(blocks: Iterator[np.ndarray], data: RetrievalData) -> dict[str, list[str]]:
    """Return the ids of the `metrics.DEEPEST` best documents of each query, best first.

    `blocks` are scores, float [queries, some of the documents] each, over all documents in order.
    The hashes of ids set the order of equal scores, another one for each query.
    """
    queries, documents = list(data.queries), list(data.documents)
    of_queries, of_documents = _hashes(queries), _hashes(documents)
    scores: np.ndarray = np.empty((len(queries), 0))
    rows: np.ndarray = np.empty((len(queries), 0), dtype=np.int64)
    start = 0
    for block in blocks:
        numbers = np.arange(start, start := start + block.shape[1])
        scores = np.concatenate([scores, np.round(block, DECIMALS)], axis=1)
        rows = np.concatenate([rows, np.broadcast_to(numbers, block.shape)], axis=1)
        kept = np.stack(
            [
                _largest(of_query, ties=hashed ^ of_documents[of_row])
                for of_query, of_row, hashed in zip(scores, rows, of_queries, strict=True)
            ]
        )
        scores, rows = (np.take_along_axis(table, kept, axis=1) for table in (scores, rows))
    return {
        query: [documents[row] for row in line[one > NEVER]]
        for query, line, one in zip(queries, rows, scores, strict=True)
    }


def _hashes(ids: Sequence[str]) -> np.ndarray:
    """Return a number for each id: uint64 [ids]."""
    digests = (hashlib.blake2b(key.encode(), digest_size=8).digest() for key in ids)
    return np.array([int.from_bytes(digest) for digest in digests], dtype=np.uint64)


def _largest(scores: np.ndarray, *, ties: np.ndarray) -> np.ndarray:
    """Return where the largest of scores [n] are, descending; `ties`, [n], order equal ones."""
    top, kept = metrics.DEEPEST, np.arange(len(scores))
    if len(scores) > top:
        kept = np.flatnonzero(scores >= np.partition(scores, -top)[-top])
    return kept[np.lexsort((ties[kept], -scores[kept]))[:top]]
