"""Static embeddings, as sentence-transformers and model2vec store them, without these packages."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from common.errors import InputError, reading
from common.text_files import sha256
from evaluation.encoders.batching import BatchedEncoder

TOKENIZER = "tokenizer.json"
WORDLLAMA = "wordllama"
"""The package that brings a table of vectors with it."""
_WEIGHTS = "model.safetensors"
_ITS_FILES = "tokenizers/l2_supercat_tokenizer_config.json", "weights/l2_supercat_256.safetensors"
_TABLES = ("embeddings", "embedding.weight")
"""What model2vec and sentence-transformers call a table of vectors."""


class StaticEncoder:
    """The mean over a text's tokens, of unit length; inputs and responses are encoded alike.

    Its folder has a tokenizer of the package `tokenizers` and a table of vectors.
    """

    gives_embeddings = True

    def __init__(self, folder: Path, *, pretrained: bool = False, files=(TOKENIZER, _WEIGHTS)):
        self.path = str(folder)
        self._pretrained = pretrained
        self._files = [folder / name for name in files]
        with reading(folder):
            from tokenizers import Tokenizer

            tokenizer, weights = self._files
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            arrays = load_file(weights)
            named = [name for name in _TABLES if name in arrays]
            if not named:
                raise ValueError(f"{weights.name} has {sorted(arrays)}; accepted: one of {_TABLES}")
            self._table = arrays[named[0]]
        self.encode = BatchedEncoder(self._means, path=self.path)
        self.encode_inputs = self.encode_responses = self.encode

    def provenance(self) -> dict:
        """Return its path, and a hash of its files."""
        found: dict = {"path": self.path, "fingerprint": sha256(self._files)}
        return found | ({"pretrained": True} if self._pretrained else {})

    def _means(self, texts: Sequence[str]) -> np.ndarray:
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        sums = np.stack([self._table[one.ids].sum(axis=0, dtype=np.float32) for one in encodings])
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return np.divide(sums, lengths, out=sums, where=lengths > 0)


def wordllama() -> StaticEncoder:
    """Return the vectors of the package wordllama, read without it.

    Its own loader looks for the tokenizer in another folder than the package has it in, and then
    asks the network (version 0.4.0.post1).
    """
    if (package := find_spec(WORDLLAMA)) is None or package.origin is None:
        raise InputError(f"{WORDLLAMA}: is not installed; accepted after pip install {WORDLLAMA}")
    encoder = StaticEncoder(Path(package.origin).parent, pretrained=True, files=_ITS_FILES)
    encoder.path = "WordLlama"
    return encoder
