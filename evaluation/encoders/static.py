"""Static embeddings, as sentence-transformers and model2vec store them, without these packages."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from common.errors import InputError, reading
from common.text_files import sha256
from evaluation.encoders.batching import Embeddings

TOKENIZER = "tokenizer.json"
WORDLLAMA = "wordllama"
"""The package that brings a table of vectors with it."""
_WEIGHTS = "model.safetensors"
_ITS_FILES = "tokenizers/l2_supercat_tokenizer_config.json", "weights/l2_supercat_256.safetensors"
_TABLES = ("embeddings", "embedding.weight")
"""What model2vec and sentence-transformers call a table of vectors."""


def load(folder: Path, *, pretrained: bool = False) -> Embeddings:
    """Return the encoder of a folder with a tokenizer of the package `tokenizers` and a table."""
    return _of_files(folder / TOKENIZER, folder / _WEIGHTS, path=str(folder), pretrained=pretrained)


def wordllama() -> Embeddings:
    """Return the vectors of the package wordllama, read without it.

    Its own loader looks for the tokenizer in another folder than the package has it in, and then
    asks the network (version 0.4.0.post1).
    """
    if (package := find_spec(WORDLLAMA)) is None or package.origin is None:
        raise InputError(f"{WORDLLAMA}: is not installed; accepted after pip install {WORDLLAMA}")
    files = (Path(package.origin).parent / name for name in _ITS_FILES)
    return _of_files(*files, path="WordLlama", pretrained=True)


def _of_files(tokenizer: Path, weights: Path, *, path: str, pretrained: bool) -> Embeddings:
    """Return the encoder to the mean of a text's tokens, of unit length."""
    with reading(path):
        from tokenizers import Tokenizer

        tokens, arrays = Tokenizer.from_file(str(tokenizer)), load_file(weights)
        named = [name for name in _TABLES if name in arrays]
        if not named:
            raise ValueError(f"{weights.name} has {sorted(arrays)}; accepted: one of {_TABLES}")
        table = arrays[named[0]]

    def means(texts: Sequence[str]) -> np.ndarray:
        encodings = tokens.encode_batch(list(texts), add_special_tokens=False)
        sums = np.stack([table[one.ids].sum(axis=0, dtype=np.float32) for one in encodings])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, lengths, out=sums, where=lengths > 0)

    fingerprint = sha256([tokenizer, weights])
    of: dict = {"path": path, "fingerprint": fingerprint, "pretrained": pretrained}
    return Embeddings(means, static=True, **of)
