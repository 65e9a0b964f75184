"""Where the word vectors of baselines come from: a file, a module, or a random number generator."""

import hashlib
import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from common import text_files, word_vectors

RANDOM_DIM = 500
"""Numbers of an untrained word."""


class WordTable(NamedTuple):
    """Word vectors and what identifies them."""

    name: str
    source: str
    """A hash or a description: other vectors, another one."""
    lookup: Callable[[Iterable[str]], dict[str, np.ndarray]]
    """Words to the vectors of those that have one: float32 [dim]."""


def untrained(*, letters: bool) -> WordTable:
    """Return the words of a model without training: random numbers.

    A lower-cased word has `RANDOM_DIM` normal numbers, drawn by its checksum. With `letters` the
    mean of its letter trigrams is added, of which a misspelt word has most; ends of words count as
    letters. It is what a model that sums words says before it has learned anything.
    """
    name = "untrained words and letters" if letters else "untrained words"

    def vector(word: str) -> np.ndarray:
        if not letters:
            return _random(word)
        marked = f"<{word}>"
        grams = [_random(marked[i : i + 3] + "\0") for i in range(len(marked) - 2)]
        return _random(word) + np.sum(grams, axis=0) / np.sqrt(len(grams))

    return WordTable(
        name,
        f"{name}: {RANDOM_DIM} normal numbers",
        lambda words: {word: vector(word.lower()) for word in words},
    )


@lru_cache(maxsize=1 << 16)
def _random(text: str) -> np.ndarray:
    numbers = np.random.default_rng(zlib.crc32(text.encode()))
    return numbers.standard_normal(RANDOM_DIM, dtype=np.float32)


def of_file(path: Path) -> WordTable:
    """Return the words of a file that `common.word_vectors` reads.

    Only words that are asked for are kept, so a file may be larger than memory. A word that is not
    in there in the case that it is written in is looked up in lower case.
    """

    def lookup(words: Iterable[str]) -> dict[str, np.ndarray]:
        asked = set(words)
        wanted = asked | {word.lower() for word in sorted(asked)}
        found: dict[str, np.ndarray] = {}
        for entry in word_vectors.read(path):
            if entry.word in wanted and entry.word not in found:
                found[entry.word] = entry.vector()
        cased = {word: found.get(word, found.get(word.lower())) for word in sorted(asked)}
        return {word: row for word, row in cased.items() if row is not None}

    return WordTable(name_of_file(path), text_files.sha256([path]), lookup)


def name_of_file(path: Path) -> str:
    """Return the name of the vectors in a file."""
    return text_files.unpacked_name(path).removesuffix(".txt").removesuffix(".vec")


def of_module(module: str) -> WordTable:
    """Return the words of a module with the signature `word_vectors`."""
    from evaluation.encoders.saved_model import Encoder  # importing TensorFlow takes seconds

    encoder = Encoder(module)
    encoder.word_vectors(["word"])  # an error now rather than after other baselines were scored

    def lookup(words: Iterable[str]) -> dict[str, np.ndarray]:
        different = sorted(set(words))
        rows = encoder.word_vectors(different)
        return {word: row for word, row in zip(different, rows, strict=True) if row.any()}

    digest = hashlib.sha256(encoder.provenance()["fingerprint"].encode()).hexdigest()
    return WordTable(name_of_module(module), digest, lookup)


def name_of_module(module: str) -> str:
    """Return the name of the vectors in a module."""
    return f"words of {Path(module).name}"
