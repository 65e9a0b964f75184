"""Models of sentence-transformers, where that package is installed; it is not a dependency."""

import hashlib
from collections.abc import Sequence

import numpy as np

from evaluation.encoders.batching import check_rows
from evaluation.errors import InputError


class SentenceTransformersEncoder:
    """A model of sentence-transformers by name or folder, used as it is."""

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
        self.signatures: dict = {}
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise InputError(
                f"{given}: needs the package sentence-transformers, not installed ({error})"
            ) from error
        try:
            self._model = SentenceTransformer(folder)
        except Exception as error:  # of its hub, its files, its configuration
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(f"{given}: sentence-transformers cannot load it: {reason}") from error

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return float32 [len(sentences), dim], each different text encoded once."""
        different = sorted(set(sentences))
        rows = self._model.encode(different, convert_to_numpy=True, show_progress_bar=False)
        rows = np.asarray(rows, dtype=np.float32)
        check_rows(rows, different, path=self.path)
        number = {text: row for row, text in enumerate(different)}
        return rows[[number[text] for text in sentences]]

    encode_inputs = encode_responses = encode

    def provenance(self) -> dict:
        """Return its name, a hash of its weights, and that it was trained elsewhere."""
        digest = hashlib.sha256()
        for name, weights in sorted(self._model.state_dict().items()):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(weights.cpu().numpy()).tobytes())
        return {"path": self.path, "fingerprint": digest.hexdigest(), "pretrained": True}
