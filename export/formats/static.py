"""A module as a table of vectors and a tokenizer, as sentence-transformers and model2vec have it.

A word of the vocabulary is a token with the row that the module sums. Another word is split into
its character n-grams, and each has the row that the module sums.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise, product
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from common.errors import InputError
from export.formats.tokenizer import APOSTROPHE, WORD_BEGINS, build
from export.module import plain
from model.text import BIGRAMS, CHAR_NGRAMS, PADDING
from model.text.preprocessing import char_ngram_ids

MOST_LETTERS = 40
"""Of which n-grams are known: the most frequent of the vocabulary. The tokenizer looks for each in
each text."""
MOST_NGRAMS = 32_000
"""Those whose pairs of letters are frequent in the vocabulary's words."""
_TYPICAL_WORDS = 12
"""Of a text, the end mark included. The module divides a sum by sqrt(n) and adds a bias; a sum that
is not divided needs sqrt(n) times the bias, of which the tangent at this n is a sum, too."""
_END_MARK = "</s>"


def convert(folder: Path) -> tuple[np.ndarray, Tokenizer]:
    """The table, float32 [tokens, dim], and the tokenizer of a module, whose ids are its rows.

    The mean over a text's tokens has nearly the direction of the module's embedding. InputError if
    the module has no plain form, no vocabulary, or bigrams.
    """
    config, arrays, words = plain.read(folder)
    if not words or CHAR_NGRAMS not in config or BIGRAMS in config:
        raise InputError(
            f"--module: {folder}: accepted: a module with task.model.text.vocabulary and "
            "char_ngram_buckets, and with bigram_buckets 0"
        )
    counts = Counter(filter(str.isalnum, "".join(words)))
    letters = "".join(letter for letter, _ in counts.most_common(MOST_LETTERS))
    ngrams = _ngrams(words, letters)
    tokenizer = build(letters, ngrams, words)
    rows = arrays["table"].astype(np.float32) * arrays["scales"][:, np.newaxis]
    first_ngram = config[CHAR_NGRAMS]["first"]
    bucket = rows[len(words) : first_ngram].mean(axis=0)  # of a word that no row is known of
    end = rows[words.index(_END_MARK)] if _END_MARK in words else bucket
    root = _TYPICAL_WORDS**0.5
    of_word = arrays["bias"] / (2 * root)
    buckets = len(rows) - first_ngram + PADDING + 1
    ids = char_ngram_ids([ngram.strip() for ngram in ngrams], buckets=buckets) - (PADDING + 1)
    # The first n-gram of a word begins with a space.
    places = np.where([ngram[0] == " " for ngram in ngrams], ids[:, 0], ids[:, 1])
    last = [end + arrays["bias"] * root / 2]
    known = np.concatenate([rows[first_ngram + places], rows[: len(words)] + of_word, last])
    # 0 for marks, and for letters without an n-gram.
    table = np.pad(known, [(tokenizer.get_vocab_size() - len(known), 0), (0, 0)])
    table[tokenizer.token_to_id(WORD_BEGINS)] = bucket + of_word
    return _as_embeddings(table, arrays), tokenizer


def _ngrams(words: Sequence[str], letters: str) -> list[str]:
    """N-grams of letters, with a space before the first letter of a word and after the last."""
    singles = Counter("".join(words))
    pairs = Counter(chain.from_iterable(pairwise(f" {word} ") for word in words))
    possible = chain(
        product(f" {APOSTROPHE}{letters}", letters, f"{letters} "),
        product(" ", APOSTROPHE, letters),
    )

    def frequency(ngram: tuple[str, ...]) -> float:
        """How often it follows from its pairs of letters."""
        first, middle, last = ngram
        return (pairs[first, middle] + 1) * (pairs[middle, last] + 1) / (singles[middle] + 1)

    found = sorted(possible, key=frequency, reverse=True)
    return ["".join(ngram) for ngram in found[:MOST_NGRAMS]]


def _as_embeddings(rows: np.ndarray, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """What the module does with a sum of rows is linear, so it may be done with each row."""
    if "projection" in arrays:
        rows = rows @ arrays["projection"].astype(np.float32)
    if "components" in arrays:
        rows = rows - (rows @ arrays["components"]) @ arrays["components"].T
    return rows @ arrays["sts_matrix"] if "sts_matrix" in arrays else rows
