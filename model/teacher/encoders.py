"""The teacher: a SavedModel, or a model of sentence-transformers where that is installed."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from model.errors import InputError
from model.unit_rows import of_unit_length

_SAVED_MODEL = "saved_model.pb"


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
          InputError: if an embedding is not finite, or all zeros.
        """
        return of_unit_length(self.encode(texts), texts, encoder=f"--encoder: {self.name!r}")


def load(given: str) -> Teacher:
    """The encoder of a name.

    Args:
      given: the folder of a SavedModel with a `serving_default` from strings to embeddings, or a
        name or folder that sentence-transformers knows; NAME=FOLDER calls it NAME.

    Raises:
      InputError: if it cannot be loaded, or sentence-transformers is needed and not installed.
    """
    title, _, named = given.partition("=")
    if not named or Path(given).exists():
        return _load(given)
    return _load(named)._replace(name=title)


def _load(name: str) -> Teacher:
    if (Path(name) / _SAVED_MODEL).is_file():
        return _saved_model(name)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise InputError(
            f"--encoder: {name!r} is not a folder with a {_SAVED_MODEL}, and "
            f"sentence-transformers, which may know the name, is not installed ({error})"
        ) from error
    try:
        return _sentence_transformer(name, SentenceTransformer(name))
    except Exception as error:  # of its hub, its files, its configuration
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"--encoder: {name!r} is not a folder with a {_SAVED_MODEL}, and sentence-transformers "
            f"cannot load it: {reason}"
        ) from error


def _saved_model(name: str) -> Teacher:
    # TensorFlow takes 8 seconds to import.
    from model import saved_model
    from model.fingerprint import fingerprint

    folder = Path(name)
    return Teacher(name, fingerprint(folder), saved_model.sentence_encoder(folder))


def _sentence_transformer(name: str, model) -> Teacher:
    digest = hashlib.sha256()
    for key, weights in sorted(model.state_dict().items()):
        digest.update(key.encode())
        digest.update(np.ascontiguousarray(weights.cpu().numpy()).tobytes())

    def encode(texts: Sequence[str]) -> np.ndarray:
        options = {"convert_to_numpy": True, "show_progress_bar": False}
        try:
            return model.encode(list(texts), batch_size=len(texts), **options)
        except RuntimeError as error:  # such as no memory
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"--encoder: {name!r} fails on {len(texts)} texts from {texts[0]!r} on: {reason}"
            ) from error

    return Teacher(name, digest.hexdigest(), encode)
