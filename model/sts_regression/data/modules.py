"""SavedModels from text to vectors: word vectors and sentence embeddings."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import tensorflow as tf

from model import saved_model
from model.errors import InputError
from model.unit_rows import of_unit_length

_CHUNK = 256
WORD_VECTORS = "word_vectors"


def word_vectors(path: Path) -> Callable[[list[str]], np.ndarray]:
    """Words -> float32 [words, dim], by the module's signature `word_vectors`."""
    module = saved_model.load(path)
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
    encode = saved_model.sentence_encoder(path)
    different = sorted(set(sentences), key=lambda sentence: (len(sentence), sentence))
    found: dict[str, np.ndarray] = {}
    for start in range(0, len(different), _CHUNK):
        chunk = different[start : start + _CHUNK]
        rows = of_unit_length(encode(chunk), chunk, encoder=str(path))
        found.update(zip(chunk, rows, strict=True))
    return found
