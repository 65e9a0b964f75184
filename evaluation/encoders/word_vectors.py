"""Word vectors from a text file such as GloVe's, or from a module with `word_vectors`."""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from evaluation.data.files import (
    Source,
    existing,
    numbered_lines,
    without_gz,
)
from evaluation.errors import InputError

Table = dict[str, np.ndarray]
Lookup = Callable[[Iterable[str]], Table]
"""Words to the vectors of those that have one: float32 [dim]."""


def of_file(path: Path) -> tuple[str, str, Lookup]:
    """Return name, hash and vectors of a file in GloVe's format or word2vec's text format.

    A line is a word and its numbers, behind spaces; a first line of two whole numbers is passed
    over. Only words that are asked for are kept, so a file may be larger than memory. A word that
    is not in there in the case that it is written in is looked up in lower case.
    """
    source = Source("words", (existing(path),))
    name = without_gz(path).removesuffix(".txt").removesuffix(".vec")
    return name, source.provenance()["sha256"], lambda words: _read(path, set(words))


def _read(path: Path, words: set[str]) -> Table:
    """Read the lines of these words, or of their lower-cased forms."""
    wanted = words | {word.lower() for word in words}
    table: Table = {}
    dim = 0
    for number, line in numbered_lines(path):
        fields = line.rstrip(" ").split(" ")
        if number == 1 and len(fields) == 2:
            continue
        dim = dim or len(fields) - 1
        # GloVe 840B has words with spaces in them.
        word = " ".join(fields[: len(fields) - dim])
        if len(fields) <= dim or not dim:
            raise InputError(
                f"{path}:{number}: {len(fields)} fields; a word and {dim} numbers needed"
            )
        if word in wanted and word not in table:
            table[word] = _vector(fields[-dim:], place=f"{path}:{number}")
    cased = {word: table.get(word, table.get(word.lower())) for word in words}
    return {word: row for word, row in cased.items() if row is not None}


def _vector(fields: list[str], *, place: str) -> np.ndarray:
    """Parse the numbers of a line."""
    try:
        row = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise InputError(f"{place}: {error}; numbers are needed behind the word") from error
    if not np.isfinite(row).all():
        raise InputError(f"{place}: a NaN or infinite number")
    return row


def of_module(module: str) -> tuple[str, str, Lookup]:
    """Return name, hash and vectors of a module with the signature `word_vectors`."""
    from evaluation.encoders.saved_model import Encoder

    encoder = Encoder(module)
    encoder.word_vectors(["word"])  # an error now rather than after other baselines were scored

    def vectors(words: Iterable[str]) -> Table:
        different = sorted(set(words))
        rows = encoder.word_vectors(different)
        return {word: row for word, row in zip(different, rows, strict=True) if row.any()}

    name = f"words of {Path(module).name}"
    digest = hashlib.sha256(encoder.provenance()["fingerprint"].encode()).hexdigest()
    return name, digest, vectors
