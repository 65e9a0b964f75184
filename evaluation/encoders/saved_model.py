"""A SavedModel, ours or anybody's, as functions from sentences to vectors."""

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import tensorflow as tf

from common import saved_model
from common.errors import InputError, reading
from common.saved_model import Apply
from evaluation.encoders import pair_signatures
from evaluation.encoders.batching import BatchedEncoder

_EMBEDDINGS = (saved_model.SERVING_DEFAULT, "default")
"""The second is what the modules of TensorFlow 1 call it."""
_INSTEAD = (pair_signatures.SIMILARITY, pair_signatures.CLASSIFY_NLI)


class Encoder:
    """Loads a module once and encodes sentences with it.

    Any SavedModel will do that maps strings [batch] to floats [batch, dim], through its root
    `__call__` or else through its signature `serving_default`. Signatures `encode_input` and
    `encode_response` encode the inputs and responses of response ranking (the paper's u and v');
    without one, the embedding is used. A module without embeddings loads where it has what a task
    may ask for instead, in its `signatures`: `similarity` or `classify_nli`.
    """

    def __init__(self, module: str | Path, *, pretrained: bool = False):
        """Load a module.

        Args:
          module: the folder of a SavedModel or a URL that tensorflow-hub resolves.
          pretrained: whether reports take it for somebody's pretrained model.

        Raises:
          InputError: if there is no SavedModel, or nothing in it that can be used.
        """
        self.path = str(module)
        self._pretrained = pretrained
        self.folder = _resolved(module)
        self._module = saved_model.load(self.folder)
        self.signatures = dict(getattr(self._module, "signatures", {}))
        embed = self._embed()
        if embed is None and not any(name in self.signatures for name in _INSTEAD):
            raise InputError(
                f"{self.path}: has neither a callable root nor a signature serving_default; "
                f"signatures found: {', '.join(self.signatures) or 'none'}"
            )
        self._embeddings = self._batched(embed, "encoding") if embed else None
        self._inputs = self._signature("encode_input", "inputs") or self._embeddings
        self._responses = self._signature("encode_response", "responses") or self._embeddings

    @property
    def gives_embeddings(self) -> bool:
        """Whether `encode` has what it needs."""
        return self._embeddings is not None

    @property
    def reads_context(self) -> bool:
        """Whether the messages before an input can join it."""
        return pair_signatures.ENCODE_IN_CONTEXT in self.signatures

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the embeddings: float32 [len(sentences), dim], in their order.

        Raises:
          InputError: if the module gives no embeddings, or a row with NaN or all zeros.
        """
        return self._encoded(self._embeddings, sentences)

    def encode_inputs(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the inputs' vectors of response ranking: float32 [len(sentences), dim]."""
        return self._encoded(self._inputs, sentences)

    def encode_inputs_in_context(
        self, sentences: Sequence[str], contexts: Sequence[str]
    ) -> np.ndarray:
        """Return the vectors of inputs with what was said before: float32 [sentences, dim]."""
        return pair_signatures.encode_in_context(self, sentences, contexts)

    def encode_responses(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the responses' vectors: float32 [len(sentences), dim], in their order.

        Their dot product with an input's vector scores the response (section 2.2).
        """
        return self._encoded(self._responses, sentences)

    def word_vectors(self, words: Sequence[str]) -> np.ndarray:
        """Return the rows of the module's word table: float32 [len(words), word_dim].

        A text of several words has their mean; one without a word may have zeros.
        """
        apply = saved_model.of_texts(self._module, "word_vectors", path=self.path)
        return self._batched(apply, "word vectors", zeros_allowed=True)(words)

    def provenance(self) -> dict:
        """Return what identifies the module: its path as given, and its fingerprint."""
        found: dict = {"path": self.path, "fingerprint": saved_model.fingerprint(self.folder)}
        return found | ({"pretrained": True} if self._pretrained else {})

    def _encoded(self, encoder: BatchedEncoder | None, sentences: Sequence[str]) -> np.ndarray:
        if encoder is None:
            raise InputError(f"{self.path}: gives no embeddings, which this task needs")
        return encoder(sentences)

    def _embed(self) -> Apply | None:
        """Return what embeds sentences, where the module has it.

        The root is taken, unless it gives no tensor for strings where a signature takes them.
        """
        named = next((name for name in _EMBEDDINGS if name in self.signatures), None)
        if callable(self._module):

            def call(texts: tf.Tensor) -> tf.Tensor:
                return self._module(texts)

            # Called as it is, it would be traced anew for every size of a batch.
            strings = [tf.TensorSpec([None], tf.string)]
            root = tf.function(call, input_signature=strings, autograph=False)
            if named is None or _gives_a_tensor(root):
                return root
        return saved_model.of_texts(self._module, named, path=self.path) if named else None

    def _signature(self, name: str, label: str) -> BatchedEncoder | None:
        """Return a signature of sentences, where the module has it."""
        if name not in self.signatures:
            return None
        return self._batched(saved_model.of_texts(self._module, name, path=self.path), label)

    def _batched(self, apply: Apply, label: str, *, zeros_allowed: bool = False) -> BatchedEncoder:
        encode = partial(saved_model.encode, apply, path=self.path)
        return BatchedEncoder(encode, path=self.path, label=label, zeros_allowed=zeros_allowed)


def load_encoder(module: str | Path, *, pretrained: bool = False) -> Encoder:
    """Load a SavedModel from a folder, or from a URL that tensorflow-hub resolves.

    `pretrained` says whether reports take it for somebody's pretrained model.

    Raises:
      InputError: if there is no SavedModel, or nothing in it that can be used.
    """
    return Encoder(module, pretrained=pretrained)


def _resolved(module: str | Path) -> Path:
    """Return the folder of a module: itself, or where tensorflow-hub puts what a URL names.

    The folder of what was fetched is tensorflow-hub's cache, TFHUB_CACHE_DIR.
    """
    if "://" not in str(module):
        return Path(module)
    with reading(str(module)), warnings.catch_warnings():
        # tensorflow-hub 0.16 imports pkg_resources, which warns of its end at every import.
        warnings.filterwarnings("ignore", message=".*pkg_resources")
        import tensorflow_hub as hub

        return Path(hub.resolve(str(module)))


def _gives_a_tensor(root: tf.types.experimental.PolymorphicFunction) -> bool:
    """Return whether a function takes a batch of strings, and gives one tensor for it."""
    try:
        return tf.is_tensor(root.get_concrete_function().structured_outputs)
    except (TypeError, ValueError, tf.errors.OpError):
        return False
