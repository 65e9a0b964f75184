"""SavedModels from text to vectors: word vectors and sentence embeddings."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops of a module's text handling)
from google.protobuf.message import DecodeError

from model.errors import InputError

_CHUNK = 256
WORD_VECTORS = "word_vectors"


def word_vectors(path: Path) -> Callable[[list[str]], np.ndarray]:
    """Words -> float32 [words, dim], by the module's signature `word_vectors`."""
    module = _load(path)
    if WORD_VECTORS not in module.signatures:
        raise InputError(
            f"{path}: no signature {WORD_VECTORS}; found: {', '.join(module.signatures) or 'none'}"
        )
    signature = module.signatures[WORD_VECTORS]

    def vectors(words: list[str]) -> np.ndarray:
        _ = module  # whose variables the signature reads
        return signature(inputs=tf.constant(words))["outputs"].numpy()

    return vectors


def embeddings(path: Path, sentences: Iterable[str]) -> dict[str, np.ndarray]:
    """Each sentence's embedding, of unit length, by the module's `serving_default`.

    Raises:
      InputError: if it is no such module, or an embedding is not finite or zero.
    """
    module = _load(path)
    signature = module.signatures.get("serving_default")
    taken = signature.structured_input_signature[1] if signature else {}
    if [spec.dtype for spec in taken.values()] != [tf.string]:
        raise InputError(
            f"{path}: no signature serving_default that takes strings and nothing else"
        )
    (name,) = taken
    different = sorted(set(sentences), key=lambda sentence: (len(sentence), sentence))
    found: dict[str, np.ndarray] = {}
    for start in range(0, len(different), _CHUNK):
        chunk = different[start : start + _CHUNK]
        outputs = signature(**{name: tf.constant(chunk)})
        rows = next(iter(outputs.values())).numpy().astype(np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        bad = ~(np.isfinite(lengths) & (lengths > 0)).all(axis=1)
        if bad.any():
            sentence = chunk[int(bad.argmax())]
            raise InputError(f"{path}: no embedding that can be compared for {sentence!r}")
        found.update(zip(chunk, rows / lengths, strict=True))
    return found


def _load(path: Path):
    if not (path / "saved_model.pb").is_file():
        raise InputError(f"{path}: no SavedModel here (a folder with saved_model.pb is needed)")
    try:
        return tf.saved_model.load(str(path))
    except (OSError, ValueError, tf.errors.OpError, DecodeError) as error:
        (reason, *_) = str(error).splitlines() or [type(error).__name__]
        raise InputError(f"{path}: a SavedModel that cannot be read ({reason})") from error
