"""What a module says of a pair of texts by itself, through its signatures."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evaluation.errors import InputError

CHUNK = 256
CLASSIFY_NLI, SIMILARITY = "classify_nli", "similarity"
ENCODE_IN_CONTEXT = "encode_input_in_context"
PROBABILITIES = 3


def has(encoder: Any, name: str) -> bool:
    """Say whether the encoder's module has a signature."""
    return name in getattr(encoder, "signatures", {})


def classify(encoder: Any, premises: Sequence[str], hypotheses: Sequence[str]) -> np.ndarray:
    """Return probabilities of entailment, neutral and contradiction, float32 [pairs, 3]."""
    rows = _apply(
        encoder,
        CLASSIFY_NLI,
        output="outputs",
        inputs={"premise": premises, "hypothesis": hypotheses},
    )
    if rows.shape != (len(premises), PROBABILITIES):
        raise InputError(
            f"{encoder.path}: {CLASSIFY_NLI} gives shape {list(rows.shape)} for "
            f"{len(premises)} pairs; [{len(premises)}, {PROBABILITIES}] is needed"
        )
    return rows


def similarity(encoder: Any, left: Sequence[str], right: Sequence[str]) -> np.ndarray:
    """Return the module's own similarity scores, float32 [pairs], on the scale of 0 to 5."""
    rows = _apply(
        encoder, SIMILARITY, output="score", inputs={"sentences1": left, "sentences2": right}
    )
    if rows.shape != (len(left),):
        raise InputError(
            f"{encoder.path}: {SIMILARITY} gives shape {list(rows.shape)} for "
            f"{len(left)} pairs; [{len(left)}] is needed"
        )
    return rows


def encode_in_context(encoder: Any, inputs: Sequence[str], contexts: Sequence[str]) -> np.ndarray:
    """Return the vectors of inputs with what was said before them, float32 [inputs, dim]."""
    texts = {"inputs": inputs, "context": contexts}
    return _apply(encoder, ENCODE_IN_CONTEXT, output="outputs", inputs=texts)


def _apply(encoder: Any, name: str, *, output: str, inputs: dict[str, Sequence[str]]) -> np.ndarray:
    """Call a signature in chunks and return one output's rows, all of them finite."""
    import tensorflow as tf  # here, because importing it takes seconds

    signature: Callable[..., dict] = encoder.signatures[name]
    count = len(next(iter(inputs.values())))
    chunks = []
    for start in range(0, count, CHUNK):
        texts = {key: list(values[start : start + CHUNK]) for key, values in inputs.items()}
        try:
            found = signature(**{key: tf.constant(values) for key, values in texts.items()})
            rows = found[output].numpy()
        except (TypeError, KeyError, ValueError, tf.errors.OpError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"{encoder.path}: its signature {name} fails on pairs from {start + 1} on: {reason}"
            ) from error
        _check_finite(rows, texts=texts, place=f"{encoder.path}: {name}")
        chunks.append(rows)
    return np.concatenate(chunks)


def _check_finite(rows: np.ndarray, *, texts: dict[str, list[str]], place: str) -> None:
    """Raise InputError naming the first pair that has a value that is not a number."""
    bad = ~np.isfinite(rows.reshape(len(rows), -1)).all(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        pair = " and ".join(repr(values[row]) for values in texts.values())
        raise InputError(f"{place} gives a NaN or infinite value for the pair {pair}")
