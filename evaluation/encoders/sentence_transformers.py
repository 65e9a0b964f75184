"""Models of sentence-transformers as encoders, where that package is installed."""

from collections.abc import Sequence

import numpy as np

from common import sentence_transformers
from evaluation.encoders.batching import check_rows


class SentenceTransformersEncoder:
    """A model of sentence-transformers; inputs and responses are encoded alike."""

    gives_embeddings = True

    def __init__(self, given: str):
        """Load it.

        Args:
          given: a name that sentence-transformers knows, a folder, or NAME=DIR: a folder, and
            what to call it.

        Raises:
          InputError: if the package is not installed, or there is no such model.
        """
        name, _, folder = given.rpartition("=")
        self.path = name or folder
        self._model = sentence_transformers.Model(folder)

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return float32 [len(sentences), dim], each different text encoded once."""
        different, position = np.unique(np.array(sentences, dtype=object), return_inverse=True)
        texts = different.tolist()
        rows = self._model.encode(texts)
        check_rows(rows, texts, path=self.path)
        return rows[position]

    encode_inputs = encode_responses = encode

    def provenance(self) -> dict:
        """Return its name, a hash of its weights, and that it was trained elsewhere."""
        return {"path": self.path, "fingerprint": self._model.fingerprint, "pretrained": True}
