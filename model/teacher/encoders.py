"""The teacher: a SavedModel, or an encoder of another package where that is installed."""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common import processor
from common.encoders import pretrained
from common.errors import InputError, reading

BATCH = 64
"""Texts that the encoder gets at once."""


class Teacher(NamedTuple):
    """An encoder of texts, and what identifies it."""

    name: str
    """As given, or the name that was given for it."""
    fingerprint: str
    """Other weights, another fingerprint."""
    encode: Callable[[Sequence[str]], np.ndarray]
    """A batch of texts -> floats [texts, dim]."""
    of_several: bool = False
    """Whether an embedding is those of several encoders, one after the other."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """The embeddings of texts, of unit length: float32 [texts, dim].

        Batches have similar lengths. The longest come first: if they do not fit into memory, that
        shows at once.
        """
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        # Encoders that take turns wait for each other's threads: a fifth fewer texts a second in
        # turns of 64 (28 November 2026).
        size = BATCH * 16 if self.of_several else BATCH
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        found = [self.encode([texts[index] for index in batch]) for batch in batches]
        rows = np.concatenate(found).astype(np.float32)[np.argsort(order)]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if (bad := ~(np.isfinite(lengths) & (lengths > 0))).any():
            text = texts[int(bad.argmax())]
            raise InputError(f"--encoder: {self.name!r}: no embedding to compare for {text!r}")
        return rows / lengths


def load(given: Sequence[str]) -> Teacher:
    """The encoder of a name, or one teacher of several.

    Of several, an embedding is that of each in turn, all of one length: its cosines are the means
    of theirs.
    """
    if len(given) == 1:
        return load_one(given[0])
    teachers = [load_one(one) for one in given]

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.concatenate([teacher.embed(texts) for teacher in teachers], axis=1)

    fingerprint = hashlib.sha256(" ".join(one.fingerprint for one in teachers).encode())
    name = " + ".join(one.name for one in teachers)
    return Teacher(name, fingerprint.hexdigest(), encode, of_several=True)


def load_one(given: str) -> Teacher:
    """The encoder of a name; NAME=FOLDER calls it NAME.

    It is the folder of a SavedModel with a `serving_default` from strings to embeddings,
    universal-sentence-encoder, wordllama, or a name or folder that sentence-transformers knows.
    """
    title, _, folder = given.partition("=")
    if not folder or Path(given).exists():
        title = folder = given
    with reading("--encoder"):
        if (path := Path(folder) / "saved_model.pb").is_file():
            from common.encoders import saved_model  # it imports TensorFlow: 8 seconds

            module = saved_model.load(path.parent)
            apply = saved_model.of_texts(module, saved_model.SERVING_DEFAULT, path=folder)
            encode = partial(saved_model.encode, apply, path=folder)
            return Teacher(title, saved_model.fingerprint(path.parent), encode)
        if folder in pretrained.PACKAGED and not Path(folder).exists():
            packaged = pretrained.PACKAGED[folder]()
            return Teacher(title, packaged.fingerprint, packaged.encode)
        # all-MiniLM-L6-v2 embeds 1.7 times as many short comments; cosines of these embeddings with
        # those in float32 are above 0.9999 (one core of AMD EPYC, 29 November 2026).
        model = pretrained.SentenceTransformer(folder, bfloat16=processor.has_bfloat16())
        return Teacher(title, model.fingerprint, partial(model.encode, batch_size=BATCH))
