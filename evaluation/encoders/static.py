"""Static embeddings, as sentence-transformers and model2vec store them, without these packages."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from common.encoders.pretrained import token_means
from common.errors import reading
from common.text_files import sha256
from evaluation.encoders.batching import Embeddings

TOKENIZER, MODULES, _WEIGHTS = "tokenizer.json", "modules.json", "model.safetensors"
"""The first two are in folders of sentence-transformers or model2vec alone."""
_SETTINGS = "config.json", "config_sentence_transformers.json"
"""Of model2vec and of sentence-transformers."""
_MODEL2VEC = "embeddings"
_TABLES = _MODEL2VEC, "embedding.weight"
"""What model2vec and sentence-transformers call a table of vectors."""
_MOST_TOKENS = 512
"""That model2vec reads of a text."""
_KINDS = ["StaticEmbedding"], ["StaticEmbedding", "Normalize"]


def load(folder: Path, *, pretrained: bool = False) -> Embeddings:
    """Return the encoder of a folder that sentence-transformers or model2vec saved.

    It encodes as the library does, but vectors have length 1. Other parts than a table and
    Normalize, or another similarity than the cosine, are refused.
    """
    with reading(folder):
        inner, settings = _checked(folder)
        tokenizer, weights = inner / TOKENIZER, inner / _WEIGHTS
        from tokenizers import Tokenizer

        tokens, arrays = Tokenizer.from_file(str(tokenizer)), load_file(weights)
        tokens.no_padding()  # its rows would count
        named = [name for name in _TABLES if name in arrays]
        if not named:
            raise ValueError(f"{weights.name} has {sorted(arrays)}; accepted: one of {_TABLES}")
        table = arrays[named[0]]
        if "mapping" in arrays:
            table = table[arrays["mapping"]]
        if "weights" in arrays:
            table = table * arrays["weights"][:, np.newaxis]
        table = table[:, : settings.get("truncate_dim")]
        prompt = settings.get("prompts", {}).get(settings.get("default_prompt_name")) or ""
        characters = None
        if named[0] == _MODEL2VEC:  # it cuts at a number of tokens, and first at one of characters
            most = settings.get("max_length", _MOST_TOKENS)
            if most is None:
                tokens.no_truncation()
            else:
                tokens.enable_truncation(most)
                characters = most * int(np.median([len(token) for token in tokens.get_vocab()]))
            # It leaves out what its vocabulary lacks, which a Unigram model names by its id.
            model = json.loads(tokens.to_str())["model"]
            name, unknown = model.get("unk_token"), model.get("unk_id")
            unknown = tokens.token_to_id(name) if name else unknown
            if unknown is not None:
                table[unknown] = 0

    def means(texts: Sequence[str]) -> np.ndarray:
        with reading(folder):
            return token_means(tokens, table, [(prompt + text)[:characters] for text in texts])

    others = [folder / name for name in (MODULES, *_SETTINGS)]
    fingerprint = sha256([tokenizer, weights, *filter(Path.is_file, others)])
    facts = {"pretrained": pretrained, "static": True}
    return Embeddings(means, path=str(folder), fingerprint=fingerprint, **facts)


def _checked(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the folder of the table, and the settings; refuse other parts and similarities."""
    parts = _json(folder / MODULES) or [{"type": _KINDS[0][0], "path": ""}]
    kinds = [part["type"].rpartition(".")[2] for part in parts]
    settings: dict[str, Any] = {}
    for name in _SETTINGS:
        settings |= _json(folder / name) or {}
    similarity = settings.get("similarity_fn_name") or "cosine"
    if kinds not in _KINDS:
        raise ValueError(f"{MODULES} has {kinds}; accepted: {_KINDS}")
    if similarity != "cosine" and len(kinds) == 1:
        raise ValueError(f"similarity_fn_name is {similarity!r}; accepted: 'cosine'")
    return folder / parts[0]["path"], settings


def _json(path: Path) -> Any:
    """Return what a file says, None without the file."""
    return json.loads(path.read_bytes()) if path.is_file() else None
