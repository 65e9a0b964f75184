"""TF-IDF, a baseline that needs no training; what identifies a baseline."""

import hashlib
from collections.abc import Iterable, Sequence

import scipy.sparse.linalg
from sklearn.feature_extraction.text import TfidfVectorizer

from common.errors import reading

TOKEN = r"\w+|[^\w\s]"
"""A word, or a single mark."""


def provenance(name: str, *, source: str, texts: Iterable[str], unknown: int = 0) -> dict:
    """Return what identifies a baseline: its name, what it was made of, the texts it learned from.

    `unknown` is how many of the texts it has no word for.
    """
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    identity = f"{name}\0{source}\0{digest}"
    return {
        "path": name,
        "fingerprint": hashlib.sha256(identity.encode()).hexdigest(),
        "texts_without_a_known_word": unknown,
    }


class TfIdf:
    """scikit-learn's TF-IDF of lower-cased words and single marks, smoothed idf.

    A word counts as often as it occurs times 1 + ln((1 + n) / (1 + texts with it)); rows have
    length 1, so a dot product is a cosine.
    """

    path = "TF-IDF"
    sparse = True

    def fit(self, texts: Sequence[str]) -> "TfIdf":
        """Learn the words and their frequencies from all texts to score; return itself.

        Raises:
          InputError: if they hold no word.
        """
        self._texts = sorted(set(texts))
        self._vectorizer = TfidfVectorizer(token_pattern=TOKEN)
        with reading(self.path):
            rows = scipy.sparse.csr_array(self._vectorizer.fit_transform(self._texts))
        mean = scipy.sparse.csr_array(rows.mean(axis=0)[None, :])
        self._mean = mean / scipy.sparse.linalg.norm(mean)
        return self

    def encode(self, sentences: Sequence[str]) -> scipy.sparse.csr_array:
        """Return sparse float64 [len(sentences), words]; without a known word, the mean text."""
        rows = scipy.sparse.csr_array(self._vectorizer.transform(sentences))
        empty = scipy.sparse.csr_array((rows.sum(axis=1) == 0)[:, None].astype(float))
        return scipy.sparse.csr_array(rows + empty @ self._mean)

    encode_inputs = encode_responses = encode

    def provenance(self) -> dict:
        """Return the name, and what identifies it and its texts."""
        return provenance(
            self.path, source="lower-cased words, smoothed idf, length 1", texts=self._texts
        )
