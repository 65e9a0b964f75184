"""What a module says of pairs of texts by itself, through its signatures."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from common.errors import InputError, reading

CHUNK = 256
CLASSIFY_NLI, SIMILARITY = "classify_nli", "similarity"
ENCODE_IN_CONTEXT = "encode_input_in_context"


def has(encoder: Any, name: str) -> bool:
    """Say whether the encoder's module has a signature."""
    return name in getattr(encoder, "signatures", {})


def classify(encoder: Any, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
    """Return probabilities of entailment, neutral and contradiction, float32 [pairs, 3]."""
    texts = {"premise": premises, "hypothesis": hypotheses}
    return _apply(encoder, CLASSIFY_NLI, "outputs", (3,), **texts)


def similarity(encoder: Any, left: Sequence[str], right: Sequence[str]) -> np.ndarray:
    """Return the module's own similarity scores, float32 [pairs], on the scale of 0 to 5."""
    return _apply(encoder, SIMILARITY, "score", (), sentences1=left, sentences2=right)


def encode_in_context(encoder: Any, inputs: Sequence[str], contexts: Sequence[str]) -> np.ndarray:
    """Return the vectors of inputs with what was said before them, float32 [inputs, dim]."""
    return _apply(encoder, ENCODE_IN_CONTEXT, "outputs", None, inputs=inputs, context=contexts)


def _apply(
    encoder: Any, name: str, output: str, shape: tuple[int, ...] | None, **texts: Sequence[str]
) -> np.ndarray:
    """Call a signature in chunks and return one output's rows, all of them finite."""
    import tensorflow as tf  # here, because importing it takes seconds

    signature = encoder.signatures[name]
    chunks = []
    for start in range(0, len(next(iter(texts.values()))), CHUNK):
        chunk = {key: list(values[start : start + CHUNK]) for key, values in texts.items()}
        pairs = list(zip(*chunk.values(), strict=True))
        with reading(f"{encoder.path}: {name} of pairs from {start + 1} on"):
            rows = signature(**{key: tf.constant(values) for key, values in chunk.items()})
            found = rows[output].numpy()
            if len(found) != len(pairs) or shape not in (None, found.shape[1:]):
                wanted = [len(pairs), *(shape or ("dim",))]
                raise ValueError(f"gives shape {list(found.shape)}; {wanted} is needed")
        good = np.isfinite(found.reshape(len(found), -1)).all(axis=1)
        if not good.all():
            raise InputError(
                f"{encoder.path}: {name} gives a number that is not finite for the pair "
                f"{pairs[int(np.argmin(good))]}"
            )
        chunks.append(found)
    return np.concatenate(chunks)
