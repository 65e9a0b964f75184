"""A SavedModel seen as functions from sentences to vectors."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from evaluation.encoders import module as modules
from evaluation.encoders.cache import RowCache
from evaluation.encoders.chunks import (
    Spread,
    by_length,
    chunks,
    in_halves,
)
from evaluation.encoders.module import Apply
from evaluation.errors import InputError

# The second is what the modules of TensorFlow 1 call it.
EMBEDDINGS = ("serving_default", "default")

INSTEAD = ("similarity", "classify_nli")


class Side:
    """One function from sentences to rows, and the rows it gave before."""

    def __init__(self, apply: Apply, label: str):
        self.apply, self.label, self.cache = apply, label, RowCache()


class Encoder:
    """Loads a module once and scores sentences with it.

    Any SavedModel serves that maps strings [batch] to floats [batch, dim], through its root
    `__call__` or else through its signature `serving_default`. Signatures `encode_input` and
    `encode_response` give the two sides of response ranking (the paper's u and v'); without
    one, that side is the embedding. A module without embeddings loads where it has what a task
    may ask for instead, in its `signatures`: `similarity` or `classify_nli`.
    """

    def __init__(self, module: str | Path):
        """`module` is the folder of a SavedModel or a URL that tensorflow-hub resolves.

        Raises:
          InputError: if there is no SavedModel, or nothing in it that can be used.
        """
        self.path = str(module)
        self.folder = modules.resolve(module)
        self._module = modules.load(self.folder)  # signatures live no longer than it
        self.signatures = dict(getattr(self._module, "signatures", {}))
        embed = self._embed()
        if embed is None and not any(map(self.has, INSTEAD)):
            raise InputError(
                f"{self.path}: has neither a callable root nor a signature serving_default; "
                f"signatures found: {', '.join(self.signatures) or 'none'}"
            )
        self._embeddings = Side(embed, "encoding") if embed else None
        self._inputs = self._side("encode_input", "inputs") or self._embeddings
        self._responses = self._side("encode_response", "responses") or self._embeddings

    @property
    def gives_embeddings(self) -> bool:
        """Whether `encode` has what it needs."""
        return self._embeddings is not None

    def has(self, signature: str) -> bool:
        """Say whether the module has a signature of that name."""
        return signature in self.signatures

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the embeddings: float32 [len(sentences), dim], in their order."""
        return self._encode_all(sentences, side=self._embeddings)

    def encode_inputs(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the input side of response ranking: float32 [len(sentences), dim]."""
        return self._encode_all(sentences, side=self._inputs)

    def encode_responses(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the response-side vectors: float32 [len(sentences), dim], in their order.

        Their dot product with an input's vector scores the response (section 2.2).
        """
        return self._encode_all(sentences, side=self._responses)

    def word_vectors(self, words: Sequence[str]) -> np.ndarray:
        """Return the rows of the module's word table: float32 [len(words), word_dim].

        A text of several words has their mean; one without a word may have zeros.
        """
        self.require("word_vectors")
        side = self._side("word_vectors", "word vectors")
        return self._encode_all(words, side=side, zeros_allowed=True)

    def provenance(self) -> dict:
        """Return what identifies the module: its path as given, and its fingerprint."""
        return {"path": self.path, "fingerprint": modules.fingerprint(self.folder)}

    def _embed(self) -> Apply | None:
        """Return what embeds sentences, where the module has it."""
        if callable(self._module):

            def embed(texts: tf.Tensor) -> tf.Tensor:
                return self._module(texts)

            # Called as it is, it would be traced anew for every size of a batch.
            strings = tf.TensorSpec([None], tf.string)
            return tf.function(embed, input_signature=[strings], autograph=False)
        for name in EMBEDDINGS:
            if self.has(name):
                return modules.of_sentences(self.signatures[name], module=self.path)
        return None

    def _side(self, name: str, label: str) -> Side | None:
        """Return a signature of sentences, where the module has it."""
        if not self.has(name):
            return None
        return Side(modules.of_sentences(self.signatures[name], module=self.path), label)

    def require(self, name: str) -> None:
        """Raise InputError unless the module has a signature of that name."""
        if not self.has(name):
            found = ", ".join(self.signatures) or "none"
            raise InputError(f"{self.path}: has no signature {name}; signatures found: {found}")

    def _encode_all(
        self, sentences: Sequence[str], *, side: Side | None, zeros_allowed: bool = False
    ) -> np.ndarray:
        """Encode each different sentence once, similar lengths together to save padding."""
        if not sentences:
            raise ValueError("sentences: at least one is needed, received none")
        if side is None:
            raise InputError(f"{self.path}: gives no embeddings, which this task needs")
        different = set(sentences)
        known = [text for text in different if text in side.cache]
        new = by_length(different.difference(known))
        spread = Spread(sentences, known + new)
        if known:
            spread.write(side.cache.rows(known))
        with tqdm(total=len(new), desc=side.label, unit=" sentences", leave=False) as progress:
            for start, end in chunks([len(text) for text in new]):
                texts = new[start:end]
                rows = self._rows(side.apply, texts, zeros_allowed=zeros_allowed)
                width = spread.rows.shape[1] or rows.shape[1]
                if rows.shape[1] != width:
                    widths = sorted({width, rows.shape[1]})
                    raise InputError(f"{self.path}: rows of different widths: {widths}")
                spread.write(rows)
                side.cache.add(texts, rows)
                progress.update(len(texts))
        return spread.rows

    def _rows(self, apply: Apply, texts: list[str], *, zeros_allowed: bool) -> np.ndarray:
        """Encode one chunk: float32 [len(texts), dim], finite."""
        encode = partial(self._applied, apply)
        rows = in_halves(encode, texts, retry=tf.errors.OpError)
        for good, problem in (
            (np.isfinite(rows).all(axis=1), "a NaN or infinite value"),
            (zeros_allowed | rows.any(axis=1), "an all-zero row"),
        ):
            if not good.all():
                text = texts[int(np.argmin(good))]
                raise InputError(f"{self.path}: gives {problem} for the sentence {text!r}")
        return rows

    def _applied(self, apply: Apply, texts: list[str]) -> np.ndarray:
        """Return what a function gives for texts: float32 [len(texts), dim]."""
        try:
            outputs = apply(tf.constant(texts))
        except tf.errors.OpError as error:
            if len(texts) > 1:
                raise
            reason = modules.first_line(error)
            raise InputError(
                f"{self.path}: fails on the sentence {texts[0]!r}: {reason}"
            ) from error
        except (TypeError, ValueError) as error:
            reason = modules.first_line(error)
            raise InputError(f"{self.path}: takes no batch of strings: {reason}") from error
        if not tf.is_tensor(outputs) or not outputs.dtype.is_floating:
            kind = outputs.dtype.name if tf.is_tensor(outputs) else type(outputs).__name__
            raise InputError(f"{self.path}: gives {kind} for {texts[0]!r}, not a float tensor")
        rows = tf.cast(outputs, tf.float32).numpy()
        if rows.ndim != 2 or len(rows) != len(texts):
            raise InputError(
                f"{self.path}: gives shape {list(rows.shape)} for {len(texts)} sentences from "
                f"{texts[0]!r} on; [{len(texts)}, dim] is needed"
            )
        return rows
