"""Strings -> ids, in the graph: the same code feeds the training and ships in the module.

1. Bytes that are not UTF-8 become U+FFFD; Unicode NFKC; case folding.
2. Tokens: runs of letters and digits, an apostrophe with what follows it ("man 's"), and each
   other visible character by itself.
3. At most `max_tokens` tokens; what follows is cut off. So that a megabyte costs no more than
   its bytes, of a long text only 64 characters a token are looked at, white space counted once.
4. An end mark, so that even the empty string has one id; words and adjacent pairs of them
   (bigrams, with a mark at the beginning too) are hashed into a fixed number of buckets.
   Where the config names a vocabulary, what stands in it has an id of its own instead.

Hash buckets need no vocabulary: no pass over the corpus, nothing to ship and no unknown
word; a rare word keeps a vector of its own but for a collision, which 200,000 buckets make
rare enough for months of Reddit. Bigrams, of which there are millions, leave no other choice.
"""

import tensorflow as tf
import tensorflow_text as tf_text

from model.configs import schema
from model.text import vocabulary

WORDS = "words"
BIGRAMS = "bigrams"
PADDING = 0
_BEGIN = b"<s>"
_END = b"</s>"

_HASHES = 2**31 - 1
"""Tokens are hashed to [0, _HASHES) once; both kinds of ids are made from that number."""
_BIGRAM_FACTOR = 1_000_003
"""Prime, so that the two words of a bigram are told apart, and small enough for int64."""

_LOOKED_AT = 64
"""Characters of a text for each of its `max_tokens`."""

_UTF_8 = r"[\x{0}-\x{D7FF}\x{E000}-\x{10FFFF}]*"
_APOSTROPHES = r"['’ʼ`‘]| \x{0301}"  # NFKC makes a space and an accent of U+00B4
_SYMBOL = r"[^\pL\pM\pN\s']"
_UNSEEN = r"[^\PC\s]+"
_SPACE = r"\s+"


class TextToIds(tf.Module):
    """The whole text handling; has no variables."""

    def __init__(self, config: schema.Text):
        super().__init__(name="text_to_ids")
        self._max_tokens = config.max_tokens
        self.longest = config.max_tokens + 1
        """Ids of the longest sentence, the end mark included."""
        self._has_vocabulary = bool(config.vocabulary)
        self._words = _Ids(config, WORDS)
        self._bigrams = _Ids(config, BIGRAMS)

    def __call__(self, sentences: tf.Tensor) -> dict[str, tf.Tensor]:
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
        strings = _strings(words.flat_values) if self._has_vocabulary else {}
        return {
            WORDS: self._words(words.with_flat_values(hashes), strings.get(WORDS)),
            BIGRAMS: self._bigrams(words.with_flat_values(bigrams), strings.get(BIGRAMS)),
        }


def _cut(sentences: tf.Tensor, characters: int) -> tf.Tensor:
    """The beginning of those with more bytes, white space shortened: string [batch]."""

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
    """What stands between white space: string [batch] -> string [batch, (tokens)].

    `tf.strings.split` takes the number of rows from what it found in the texts. XLA asks for
    shapes as constants, then for the texts that this one follows from, and aborts the process:
    no constant may be a string. From the shape alone there is an error, that texts do not compile.
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
    """At most so many tokens of each row, and the end mark that each ends with."""

    def cut() -> tuple[tf.Tensor, tf.Tensor]:
        ends = tf.fill([words.nrows(), 1], _END)
        short = tf.concat([words[:, :-1][:, :most], ends], axis=1)
        return short.flat_values, short.row_splits

    # Few batches have one that is longer, and to cut is to copy every token.
    is_longer = tf.reduce_any(words.row_lengths() > most + 1)
    values, splits = tf.cond(is_longer, cut, lambda: (words.flat_values, words.row_splits))
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def _before(words: tf.Tensor, *, begin: tf.Tensor, end: tf.Tensor) -> tf.Tensor:
    """What stands before each word: [all words of the batch] -> the same shape."""
    # Every row ends with the mark, so one that stands before a word is that of the row before.
    before = tf.roll(words, 1, axis=0)
    return tf.where(before == end, begin, before)


def _strings(words: tf.Tensor) -> dict[str, tf.Tensor]:
    """What the hashes are of, as it stands in a vocabulary: string [all words of the batch]."""
    before = _before(words, begin=tf.constant(_BEGIN), end=tf.constant(_END))
    return {WORDS: words, BIGRAMS: tf.strings.join([before, words], separator=" ")}


class _Ids(tf.Module):
    """Ids of one kind: first `PADDING`, then the vocabulary's, then the buckets'."""

    def __init__(self, config: schema.Text, kind: str):
        super().__init__(name=f"{kind}_ids")
        self._own = vocabulary.size(config.vocabulary, kind)
        self._table = vocabulary.load(config.vocabulary, kind) if self._own else None
        self._buckets = table_sizes(config)[kind] - self._own

    def __call__(self, hashes: tf.RaggedTensor, strings: tf.Tensor | None) -> tf.Tensor:
        """Hashes int64 [batch, (tokens)], and what they are of -> int32 [batch, tokens]."""
        ids = hashes.flat_values % (self._buckets - 1) + (PADDING + 1 + self._own)
        if self._table is not None:
            places = self._table.lookup(strings)
            ids = tf.where(places == vocabulary.UNKNOWN, ids, places + (PADDING + 1))
        ids = hashes.with_flat_values(tf.cast(ids, tf.int32))
        return ids.to_tensor(default_value=PADDING)


def table_sizes(config: schema.Text) -> dict[str, int]:
    """How many ids there are of `words` and of `bigrams`, `PADDING` among them.

    Raises:
      InputError: if the vocabulary that the config names is none.
    """
    buckets = {WORDS: config.word_buckets, BIGRAMS: config.bigram_buckets}
    return {kind: vocabulary.size(config.vocabulary, kind) + buckets[kind] for kind in buckets}
