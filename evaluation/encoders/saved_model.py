"""A SavedModel, ours or anybody's, as functions from sentences to vectors."""

import itertools
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import tensorflow as tf

from common import saved_model
from common.errors import InputError, reading
from common.saved_model import Apply
from evaluation.encoders.batching import BatchedEncoder, Embeddings

CLASSIFY_NLI, _IN_CONTEXT = "classify_nli", "encode_input_in_context"
_EMBEDDINGS = (saved_model.SERVING_DEFAULT, "default")  # the second in modules of TensorFlow 1
_PAIRS = 256  # pairs of texts in a batch


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
        return self._of_pairs(_IN_CONTEXT, None, inputs=sentences, context=contexts)

    def word_vectors(self, words: Sequence[str]) -> np.ndarray:
        """Return the rows of the module's word table, or zeros: float32 [words, dim]."""
        return self._batched("word_vectors", zeros_allowed=True)(words)

    def classify_nli(self, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
        """Return probabilities of entailment, neutral and contradiction, float32 [pairs, 3]."""
        return self._of_pairs(CLASSIFY_NLI, 3, premise=premises, hypothesis=hypotheses)

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

    def _of_pairs(self, name: str, width: int | None, **texts: Sequence[str]) -> np.ndarray:
        """Call a signature of pairs of `texts`; return [pairs, width], of any width for None."""
        signature, rows = self.signatures[name], []
        pairs = list(zip(*texts.values(), strict=True))
        for start in range(0, len(pairs), _PAIRS):
            batch = pairs[start : start + _PAIRS]
            with reading(f"{self.path}: {name} of pairs from {start + 1} on"):
                columns = zip(texts, map(tf.constant, zip(*batch, strict=True)), strict=True)
                found = signature(**dict(columns))["outputs"].numpy()
                wanted = (len(batch), found.shape[-1] if width is None else width)
                if found.shape != wanted:
                    raise ValueError(f"gives shape {list(found.shape)}; {list(wanted)} is needed")
                if bad := list(itertools.compress(batch, ~np.isfinite(found).all(axis=1))):
                    raise ValueError(f"gives a number that is not finite for the pair {bad[0]}")
            rows.append(found)
        return np.concatenate(rows)


def _resolved(module: str | Path) -> Path:
    """Return the folder of a module, of a URL in tensorflow-hub's cache, TFHUB_CACHE_DIR."""
    if "://" not in str(module):
        return Path(module)
    with reading(str(module)), warnings.catch_warnings():
        # tensorflow-hub 0.16 imports pkg_resources, which warns of its end at every import.
        warnings.filterwarnings("ignore", message=".*pkg_resources")
        import tensorflow_hub as hub

        return Path(hub.resolve(str(module)))
