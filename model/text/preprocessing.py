"""Strings -> ids, in the graph: the same layer feeds training and is in the exported module.

1. Bytes that are not UTF-8 become U+FFFD; Unicode NFKC; case folding.
2. Tokens: runs of letters and digits, an apostrophe with what follows it ("man 's"), and each
   other visible character by itself.
3. At most `max_tokens` tokens; the rest is cut off. Of a long text only the first 64 characters
   a token are read, white space counted once, so that a megabyte costs little.
4. An end mark, so that even the empty string has one id; words and adjacent pairs of them
   (bigrams, with a mark at the beginning too) are hashed into a fixed number of buckets.
   Tokens of a vocabulary, if there is one, have ids of their own instead.
5. Character n-grams of the words that are not in the vocabulary: each character with its two
   neighbors, a space before the first and after the last, hashed. The encoder knows those of the
   vocabulary's words (`TextToIds.char_ngrams_of_words`).

Hashing needs no vocabulary: no pass over the corpus, nothing to ship, no unknown words. A rare
word shares its vector only in a collision, which 200,000 buckets make rare for months of Reddit.
Bigrams, of which there are millions, have to be hashed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text
import tf_keras

from common.errors import InputError
from model.configs import schema
from model.text import BIGRAMS, CHAR_NGRAMS, PADDING, UNSEEN, WORDS, vocabulary

_BEGIN = b"<s>"
_END = b"</s>"

_HASHES = 2**31 - 1
"""Tokens are hashed to [0, _HASHES) once; both kinds of ids derive from that number."""
_FACTOR = 1_000_003
"""A prime that keeps the parts of a bigram or n-gram apart and its products within int64."""

NGRAMS_A_WORD = 24
"""A longer word has only its first ones."""
_SPACE_CODE = ord(" ")

_LOOKED_AT = 64
"""Characters of a text for each of its `max_tokens`."""

_UTF_8 = r"[\x{0}-\x{D7FF}\x{E000}-\x{10FFFF}]*"
_APOSTROPHES = r"['’ʼ`‘]| \x{0301}"  # NFKC makes a space and an accent of U+00B4
_SYMBOL = r"[^\pL\pM\pN\s']"
_SPACE = r"\s+"


def has_words(ids: Mapping[str, tf.Tensor]) -> tf.Tensor:
    """Whether texts have more than their end mark: ids of `TextToIds` -> bool [batch]."""
    return tf.math.count_nonzero(ids[WORDS] != PADDING, axis=1) > 1


def below(batches: Sequence[Mapping[str, tf.Tensor]]) -> dict[str, tf.Tensor]:
    """Ids of several batches, one below the other: of each kind int32 [sum of batches, tokens]."""
    joined = {}
    for kind in batches[0]:
        most = tf.reduce_max([tf.shape(ids[kind])[1] for ids in batches])
        wide = [tf.pad(ids[kind], [[0, 0], [0, most - tf.shape(ids[kind])[1]]]) for ids in batches]
        joined[kind] = tf.concat(wide, axis=0)
    return joined


class TextToIds(tf_keras.layers.Layer):
    """The whole text handling, as a layer without variables.

    It takes a string `tf_keras.Input(shape=(), dtype=tf.string)`, and can be mapped over a
    `tf.data.Dataset` of batches.

    Args:
      **config: the parameters of `schema.Text`.

    Raises:
      InputError: if the folder holds no vocabulary, or character n-grams have none.
    """

    def __init__(self, *, name: str = "text_to_ids", **config: Any):
        super().__init__(name=name)
        given = schema.Text(**config)
        self._max_tokens, self._char_ngram_buckets = given.max_tokens, given.char_ngram_buckets
        self._words = _Ids(WORDS, given.word_buckets, given.vocabulary)
        self._hashed = [self._words]
        if given.bigram_buckets:
            self._hashed.append(_Ids(BIGRAMS, given.bigram_buckets, given.vocabulary))
        if given.char_ngram_buckets and self._words.table is None:
            raise InputError(
                f"task.model.text.char_ngram_buckets: {given.char_ngram_buckets}; accepted without "
                "task.model.text.vocabulary: 0"
            )

    @property
    def table_sizes(self) -> dict[str, int]:
        """How many ids there are of each kind, `PADDING` among them."""
        sizes = {ids.kind: ids.own + ids.buckets for ids in self._hashed}
        return sizes | ({CHAR_NGRAMS: self._char_ngram_buckets} if self._char_ngram_buckets else {})

    @property
    def lookup_tables(self) -> list[tf.lookup.StaticHashTable]:
        """Tables of the tokens that have ids of their own, which a SavedModel has to track."""
        return [ids.table for ids in self._hashed if ids.table]

    @property
    def tokens(self) -> dict[str, list[str]]:
        """The tokens of each kind that have ids of their own, the end mark among the words."""
        return {ids.kind: vocabulary.tokens(ids.table) for ids in self._hashed if ids.table}

    def call(self, sentences: tf.Tensor) -> dict[str, tf.Tensor]:
        """Ids of a batch of sentences, padded at the end with `PADDING`.

        Args:
          sentences: string [batch], any bytes.

        Returns:
          `words` and `bigrams`: int32 [batch, tokens] below their `table_sizes`; tokens is the
          longest sentence's, the end mark included. A row has as many bigrams as words: (begin,
          w1) to (wn, end). `char_ngrams`: int32 [batch, n-grams], those of the words that the
          vocabulary lacks; a row may have none. Only the kinds of `table_sizes`.
        """
        looked_at = _cut(sentences, self._max_tokens * _LOOKED_AT)
        ended = tf.strings.join([_normalized(looked_at), _END], separator=" ")
        words = _first(_split(ended), self._max_tokens)
        hashes = tf.strings.to_hash_bucket_fast(words.flat_values, _HASHES)
        begin, end = tf.unstack(tf.strings.to_hash_bucket_fast([_BEGIN, _END], _HASHES))
        of_words, is_known = self._words(hashes, lambda: words.flat_values)
        found = {WORDS: of_words}
        for bigrams in self._hashed[1:]:
            pairs = _before(hashes, begin=begin, end=end) * _FACTOR + hashes
            found[BIGRAMS], _ = bigrams(pairs, lambda: _bigrams(words.flat_values))
        ids = {
            kind: words.with_flat_values(flat).to_tensor(default_value=PADDING)
            for kind, flat in found.items()
        }
        if self._char_ngram_buckets:
            at = tf.where(~is_known & (hashes != end))[:, 0]
            codes, of_word = _char_ngrams(tf.gather(words.flat_values, at))
            row = tf.gather(_first_above(words.row_splits, at) - 1, of_word)
            ids[CHAR_NGRAMS] = tf.RaggedTensor.from_value_rowids(
                _in_buckets(codes, self._char_ngram_buckets),
                row,
                nrows=words.nrows(),
                validate=False,
            ).to_tensor(default_value=PADDING)
        return ids

    def char_ngrams_of_words(self) -> np.ndarray:
        """The n-grams of each word of the vocabulary: int32 [ids of words, NGRAMS_A_WORD].

        Padded with `PADDING`; padding alone for the end mark and hashed words.
        """
        words = vocabulary.tokens(self._words.table)
        ids = char_ngram_ids(words, buckets=self._char_ngram_buckets)
        after = self.table_sizes[WORDS] - len(ids) - 1
        return np.pad(ids, [(1, after), (0, 0)], constant_values=PADDING)


def char_ngram_ids(words: Sequence[str], *, buckets: int) -> np.ndarray:
    """The n-grams of words as the text handling makes them: int32 [words, NGRAMS_A_WORD].

    Padded with `PADDING`, which is all that the end mark has; `buckets` is the number of ids.
    """
    tokens = tf.constant(words)
    codes, of_word = _char_ngrams(tokens)
    ids = tf.RaggedTensor.from_value_rowids(
        _in_buckets(codes, buckets), of_word, nrows=tf.size(tokens, tf.int64)
    ).to_tensor(default_value=PADDING, shape=[None, NGRAMS_A_WORD])
    return tf.where(tokens[:, tf.newaxis] == _END, PADDING, ids).numpy()


def _in_buckets(numbers: tf.Tensor, buckets: int) -> tf.Tensor:
    """int64 to int32, the same shape, from `PADDING` + 1 to below `buckets`."""
    return tf.cast(numbers % (buckets - 1) + (PADDING + 1), tf.int32)


def _cut(sentences: tf.Tensor, characters: int) -> tf.Tensor:
    """Cuts sentences with more bytes, after shortening white space: string [batch]."""

    def cut() -> tf.Tensor:
        short = tf.strings.regex_replace(sentences, _SPACE, " ")
        short = tf.strings.substr(short, 0, characters, unit="UTF8_CHAR")
        return tf.where(is_long, short, sentences)

    # A mark is a token of one byte, and each token takes some 100 bytes on its way.
    is_long = tf.strings.length(sentences) > characters
    return tf.cond(tf.reduce_any(is_long), cut, lambda: sentences)


def tokenize(sentences: tf.Tensor) -> tf.RaggedTensor:
    """Normalized tokens: string [batch] -> string [batch, (tokens)]."""
    return _split(_normalized(sentences))


def _split(texts: tf.Tensor) -> tf.RaggedTensor:
    """Splits at white space: string [batch] -> string [batch, (tokens)].

    `tf.strings.split` derives the number of rows from the texts. XLA then asks for the texts as
    constants, and aborts the process since no constant may be a string. With the number of rows
    from the shape alone it raises an error instead, that strings do not compile.
    """
    found = tf.raw_ops.StringSplitV2(input=texts, sep="")
    rows_before = tf.range(-1, tf.size(texts, tf.int64))
    splits = _first_above(found.indices[:, 0], rows_before)
    return tf.RaggedTensor.from_row_splits(found.values, splits, validate=False)


def _first_above(ascending: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
    """The place of the first number above each value: int64 [n] and [k] -> int64 [k]."""
    # `tf.searchsorted` does the same in more operations.
    found = tf.raw_ops.UpperBound(
        sorted_inputs=ascending[tf.newaxis], values=values[tf.newaxis], out_type=tf.int64
    )
    return found[0]


def _normalized(sentences: tf.Tensor) -> tf.Tensor:
    """Tokens with white space between them: string [batch] -> string [batch]."""
    text = _valid(sentences)
    text = tf_text.case_fold_utf8(text)  # Unicode's NFKC_Casefold
    text = tf.strings.regex_replace(text, UNSEEN, " ")
    text = tf.strings.regex_replace(text, _APOSTROPHES, " '")
    return tf.strings.regex_replace(text, _SYMBOL, r" \0 ")


def _valid(sentences: tf.Tensor) -> tf.Tensor:
    """Bytes that are not UTF-8 become U+FFFD: string [batch] -> string [batch]."""
    # Few batches have such bytes, and looking for them takes a small part of replacing them,
    # which is a third of all text handling.
    return tf.cond(
        tf.reduce_all(tf.strings.regex_full_match(sentences, _UTF_8)),
        lambda: sentences,
        lambda: tf.strings.unicode_transcode(sentences, "UTF-8", "UTF-8", errors="replace"),
    )


def _first(words: tf.RaggedTensor, most: int) -> tf.RaggedTensor:
    """At most `most` tokens of each row, then the end mark."""

    def cut() -> tuple[tf.Tensor, tf.Tensor]:
        ends = tf.fill([words.nrows(), 1], _END)
        short = tf.concat([words[:, :-1][:, :most], ends], axis=1)
        return short.flat_values, short.row_splits

    # Few batches have one that is longer, and to cut is to copy every token.
    is_longer = tf.reduce_any(words.row_lengths() > most + 1)
    values, splits = tf.cond(is_longer, cut, lambda: (words.flat_values, words.row_splits))
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def _before(words: tf.Tensor, *, begin: tf.Tensor, end: tf.Tensor) -> tf.Tensor:
    """The word before each word: [all words of the batch] -> the same shape."""
    # Every row ends with the mark, so a mark before a word is the end of the previous row.
    before = tf.roll(words, 1, axis=0)
    return tf.where(before == end, begin, before)


def _bigrams(words: tf.Tensor) -> tf.Tensor:
    """Bigrams as a vocabulary lists them: string [all words of the batch] -> the same shape."""
    before = _before(words, begin=tf.constant(_BEGIN), end=tf.constant(_END))
    return tf.strings.join([before, words], separator=" ")


def _char_ngrams(words: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The character n-grams of words, string [words], in one pass over all their characters.

    Returns a number for each n-gram, the same for the same characters, int64 [n-grams], and its
    word, int64 [n-grams]. No word has more than `NGRAMS_A_WORD`.
    """
    text = tf.strings.reduce_join(tf.concat([[""], words, [""]], axis=0), separator=" ")
    characters = tf.cast(tf.strings.unicode_decode(text, "UTF-8"), tf.int64)
    before, middle, after = characters[:-2], characters[1:-1], characters[2:]
    codes = (before * _FACTOR + middle) * _FACTOR + after
    spaces = tf.where(characters == _SPACE_CODE)[:, 0]
    of_word = tf.cumsum(tf.cast(characters == _SPACE_CODE, tf.int64))[1:-1] - 1
    place = tf.range(1, tf.size(middle, tf.int64) + 1) - tf.gather(spaces, of_word)
    kept = (middle != _SPACE_CODE) & (place <= NGRAMS_A_WORD)
    return tf.boolean_mask(codes, kept), tf.boolean_mask(of_word, kept)


class _Ids(tf.Module):
    """Ids of one kind: first `PADDING`, then the vocabulary's, then the buckets'."""

    def __init__(self, kind: str, buckets: int, folder: str):
        super().__init__(name=f"{kind}_ids")
        self.kind = kind
        self.buckets = buckets
        self.own = vocabulary.size(folder, kind)
        """How many tokens have ids of their own."""
        self.table = vocabulary.load(folder, kind) if self.own else None

    def __call__(
        self, hashes: tf.Tensor, strings: Callable[[], tf.Tensor]
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Hashes int64 [tokens], and what they are of -> int32 and bool [tokens].

        The bool says whether the vocabulary has the token.
        """
        ids = hashes % (self.buckets - 1) + (PADDING + 1 + self.own)
        is_known = tf.zeros_like(hashes, tf.bool)
        if self.table is not None:
            places = self.table.lookup(strings())
            is_known = places != vocabulary.UNKNOWN
            ids = tf.where(is_known, places + (PADDING + 1), ids)
        return tf.cast(ids, tf.int32), is_known
