"""The plain form of a module, which needs no TensorFlow: `runtime/` reads it.

An averaging encoder without hidden layers sums rows of tables. They are written as one table with
a scale for each row, beside the SavedModel: `model.safetensors`, `vocabulary`, `config.json`.
"""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from safetensors.numpy import load_file, save_file

from common.errors import reading
from common.files import write_json
from model.configs.schema import RESPONSE_SELECTION
from model.text import BIGRAMS, CHAR_NGRAMS, WORDS
from model.text.vocabulary import tokens

FORMAT = 1
"""The version of the form; `runtime/` reads this one."""
WEIGHTS, CONFIG, VOCABULARY = "model.safetensors", "config.json", "vocabulary"
FILES = (WEIGHTS, CONFIG, VOCABULARY, f"{VOCABULARY}_{BIGRAMS}")
_NAME = re.compile(r"(?:averaging_encoder|response_network)/(.+?)(?::0)?$")


def has_plain_form(model: dict[str, Any]) -> bool:
    """Whether a model, by its `task.model`, only sums rows and has one layer for responses."""
    encoder = model["encoder"]
    if encoder["type"] != "averaging" or encoder["averaging"]["hidden"]:
        return False
    return RESPONSE_SELECTION not in model["heads"] or not model["response_network"]["hidden"]


def write(module: Any, model: dict[str, Any], folder: Path) -> None:
    """Writes the plain form of a `HubModule` with the parameters `task.model` into its folder."""
    averaging, text = model["encoder"]["averaging"], model["text"]
    has_responses = hasattr(module, "response_encoder")
    weights = {}
    for weight in (module.response_encoder if has_responses else module.encoder).variables:
        if found := _NAME.search(weight.name):
            # NumPy lacks bfloat16.
            is_brain = weight.dtype == tf.bfloat16
            weights[found[1]] = (tf.cast(weight, tf.float32) if is_brain else weight).numpy()
    bias = weights["embedding/bias"]
    config = {"format": FORMAT, "dim": len(bias), "max_tokens": text["max_tokens"]}
    tables, scales, first = [], [], 0
    for kind, buckets, factor in (
        (WORDS, text["word_buckets"], 1.0),
        (BIGRAMS, text["bigram_buckets"], averaging["bigram_weight"]),
        (CHAR_NGRAMS, text["char_ngram_buckets"], averaging["char_ngram_weight"]),
    ):
        if buckets:
            table = weights[f"{kind}/table"][1:]  # without the padding's row
            of_rows = weights.get(f"{kind}/table_scale", np.ones((len(table) + 1, 1)))
            tables.append(table)
            scales.append(factor * of_rows[1:, 0])
            config[kind] = {"first": first, "buckets": buckets}
            first += len(table)
    hashed = [kind for kind in (WORDS, BIGRAMS) if kind in config]
    for kind, lookup in zip(hashed, module.preprocessor.lookup_tables, strict=False):
        name = VOCABULARY if kind == WORDS else f"{VOCABULARY}_{kind}"
        lines = "".join(f"{token}\n" for token in tokens(lookup))
        (folder / name).write_text(lines, encoding="utf-8")
        config[kind]["vocabulary"] = name
    arrays = {
        "table": np.concatenate(tables),
        "scales": np.concatenate(scales).astype(np.float32),
        "bias": bias,
        "projection": weights.get("embedding/kernel"),
        "components": getattr(module, "components", None),
        "sts_matrix": getattr(module, "sts_matrix", None),
    }
    if has_responses:
        arrays["response_kernel"] = weights["response/kernel"]
        arrays["response_bias"] = weights["response/bias"]
        config["response"] = {
            key: model["response_network"][key] for key in ("residual", "normalize")
        }
    # Contiguous: safetensors 0.8.0 stores transposed arrays in the wrong order.
    stored = {
        name: np.ascontiguousarray(array) for name, array in arrays.items() if array is not None
    }
    save_file(stored, folder / WEIGHTS)
    write_json(folder / CONFIG, config)


def read(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray], list[str]]:
    """The plain form of a module: configuration, arrays, and the words with rows of their own.

    InputError if there is none.
    """
    with reading(f"--module: {folder}: no plain form"):
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        arrays = load_file(folder / WEIGHTS)
        named = config[WORDS].get("vocabulary")
        lines = (folder / named).read_text(encoding="utf-8").split("\n")[:-1] if named else []
    return config, arrays, lines
