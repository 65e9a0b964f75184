"""What the encoders have in common that know their texts beforehand."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from evaluation.errors import InputError


def tokens(text: str) -> list[str]:
    """Return the words and the single marks of a text, as they are written."""
    return re.findall(r"\w+|[^\w\s]", text)


class FittedEncoder(ABC):
    """Turns texts into vectors by what it knows of all texts that it will score.

    A text without a word that it knows gets the mean of all texts, so that it is like any other
    and unlike none; `provenance` counts them.
    """

    gives_embeddings = True

    def __init__(self, name: str, *, source: str):
        """`name` is shown; `source` identifies what it was made of, such as a file's hash."""
        self.path, self._source = name, source
        self.signatures: dict = {}
        self._mean = np.zeros(1, dtype=np.float32)
        self._unknown = 0
        self._texts = ""

    def fit(self, texts: Sequence[str]) -> "FittedEncoder":
        """Learn from these texts; returns itself.

        Raises:
          InputError: if no word of theirs is known.
        """
        different = sorted(set(texts))
        self._learn(different)
        rows = self._rows(different)
        known = rows.any(axis=1)
        if not known.any():
            raise InputError(f"{self.path}: knows no word of the {len(different):,} texts")
        self._mean = rows[known].mean(axis=0)
        self._unknown = int((~known).sum())
        self._texts = hashlib.sha256("\0".join(different).encode()).hexdigest()
        return self

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return float32 [len(sentences), dim], no row of zeros."""
        rows = self._rows(sentences)
        rows[~rows.any(axis=1)] = self._mean
        return rows

    def encode_inputs(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the same, of unit length: a dot product is then a cosine."""
        rows = self.encode(sentences)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    encode_responses = encode_inputs

    def provenance(self) -> dict:
        """Return the name, what identifies it and its texts, and how many it had no word for."""
        identity = f"{self.path}\0{self._source}\0{self._texts}"
        return {
            "path": self.path,
            "fingerprint": hashlib.sha256(identity.encode()).hexdigest(),
            "texts_without_a_known_word": self._unknown,
        }

    @abstractmethod
    def _learn(self, texts: Sequence[str]) -> None:
        """Take in what the texts tell."""

    @abstractmethod
    def _rows(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 [len(texts), dim], rows of zeros where no word is known."""
