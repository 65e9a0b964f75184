"""TF-IDF: texts as counts of their words, rare words counting more."""

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from evaluation.encoders.fitted import FittedEncoder, tokens

MAX_BYTES = 512 * 2**20
HASHED = 4096


class TfIdf(FittedEncoder):
    """A column for each lower-cased word: its count times 1 + ln((1 + n) / (1 + texts with it)).

    Where the rows of all texts would be larger than 512 MiB, words share 4,096 columns by a signed
    hash: what two texts have in common is then right on average, with an error of about 1/64.
    """

    def __init__(self) -> None:
        super().__init__("TF-IDF", source="lower-cased words, smoothed idf")
        self._column: dict[str, tuple[int, float]] = {}
        self._columns = 0

    def _learn(self, texts: Sequence[str]) -> None:
        found = Counter(word for text in texts for word in set(_words(text)))
        exact = len(texts) * len(found) * 4 <= MAX_BYTES
        self._columns = len(found) if exact else HASHED
        self._column = {}
        for number, word in enumerate(sorted(found)):
            idf = 1.0 + np.log((1 + len(texts)) / (1 + found[word]))
            column, sign = (number, 1.0) if exact else _hashed(word)
            self._column[word] = (column, sign * idf)

    def _rows(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), self._columns), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _words(text):
                if word in self._column:
                    column, weight = self._column[word]
                    row[column] += weight
        return rows


def _words(text: str) -> list[str]:
    return tokens(text.lower())


def _hashed(word: str) -> tuple[int, float]:
    """Return a word's column and sign."""
    number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
    return number // 2 % HASHED, 1.0 if number % 2 else -1.0
