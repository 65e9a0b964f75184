"""A SavedModel seen as two functions from sentences to vectors."""

import hashlib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that a module's tokenizer may use)
from tqdm import tqdm

from evaluation.errors import InputError

with warnings.catch_warnings():
    # tensorflow-hub 0.16 imports pkg_resources, which warns of its end at every import.
    warnings.filterwarnings("ignore", message="pkg_resources is deprecated")
    warnings.filterwarnings("ignore", message="Deprecated call to `pkg_resources")
    import tensorflow_hub as hub

CHUNK = 256

Apply = Callable[[tf.Tensor], tf.Tensor]


class Encoder:
    """Loads a module once and encodes sentences with it.

    Any SavedModel serves that maps strings [batch] to floats [batch, dim], through its root
    `__call__` or else through its signature `serving_default`. Signatures `encode_input` and
    `encode_response` give the two sides of response ranking (the paper's u and v'); without
    them a side is encoded like any sentence. `signatures` are the module's own, by name. A
    module that gives no embeddings loads as well: encoding with it is an error.
    """

    def __init__(self, path: Path):
        self.path = path
        module = _load(path)
        self._module = module  # signatures live no longer than the object they came from
        self.signatures = getattr(module, "signatures", {})
        self._encode: Apply | None = None
        if callable(module):
            self._encode = module
        elif "serving_default" in self.signatures:
            self._encode = _from_signature(self.signatures["serving_default"], path=path)
        elif "similarity" not in self.signatures:
            raise InputError(f"{path}: {self._lacks()}")
        self._encode_input = self._side("encode_input")
        self._encode_response = self._side("encode_response")

    @property
    def gives_embeddings(self) -> bool:
        """Whether `encode` has what it needs."""
        return self._encode is not None

    def _side(self, name: str) -> Apply | None:
        """Return a side's function: its signature, or else what encodes any sentence."""
        if name in self.signatures:
            return _from_signature(self.signatures[name], path=self.path)
        return self._encode

    def _lacks(self) -> str:
        return (
            "has neither a callable root nor a signature serving_default; "
            f"signatures found: {', '.join(self.signatures) or 'none'}"
        )

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the embeddings: float32 [len(sentences), dim], in their order."""
        return self._encode_all(sentences, apply=self._encode, label="encoding")

    def encode_inputs(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the input side's u: float32 [len(sentences), dim], in their order."""
        return self._encode_all(sentences, apply=self._encode_input, label="inputs")

    def encode_responses(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the response side's v': float32 [len(sentences), dim], in their order.

        Its dot product with an input's u scores the response (section 2.2).
        """
        return self._encode_all(sentences, apply=self._encode_response, label="responses")

    def provenance(self) -> dict:
        """Return what identifies the module: its path as given, and its fingerprint."""
        return {"path": str(self.path), "fingerprint": fingerprint(self.path)}

    def _encode_all(
        self, sentences: Sequence[str], *, apply: Apply | None, label: str
    ) -> np.ndarray:
        """Encode each different sentence once, similar lengths together to save padding."""
        if apply is None:
            raise InputError(f"{self.path}: gives no embeddings: {self._lacks()}")
        if not sentences:
            raise ValueError("sentences: at least one is needed, received none")
        unique = sorted(set(sentences), key=lambda text: (len(text), text))
        chunks = []
        with tqdm(total=len(unique), desc=label, unit=" sentences", leave=False) as progress:
            for start in range(0, len(unique), CHUNK):
                chunk = unique[start : start + CHUNK]
                chunks.append(self._encode_chunk(chunk, apply=apply))
                progress.update(len(chunk))
        widths = {rows.shape[1] for rows in chunks}
        if len(widths) > 1:
            raise InputError(f"{self.path}: rows of different widths: {sorted(widths)}")
        row_of = {text: row for row, text in enumerate(unique)}
        return np.concatenate(chunks)[[row_of[text] for text in sentences]]

    def _encode_chunk(self, chunk: list[str], *, apply: Apply) -> np.ndarray:
        """Encode one chunk and check what came back: float32 [len(chunk), dim]."""
        try:
            outputs = apply(tf.constant(chunk))
        except tf.errors.OpError as error:
            if len(chunk) == 1:
                reason = str(error).strip().splitlines()[0]
                raise InputError(
                    f"{self.path}: fails on the sentence {chunk[0]!r}: {reason}"
                ) from error
            # Once more, one by one, to find the sentence it fails on.
            return np.concatenate([self._encode_chunk([text], apply=apply) for text in chunk])
        return self._checked(outputs, chunk=chunk)

    def _checked(self, outputs: tf.Tensor, *, chunk: list[str]) -> np.ndarray:
        """Return the outputs as float32, or raise InputError naming the first bad sentence."""
        if not tf.is_tensor(outputs) or not outputs.dtype.is_floating:
            kind = outputs.dtype.name if tf.is_tensor(outputs) else type(outputs).__name__
            raise InputError(f"{self.path}: gives {kind} for {chunk[0]!r}, not a float tensor")
        rows = tf.cast(outputs, tf.float32).numpy()
        if rows.ndim != 2 or len(rows) != len(chunk):
            raise InputError(
                f"{self.path}: gives shape {list(rows.shape)} for {len(chunk)} sentences from "
                f"{chunk[0]!r} on; [{len(chunk)}, dim] is needed"
            )
        for problem, bad in (
            ("a NaN or infinite value", ~np.isfinite(rows).all(axis=1)),
            ("an all-zero row", ~rows.any(axis=1)),
        ):
            if bad.any():
                sentence = chunk[int(np.argmax(bad))]
                raise InputError(f"{self.path}: gives {problem} for the sentence {sentence!r}")
        return rows


def _load(path: Path):
    """Load the SavedModel at `path`, or raise InputError in one line."""
    if not (path / "saved_model.pb").is_file():
        raise InputError(f"{path}: no SavedModel here (a folder with saved_model.pb is needed)")
    try:
        return hub.load(str(path))
    except Exception as error:  # the loader raises a dozen kinds, all about this folder
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"{path}: cannot be loaded as a SavedModel: {reason}") from error


def _from_signature(signature, *, path: Path) -> Apply:
    """Return a signature with one string input as a function of that input alone."""
    inputs = list(signature.structured_input_signature[1])
    outputs = list(signature.structured_outputs)
    output = "outputs" if "outputs" in outputs else outputs[0]
    if len(inputs) != 1 or (len(outputs) != 1 and output != "outputs"):
        raise InputError(
            f"{path}: a signature maps {inputs} to {outputs}; one input, and one output "
            "or one named outputs, are needed"
        )
    return lambda sentences: signature(**{inputs[0]: sentences})[output]


def fingerprint(path: Path) -> str:
    """Return a hex string that stays the same as long as the SavedModel does."""
    try:
        found = tf.saved_model.experimental.read_fingerprint(str(path))
    except FileNotFoundError:
        return hashlib.sha256((path / "saved_model.pb").read_bytes()).hexdigest()
    checksums = (
        found.saved_model_checksum,
        found.graph_def_program_hash,
        found.signature_def_hash,
        found.saved_object_graph_hash,
        found.checkpoint_hash,
    )
    return "".join(f"{checksum:016x}" for checksum in checksums)
