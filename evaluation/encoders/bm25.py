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

    def fit(self, texts: Sequence[str]) -> "Bm25":
        """Index all texts to score; return itself.

        Raises:
          InputError: if they hold no word.
        """
        texts = sorted(set(texts))
        self._row = {text: row for row, text in enumerate(texts)}
        words = [_words(text) for text in texts]
        if not any(words):
            raise InputError(f"{self.path}: knows no word of the {len(texts):,} texts")
        index = bm25s.BM25(method=METHOD, k1=K1, b=B, dtype="float64")
        index.index(words, show_progress=False)
        columns = tuple(index.scores[name] for name in ("data", "indices", "indptr"))
        shape = len(texts), len(columns[-1]) - 1
        self._documents = scipy.sparse.csc_array(columns, shape=shape).tocsr()
        self._columns: dict[str, int] = index.vocab_dict
        return self

    def encode_inputs(self, sentences: Sequence[str]) -> scipy.sparse.csr_array:
        """Return the queries, how often each has each word: float64 [len(sentences), words]."""
        known = [[word for word in _words(text) if word in self._columns] for text in sentences]
        columns = np.array([self._columns[word] for query in known for word in query], np.int64)
        ends = np.cumsum([0, *map(len, known)])
        shape = len(known), self._documents.shape[1]
        return scipy.sparse.csr_array((np.ones(len(columns)), columns, ends), shape=shape)

    def encode_responses(self, sentences: Sequence[str]) -> scipy.sparse.csr_array:
        """Return documents, of the texts that `fit` was given: float64 [len(sentences), words]."""
        return self._documents[[self._row[text] for text in sentences]]

    def provenance(self) -> dict:
        """Return the name, and what identifies it and its texts."""
        source = f"bm25s {bm25s.__version__}, {METHOD}, k1 {K1}, b {B}"
        return provenance(self.path, source=source, texts=self._row)


def _words(text: str) -> list[str]:
    return re.findall(TOKEN, text.lower())
