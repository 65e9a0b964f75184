"""TF-IDF: texts as sparse vectors of their words, rare words counting more."""

from collections.abc import Sequence

import scipy.sparse.linalg
from sklearn.feature_extraction.text import TfidfVectorizer

from evaluation.encoders import word_averages
from evaluation.errors import InputError


class TfIdf:
    """scikit-learn's TF-IDF of lower-cased words and single marks, smoothed idf.

    A word counts as often as it occurs times 1 + ln((1 + n) / (1 + texts with it)); rows have
    length 1, so a dot product is a cosine.
    """

    path = "TF-IDF"
    gives_embeddings = True

    def __init__(self) -> None:
        self.signatures: dict = {}
        self._texts: list[str] = []
        self._vectorizer = TfidfVectorizer(token_pattern=word_averages.TOKEN)
        self._mean: scipy.sparse.csr_array | None = None

    def fit(self, texts: Sequence[str]) -> "TfIdf":
        """Learn the words and their frequencies from all texts to score; return itself.

        Raises:
          InputError: if they hold no word.
        """
        self._texts = sorted(set(texts))
        try:
            rows = scipy.sparse.csr_array(self._vectorizer.fit_transform(self._texts))
        except ValueError as error:
            raise InputError(
                f"{self.path}: knows no word of the {len(self._texts):,} texts"
            ) from error
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
        return word_averages.provenance(
            self.path, source="lower-cased words, smoothed idf, length 1", texts=self._texts
        )
