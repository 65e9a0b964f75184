"""Strings -> ids, in the graph: the same code feeds the training and ships in the module.

1. Bytes that are not UTF-8 become U+FFFD; Unicode NFKC; case folding.
2. Tokens: runs of letters and digits, an apostrophe with what follows it ("man 's"), and each
   other visible character by itself.
3. At most `max_tokens` tokens; what follows is cut off.
4. An end mark, so that even the empty string has one id; words and adjacent pairs of them
   (bigrams, with a mark at the beginning too) are hashed into a fixed number of buckets.

Hash buckets instead of a vocabulary: no pass over the corpus, nothing to ship and no unknown
word; a rare word keeps a vector of its own but for a collision, which 200,000 buckets make
rare enough for months of Reddit. Bigrams, of which there are millions, leave no other choice.
"""

import tensorflow as tf
import tensorflow_text as tf_text

from model import configs

WORDS = "words"
BIGRAMS = "bigrams"
PADDING = 0
_BEGIN = b"<s>"
_END = b"</s>"

_HASHES = 2**31 - 1
"""Tokens are hashed to [0, _HASHES) once; both kinds of ids are made from that number."""
_BIGRAM_FACTOR = 1_000_003
"""Prime, so that the two words of a bigram are told apart, and small enough for int64."""

_APOSTROPHES = r"[’ʼ＇`´‘]"
_BEFORE_APOSTROPHE = r"([\pL\pN])'"
_SYMBOL = r"([^\pL\pM\pN\s'])"
_UNSEEN = r"[\pC]+"


class TextToIds(tf.Module):
    """The whole text handling; has no variables."""

    def __init__(self, config: configs.Text):
        super().__init__(name="text_to_ids")
        self._max_tokens = config.max_tokens
        self._word_buckets = config.word_buckets
        self._bigram_buckets = config.bigram_buckets

    def __call__(self, sentences: tf.Tensor) -> dict[str, tf.Tensor]:
        """Ids of a batch of sentences, padded at the end with `PADDING`.

        Args:
          sentences: string [batch], any bytes.

        Returns:
          `words`: int32 [batch, tokens] in [0, word_buckets), and `bigrams`: int32
          [batch, tokens] in [0, bigram_buckets); tokens is the longest sentence's, the end
          mark included. A row has as many bigrams as words: (begin, w1) to (wn, end).
        """
        tokens = tokenize(sentences)[:, : self._max_tokens]
        hashes = tf.strings.to_hash_bucket_fast(tokens, _HASHES)
        marks = tf.strings.to_hash_bucket_fast([_BEGIN, _END], _HASHES)
        column = tf.ones([tf.shape(sentences)[0], 1], tf.int64)
        words = tf.concat([hashes, column * marks[1]], axis=1)
        previous = tf.concat([column * marks[0], hashes], axis=1)
        bigrams = previous.with_flat_values(
            previous.flat_values * _BIGRAM_FACTOR + words.flat_values
        )
        return {
            WORDS: _buckets(words, self._word_buckets),
            BIGRAMS: _buckets(bigrams, self._bigram_buckets),
        }


def tokenize(sentences: tf.Tensor) -> tf.RaggedTensor:
    """Normalized tokens: string [batch] -> string [batch, (tokens)]."""
    text = tf.strings.unicode_transcode(sentences, "UTF-8", "UTF-8", errors="replace")
    text = tf.strings.regex_replace(text, _APOSTROPHES, "'")  # before NFKC splits some
    text = tf_text.case_fold_utf8(tf_text.normalize_utf8(text, "NFKC"))
    text = tf.strings.regex_replace(text, _UNSEEN, " ")
    text = tf.strings.regex_replace(text, _BEFORE_APOSTROPHE, r"\1 '")
    text = tf.strings.regex_replace(text, _SYMBOL, r" \1 ")
    return tf.strings.split(text)


def _buckets(hashes: tf.RaggedTensor, buckets: int) -> tf.Tensor:
    ids = hashes % (buckets - 1) + (PADDING + 1)
    return tf.cast(ids, tf.int32).to_tensor(default_value=PADDING)
