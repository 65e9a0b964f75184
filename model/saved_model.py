"""SavedModels as functions from sentences to embeddings."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops of a module's text handling)
from google.protobuf.message import DecodeError

from model.errors import InputError

FILE = "saved_model.pb"
"""What every SavedModel has in its folder."""
_SIGNATURE = "serving_default"
_OUTPUT = "outputs"
"""The output of a signature that has several."""


def load(path: Path) -> Any:
    """The SavedModel of a folder.

    Raises:
      InputError: if there is none, or it cannot be read.
    """
    if not (path / FILE).is_file():
        raise InputError(f"{path}: no SavedModel here (a folder with {FILE} is needed)")
    try:
        return tf.saved_model.load(str(path))
    except (OSError, ValueError, tf.errors.OpError, DecodeError) as error:
        (reason, *_) = str(error).splitlines() or [type(error).__name__]
        raise InputError(f"{path}: a SavedModel that cannot be read ({reason})") from error


def sentence_encoder(path: Path) -> Callable[[Sequence[str]], np.ndarray]:
    """Sentences -> float32 [sentences, dim], by the module's `serving_default`.

    Raises:
      InputError: if it is no such module.
    """
    module = load(path)
    signature = module.signatures.get(_SIGNATURE)
    taken = signature.structured_input_signature[1] if signature else {}
    if [spec.dtype for spec in taken.values()] != [tf.string]:
        raise InputError(f"{path}: no signature {_SIGNATURE} that takes strings and nothing else")
    (name,) = taken
    outputs = sorted(signature.structured_outputs)
    output = _OUTPUT if _OUTPUT in outputs else outputs[0]
    if len(outputs) > 1 and output != _OUTPUT:
        raise InputError(
            f"{path}: {_SIGNATURE} gives {', '.join(outputs)}; accepted: one output, or one of "
            f"several named {_OUTPUT}"
        )

    def encode(sentences: Sequence[str]) -> np.ndarray:
        _ = module  # whose variables the signature reads
        try:
            rows = signature(**{name: tf.constant(list(sentences))})[output]
        except tf.errors.OpError as error:
            reason = (error.message.splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"{path}: fails on {len(sentences)} texts from {sentences[0]!r} on: {reason}"
            ) from error
        if not rows.dtype.is_floating or rows.shape.rank != 2 or len(rows) != len(sentences):
            raise InputError(
                f"{path}: {_SIGNATURE} gives {rows.dtype.name} {rows.shape.as_list()} for "
                f"{len(sentences)} texts; accepted: floats [texts, dim]"
            )
        return rows.numpy().astype(np.float32)

    return encode
