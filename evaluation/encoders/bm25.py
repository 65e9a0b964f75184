"""BM25, which ranks documents for a query by the words that both have."""

import re
from collections.abc import Sequence

import bm25s
import numpy as np
import scipy.sparse

from common.errors import InputError
from evaluation.encoders.tfidf import TOKEN, provenance

METHOD, K1, B = "robertson", 1.5, 0.75
"""bm25s's own constants, and Robertson's idf: of bm25s's variants it is the best on validation
pairs of Reddit, by 0.01 of P@1 of 100 (November 2026)."""


class Bm25:
    """BM25 of lower-cased words and single marks, as the library bm25s computes it.

    A query is its words, a document what BM25 gives for each word that it has; so the dot product
    of both is the query's score of the document. Document frequencies and the mean length are those
    of all texts to score. There is no embedding that is the same in both roles.
    """

    path = "BM25"
    gives_embeddings = False
    tasks = ("response_ranking", "cqa")

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._number: dict[str, int] = {}
        self._columns: dict[str, int] = {}
        self._documents = scipy.sparse.csr_array((0, 0))

    def fit(self, texts: Sequence[str]) -> "Bm25":
        """Index all texts to score; return itself.

        Raises:
          InputError: if they hold no word.
        """
        self._texts = sorted(set(texts))
        self._number = {text: row for row, text in enumerate(self._texts)}
        words = [_words(text) for text in self._texts]
        if not any(words):
            raise InputError(f"{self.path}: knows no word of the {len(self._texts):,} texts")
        index = bm25s.BM25(method=METHOD, k1=K1, b=B, dtype="float64")
        index.index(words, show_progress=False)
        self._columns = index.vocab_dict
        columns = tuple(index.scores[name] for name in ("data", "indices", "indptr"))
        shape = len(words), len(columns[-1]) - 1
        self._documents = scipy.sparse.csc_array(columns, shape=shape).tocsr()
        return self

    def encode_inputs(self, sentences: Sequence[str]) -> scipy.sparse.csr_array:
        """Return the queries, how often each has each word: float64 [len(sentences), words]."""
        queries = [
            [self._columns[word] for word in _words(text) if word in self._columns]
            for text in sentences
        ]
        ends = np.cumsum([0, *map(len, queries)])
        columns = np.array([column for one in queries for column in one], dtype=np.int64)
        shape = len(queries), self._documents.shape[1]
        return scipy.sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)

    def encode_responses(self, sentences: Sequence[str]) -> scipy.sparse.csr_array:
        """Return documents, of the texts that `fit` was given: float64 [len(sentences), words]."""
        return self._documents[[self._number[text] for text in sentences]]

    def provenance(self) -> dict:
        """Return the name, and what identifies it and its texts."""
        source = f"bm25s {bm25s.__version__}, {METHOD}, k1 {K1}, b {B}"
        return provenance(self.path, source=source, texts=self._texts)


def _words(text: str) -> list[str]:
    return re.findall(TOKEN, text.lower())
