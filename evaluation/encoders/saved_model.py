"""A SavedModel, ours or anybody's, as functions from sentences to vectors."""

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import tensorflow as tf

from common.encoders import saved_model
from common.encoders.saved_model import Apply
from common.errors import InputError, reading
from common.tfrecord import LABELS
from evaluation.encoders.batching import BatchedEncoder, Embeddings

CLASSIFY_NLI, _IN_CONTEXT = "classify_nli", "encode_input_in_context"
_EMBEDDINGS = (saved_model.SERVING_DEFAULT, "default")  # the second in modules of TensorFlow 1


class Encoder(Embeddings):
    """Loads a module once, of a folder or of a URL for tensorflow-hub, and encodes sentences.

    Any SavedModel will do that maps strings [batch] to floats [batch, dim], by its signature
    `serving_default` or its root `__call__`. Signatures `encode_input` and `encode_response` give
    the paper's u and v' of response ranking; without one, the embedding is used.
    """

    def __init__(self, module: str | Path, *, pretrained: bool = False):
        self.path = str(module)
        folder = _resolved(module)
        self._module = saved_model.load(folder)
        self.signatures = dict(getattr(self._module, "signatures", {}))
        self.reads_context = _IN_CONTEXT in self.signatures
        encode = partial(saved_model.encode, self._embed(), path=self.path)
        # Now: the folder may hold another module before a result is stored.
        fingerprint = saved_model.fingerprint(folder)
        super().__init__(encode, path=self.path, fingerprint=fingerprint, pretrained=pretrained)
        if "encode_input" in self.signatures:
            self.encode_inputs = self._batched("encode_input")
        if "encode_response" in self.signatures:
            self.encode_responses = self._batched("encode_response")

    def encode_inputs_in_context(
        self, sentences: Sequence[str], contexts: Sequence[str]
    ) -> np.ndarray:
        """Return the vectors of inputs with what was said before: float32 [sentences, dim]."""
        return self._of_pairs(_IN_CONTEXT, inputs=sentences, context=contexts)

    def word_vectors(self, words: Sequence[str]) -> np.ndarray:
        """Return the rows of the module's word table, or zeros: float32 [words, dim]."""
        return self._batched("word_vectors", zeros_allowed=True)(words)

    def classify_nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        """Return probabilities of entailment, neutral and contradiction, float32 [pairs, 3]."""
        rows = self._of_pairs(CLASSIFY_NLI, premise=premises, hypothesis=hypotheses)
        if rows.shape[1] != len(LABELS):
            raise InputError(f"{self.path}: {CLASSIFY_NLI} gives {rows.shape[1]} numbers, not 3")
        return rows

    def _embed(self) -> Apply:
        if named := next((name for name in _EMBEDDINGS if name in self.signatures), None):
            return saved_model.of_texts(self._module, named, path=self.path)
        if not callable(self._module):
            raise InputError(
                f"{self.path}: has neither a signature serving_default nor a callable root; "
                f"signatures found: {', '.join(self.signatures) or 'none'}"
            )
        # Called as it is, it would be traced anew for every size of a batch.
        strings = [tf.TensorSpec([None], tf.string)]
        return tf.function(lambda texts: self._module(texts), strings, autograph=False)  # noqa: PLW0108

    def _batched(self, signature: str, *, zeros_allowed: bool = False) -> BatchedEncoder:
        apply = saved_model.of_texts(self._module, signature, path=self.path)
        encode = partial(saved_model.encode, apply, path=self.path)
        return BatchedEncoder(encode, path=self.path, zeros_allowed=zeros_allowed)

    def _of_pairs(self, signature: str, **sides: Sequence[str]) -> np.ndarray:
        """Return what a signature gives for pairs of texts, by the names of its arguments."""
        of = self.signatures[signature]

        def apply(pairs: tf.Tensor) -> tf.Tensor:  # string [batch, 2]
            return of(**dict(zip(sides, tf.unstack(pairs, axis=1), strict=True)))["outputs"]

        encode = partial(saved_model.encode, apply, path=self.path)
        pairs = list(zip(*sides.values(), strict=True))
        return BatchedEncoder(encode, path=self.path, zeros_allowed=True)(pairs)


def _resolved(module: str | Path) -> Path:
    """Return the folder of a module, of a URL in tensorflow-hub's cache, TFHUB_CACHE_DIR."""
    if "://" not in str(module):
        return Path(module)
    with reading(str(module)), warnings.catch_warnings():
        # tensorflow-hub 0.16 imports pkg_resources, which warns of its end at every import.
        warnings.filterwarnings("ignore", message=".*pkg_resources")
        import tensorflow_hub as hub

        return Path(hub.resolve(str(module)))
