"""Sentences in, embeddings out: any SavedModel, static embeddings, and baselines."""

from pathlib import Path
from typing import Any

from common.encoders import pretrained as installed
from evaluation.encoders import static
from evaluation.encoders.batching import Embeddings


def load_encoder(module: str | Path, *, pretrained: bool = False) -> Any:
    """Load what encodes sentences.

    `module` is the folder of a SavedModel or of static embeddings, a URL that tensorflow-hub
    resolves, wordllama or universal-sentence-encoder; `pretrained` is what reports say of it.
    """
    folder = Path(module)
    if str(module) in installed.PACKAGED and not folder.exists():
        packaged = installed.PACKAGED[str(module)]()
        return _theirs(packaged, path=packaged.title, static=packaged.static)
    is_static = any((folder / name).is_file() for name in (static.TOKENIZER, static.MODULES))
    if is_static and not (folder / "saved_model.pb").is_file():
        return static.load(folder, pretrained=pretrained)
    from evaluation.encoders.saved_model import Encoder  # TensorFlow takes seconds

    return Encoder(module, pretrained=pretrained)


def sentence_transformer(given: str) -> Embeddings:
    """Return a model of sentence-transformers, by its name, its folder or NAME=DIR."""
    name, _, folder = given.rpartition("=")
    return _theirs(installed.SentenceTransformer(folder), path=name or folder)


def _theirs(model: Any, *, path: str, static: bool = False) -> Embeddings:
    facts = {"pretrained": True, "static": static}
    return Embeddings(model.encode, path=path, fingerprint=model.fingerprint, **facts)
