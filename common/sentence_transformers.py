"""Models of sentence-transformers, where that package is installed."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from common.errors import reading


class Model:
    """An encoder of texts, and what identifies it."""

    def __init__(self, name: str):
        """Loads the model of a name that sentence-transformers knows, or of a folder."""
        with reading(name):
            from sentence_transformers import SentenceTransformer

            self._model: Any = SentenceTransformer(name)
        digest = hashlib.sha256()
        for key, weights in sorted(self._model.state_dict().items()):
            digest.update(key.encode())
            digest.update(np.ascontiguousarray(weights.cpu().numpy()).tobytes())
        self.name = name
        self.fingerprint = digest.hexdigest()
        """Hexadecimal digits; other weights, another fingerprint."""

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> np.ndarray:
        """Texts -> float32 [texts, dim]."""
        options = {"convert_to_numpy": True, "show_progress_bar": False}
        with reading(self.name):
            rows = self._model.encode(list(texts), batch_size=batch_size, **options)
        return np.asarray(rows, dtype=np.float32)
