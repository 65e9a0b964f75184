"""A SavedModel, ours or anybody's, as functions from sentences to vectors."""

import hashlib
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that a module's tokenizer may use)

from evaluation.encoders import pair_signatures
from evaluation.encoders.batching import BatchedEncoder
from evaluation.errors import InputError

with warnings.catch_warnings():
    # tensorflow-hub 0.16 imports pkg_resources, which warns of its end at every import.
    warnings.filterwarnings("ignore", message="pkg_resources is deprecated")
    warnings.filterwarnings("ignore", message="Deprecated call to `pkg_resources")
    import tensorflow_hub as hub

Apply = Callable[[tf.Tensor], tf.Tensor]
"""Strings [batch] to floats [batch, dim]."""

# The second is what the modules of TensorFlow 1 call it.
EMBEDDINGS = ("serving_default", "default")
INSTEAD = (pair_signatures.SIMILARITY, pair_signatures.CLASSIFY_NLI)


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
        self.folder = resolve(module)
        self._module = load(self.folder)  # signatures live no longer than it
        self.signatures = dict(getattr(self._module, "signatures", {}))
        embed = self._embed()
        if embed is None and not any(name in self.signatures for name in INSTEAD):
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

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the embeddings: float32 [len(sentences), dim], in their order.

        Raises:
          InputError: if the module gives no embeddings, or a row with NaN or all zeros.
        """
        return self._encoded(self._embeddings, sentences)

    def encode_inputs(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the inputs' vectors of response ranking: float32 [len(sentences), dim]."""
        return self._encoded(self._inputs, sentences)

    @property
    def reads_context(self) -> bool:
        """Whether the messages before an input can join it."""
        return pair_signatures.ENCODE_IN_CONTEXT in self.signatures

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

    def _encoded(self, encoder: BatchedEncoder | None, sentences: Sequence[str]) -> np.ndarray:
        if encoder is None:
            raise InputError(f"{self.path}: gives no embeddings, which this task needs")
        return encoder(sentences)

    def word_vectors(self, words: Sequence[str]) -> np.ndarray:
        """Return the rows of the module's word table: float32 [len(words), word_dim].

        A text of several words has their mean; one without a word may have zeros.
        """
        found = self._signature("word_vectors", "word vectors", zeros_allowed=True)
        if found is None:
            names = ", ".join(self.signatures) or "none"
            raise InputError(
                f"{self.path}: has no signature word_vectors; signatures found: {names}"
            )
        return found(words)

    def provenance(self) -> dict:
        """Return what identifies the module: its path as given, and its fingerprint."""
        found: dict = {"path": self.path, "fingerprint": fingerprint(self.folder)}
        return found | ({"pretrained": True} if self._pretrained else {})

    def _embed(self) -> Apply | None:
        """Return what embeds sentences, where the module has it."""
        found = (self.signatures[name] for name in EMBEDDINGS if name in self.signatures)
        signature = next(found, None)
        if callable(self._module):

            def embed(texts: tf.Tensor) -> tf.Tensor:
                return self._module(texts)

            # Called as it is, it would be traced anew for every size of a batch.
            strings = tf.TensorSpec([None], tf.string)
            called = tf.function(embed, input_signature=[strings], autograph=False)
            if signature is None or not _takes_texts(signature) or _gives_a_tensor(called):
                return called
        return _of_sentences(signature, module=self.path) if signature else None

    def _signature(self, name: str, label: str, **options) -> BatchedEncoder | None:
        """Return a signature of sentences, where the module has it."""
        if name not in self.signatures:
            return None
        apply = _of_sentences(self.signatures[name], module=self.path)
        return self._batched(apply, label, **options)

    def _batched(self, apply: Apply, label: str, **options) -> BatchedEncoder:
        encode = partial(self._applied, apply)
        return BatchedEncoder(
            encode, path=self.path, label=label, retry=tf.errors.OpError, **options
        )

    def _applied(self, apply: Apply, texts: Sequence[str]) -> np.ndarray:
        """Return what a function gives for texts: float32 [len(texts), dim]."""
        try:
            outputs = apply(tf.constant(texts))
        except tf.errors.OpError as error:
            if len(texts) > 1:
                raise
            reason = _first_line(error)
            raise InputError(
                f"{self.path}: fails on the sentence {texts[0]!r}: {reason}"
            ) from error
        except (TypeError, ValueError) as error:
            reason = _first_line(error)
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


def load_encoder(module: str | Path, *, pretrained: bool = False) -> Encoder:
    """Load a SavedModel from a folder, or from a URL that tensorflow-hub resolves.

    `pretrained` says whether reports take it for somebody's pretrained model.

    Raises:
      InputError: if there is no SavedModel, or nothing in it that can be used.
    """
    return Encoder(module, pretrained=pretrained)


def resolve(module: str | Path) -> Path:
    """Return the folder of a module: itself, or where tensorflow-hub puts what a URL names.

    The folder of what was fetched is tensorflow-hub's cache, TFHUB_CACHE_DIR.
    """
    if "://" not in str(module):
        return Path(module)
    try:
        return Path(hub.resolve(str(module)))
    except Exception as error:  # of the network, of archives, of the disk
        raise InputError(f"{module}: cannot be fetched: {_first_line(error)}") from error


def load(folder: Path):
    """Load the SavedModel of a folder, or raise InputError in one line."""
    if not (folder / "saved_model.pb").is_file():
        raise InputError(f"{folder}: no SavedModel here (a folder with saved_model.pb is needed)")
    try:
        return hub.load(str(folder))
    except Exception as error:  # the loader raises a dozen kinds, all about this folder
        reason = _first_line(error)
        raise InputError(f"{folder}: cannot be loaded as a SavedModel: {reason}") from error


def _gives_a_tensor(embed: tf.types.experimental.PolymorphicFunction) -> bool:
    """Return whether a function takes a batch of strings, and gives one tensor for it."""
    try:
        return tf.is_tensor(embed.get_concrete_function().structured_outputs)
    except (TypeError, ValueError, tf.errors.OpError):
        return False


def _takes_texts(signature) -> bool:
    """Return whether a signature has one input, of strings."""
    specs = signature.structured_input_signature[1].values()
    return [spec.dtype for spec in specs] == [tf.string]


def _of_sentences(signature, *, module: str) -> Apply:
    """Return a signature with one string input as a function of that input alone."""
    inputs = list(signature.structured_input_signature[1])
    outputs = list(signature.structured_outputs)
    output = "outputs" if "outputs" in outputs else outputs[0]
    if len(inputs) != 1 or (len(outputs) != 1 and output != "outputs"):
        raise InputError(
            f"{module}: a signature maps {inputs} to {outputs}; one input, and one output "
            "or one named outputs, are needed"
        )
    return lambda sentences: signature(**{inputs[0]: sentences})[output]


def _first_line(error: Exception) -> str:
    """Return the first line of what an error says, or its kind where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def fingerprint(folder: Path) -> str:
    """Return a hex string that stays the same as long as the SavedModel does."""
    try:
        found = tf.saved_model.experimental.read_fingerprint(str(folder))
    except (FileNotFoundError, RuntimeError):  # a module of an older TensorFlow, or damaged
        return _sha256(folder)
    checksums = (
        found.saved_model_checksum,
        found.graph_def_program_hash,
        found.signature_def_hash,
        found.saved_object_graph_hash,
        found.checkpoint_hash,
    )
    return "".join(f"{checksum:016x}" for checksum in checksums)


def _sha256(folder: Path) -> str:
    """Return the SHA-256 over the names and bytes of a SavedModel's files, weights included."""
    parts = (path for part in ("assets", "variables") for path in (folder / part).rglob("*"))
    digest = hashlib.sha256()
    for path in (folder / "saved_model.pb", *sorted(path for path in parts if path.is_file())):
        digest.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
