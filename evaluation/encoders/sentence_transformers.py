"""Models of sentence-transformers as encoders, where that package is installed."""

from common import sentence_transformers
from evaluation.encoders.batching import BatchedEncoder


class SentenceTransformersEncoder:
    """A model of sentence-transformers; inputs and responses are encoded alike.

    It is given as a name that sentence-transformers knows, a folder, or NAME=DIR: a folder, and
    what to call it.
    """

    gives_embeddings = True

    def __init__(self, given: str):
        name, _, folder = given.rpartition("=")
        self.path = name or folder
        model = sentence_transformers.Model(folder)
        self.encode = BatchedEncoder(model.encode, path=self.path)
        self.encode_inputs = self.encode_responses = self.encode
        self._fingerprint = model.fingerprint

    def provenance(self) -> dict:
        """Return its name, a hash of its weights, and that it was trained elsewhere."""
        return {"path": self.path, "fingerprint": self._fingerprint, "pretrained": True}
