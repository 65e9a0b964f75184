"""The teacher: a SavedModel, or a model of sentence-transformers where that is installed."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common.errors import reading
from model.unit_rows import of_unit_length


class Teacher(NamedTuple):
    """An encoder of texts, and what identifies it."""

    name: str
    """As given, or the name that was given for it."""
    fingerprint: str
    """Hexadecimal digits; other weights, another fingerprint."""
    encode: Callable[[Sequence[str]], np.ndarray]
    """A batch of texts -> floats [texts, dim]."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """A batch's embeddings, of unit length: float32 [texts, dim].

        Raises:
          InputError: if the encoder fails, or an embedding is not finite, or all zeros.
        """
        rows = self.encode(texts)
        return of_unit_length(rows, texts, encoder=f"--encoder: {self.name!r}")


def load(given: str) -> Teacher:
    """The encoder of a name.

    Args:
      given: the folder of a SavedModel with a `serving_default` from strings to embeddings, or a
        name or folder that sentence-transformers knows; NAME=FOLDER calls it NAME.

    Raises:
      InputError: if it cannot be loaded, or sentence-transformers is needed and not installed.
    """
    title, _, folder = given.partition("=")
    if not folder or Path(given).exists():
        title = folder = given
    with reading("--encoder"):
        if (Path(folder) / "saved_model.pb").is_file():
            from common import saved_model  # it imports TensorFlow: 8 seconds

            encode = saved_model.sentence_encoder(Path(folder))
            return Teacher(title, saved_model.fingerprint(Path(folder)), encode)
        from common import sentence_transformers

        model = sentence_transformers.Model(folder)

        def encode(texts: Sequence[str]) -> np.ndarray:
            return model.encode(texts, batch_size=len(texts))

        return Teacher(title, model.fingerprint, encode)
