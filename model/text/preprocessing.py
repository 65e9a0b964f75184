"""Strings -> ids, in the graph: the same layer feeds training and is in the exported module.

1. Bytes that are not UTF-8 become U+FFFD; Unicode NFKC; case folding.
2. Tokens: runs of letters and digits, an apostrophe with what follows it ("man 's"), and each
   other visible character by itself.
3. At most `max_tokens` tokens; the rest is cut off. Of a long text only the first 64 characters
   a token are read, white space counted once, so that a megabyte costs little.
4. An end mark, so that even the empty string has one id; words and adjacent pairs of them
   (bigrams, with a mark at the beginning too) are hashed into a fixed number of buckets.
   Tokens of a vocabulary, if there is one, have ids of their own instead.

Hashing needs no vocabulary: no pass over the corpus, nothing to ship, no unknown words. A rare
word shares its vector only in a collision, which 200,000 buckets make rare for months of Reddit.
Bigrams, of which there are millions, have to be hashed.
"""

from typing import Any

import tensorflow as tf
import tensorflow_text as tf_text
import tf_keras

from model.configs import schema
from model.serialization import serializable
from model.text import BIGRAMS, PADDING, WORDS, vocabulary

_BEGIN = b"<s>"
_END = b"</s>"

_HASHES = 2**31 - 1
"""Tokens are hashed to [0, _HASHES) once; both kinds of ids derive from that number."""
_BIGRAM_FACTOR = 1_000_003
"""Prime, so that the two words of a bigram are told apart, and small enough for int64."""

_LOOKED_AT = 64
"""Characters of a text for each of its `max_tokens`."""

_UTF_8 = r"[\x{0}-\x{D7FF}\x{E000}-\x{10FFFF}]*"
_APOSTROPHES = r"['’ʼ`‘]| \x{0301}"  # NFKC makes a space and an accent of U+00B4
_SYMBOL = r"[^\pL\pM\pN\s']"
_UNSEEN = r"[^\PC\s]+"
_SPACE = r"\s+"


@serializable
class TextToIds(tf_keras.layers.Layer):
    """The whole text handling, as a layer without variables.

    It takes a string `tf_keras.Input(shape=(), dtype=tf.string)`, and can be mapped over a
    `tf.data.Dataset` of batches.

    Args:
      max_tokens: words beyond this many are cut off.
      word_buckets: buckets that words are hashed into.
      bigram_buckets: the same for bigrams.
      vocabulary: a folder that `python -m data_pipeline vocabulary` has written, or its tokens by
        kind, as `get_config` returns them; empty for hashing alone.

    Raises:
      InputError: if the folder holds no vocabulary.
    """

    def __init__(
        self,
        *,
        max_tokens: int = schema.Text.max_tokens,
        word_buckets: int = schema.Text.word_buckets,
        bigram_buckets: int = schema.Text.bigram_buckets,
        vocabulary: str | dict[str, list[str]] = "",
        name: str = "text_to_ids",
        **kwargs: Any,
    ):
        super().__init__(name=name, **kwargs)
        self._max_tokens = max_tokens
        self.longest = max_tokens + 1
        """Ids of the longest sentence, the end mark included."""
        self._words = _Ids(WORDS, word_buckets, vocabulary)
        self._bigrams = _Ids(BIGRAMS, bigram_buckets, vocabulary)

    @property
    def table_sizes(self) -> dict[str, int]:
        """How many ids there are of `words` and of `bigrams`, `PADDING` among them."""
        return {ids.kind: ids.own + ids.buckets for ids in (self._words, self._bigrams)}

    @property
    def lookup_tables(self) -> list[tf.lookup.StaticHashTable]:
        """Tables of the tokens that have ids of their own, which a SavedModel has to track."""
        return [ids.table for ids in (self._words, self._bigrams) if ids.table]

    def get_config(self) -> dict[str, Any]:
        """The arguments of the constructor, with the vocabulary itself instead of its folder."""
        tokens = {
            ids.kind: vocabulary.tokens(ids.table)
            for ids in (self._words, self._bigrams)
            if ids.table
        }
        return super().get_config() | {
            "max_tokens": self._max_tokens,
            "word_buckets": self._words.buckets,
            "bigram_buckets": self._bigrams.buckets,
            "vocabulary": tokens or "",
        }

    def call(self, sentences: tf.Tensor) -> dict[str, tf.Tensor]:
        """Ids of a batch of sentences, padded at the end with `PADDING`.

        Args:
          sentences: string [batch], any bytes.

        Returns:
          `words` and `bigrams`: int32 [batch, tokens] below their `table_sizes`; tokens is the
          longest sentence's, the end mark included. A row has as many bigrams as words: (begin,
          w1) to (wn, end).
        """
        looked_at = _cut(sentences, self._max_tokens * _LOOKED_AT)
        ended = tf.strings.join([_normalized(looked_at), _END], separator=" ")
        words = _first(_split(ended), self._max_tokens)
        hashes = tf.strings.to_hash_bucket_fast(words.flat_values, _HASHES)
        begin, end = tf.unstack(tf.strings.to_hash_bucket_fast([_BEGIN, _END], _HASHES))
        bigrams = _before(hashes, begin=begin, end=end) * _BIGRAM_FACTOR + hashes
        strings = _strings(words.flat_values) if self.lookup_tables else {}
        return {
            WORDS: self._words(words.with_flat_values(hashes), strings.get(WORDS)),
            BIGRAMS: self._bigrams(words.with_flat_values(bigrams), strings.get(BIGRAMS)),
        }


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
    row = found.indices[:, 0]
    lengths = tf.math.unsorted_segment_sum(tf.ones_like(row), row, tf.size(texts))
    return tf.RaggedTensor.from_row_lengths(found.values, lengths, validate=False)


def _normalized(sentences: tf.Tensor) -> tf.Tensor:
    """Tokens with white space between them: string [batch] -> string [batch]."""
    text = _valid(sentences)
    text = tf_text.case_fold_utf8(text)  # Unicode's NFKC_Casefold
    text = tf.strings.regex_replace(text, _UNSEEN, " ")
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


def _strings(words: tf.Tensor) -> dict[str, tf.Tensor]:
    """Words and bigrams as a vocabulary lists them: string [all words of the batch]."""
    before = _before(words, begin=tf.constant(_BEGIN), end=tf.constant(_END))
    return {WORDS: words, BIGRAMS: tf.strings.join([before, words], separator=" ")}


class _Ids(tf.Module):
    """Ids of one kind: first `PADDING`, then the vocabulary's, then the buckets'."""

    def __init__(self, kind: str, buckets: int, known: str | dict[str, list[str]]):
        super().__init__(name=f"{kind}_ids")
        self.kind = kind
        self.buckets = buckets
        self.own = vocabulary.size(known, kind)
        """How many tokens have ids of their own."""
        self.table = vocabulary.load(known, kind) if self.own else None

    def __call__(self, hashes: tf.RaggedTensor, strings: tf.Tensor | None) -> tf.Tensor:
        """Hashes int64 [batch, (tokens)], and what they are of -> int32 [batch, tokens]."""
        ids = hashes.flat_values % (self.buckets - 1) + (PADDING + 1 + self.own)
        if self.table is not None:
            places = self.table.lookup(strings)
            ids = tf.where(places == vocabulary.UNKNOWN, ids, places + (PADDING + 1))
        ids = hashes.with_flat_values(tf.cast(ids, tf.int32))
        return ids.to_tensor(default_value=PADDING)
