"""A module as a table of vectors and a tokenizer, as sentence-transformers and model2vec have it.

A word of the vocabulary is a token with the row that the module sums. Other words are split into
pieces by byte-pair encoding (Sennrich et al. 2016). Their vectors are fitted, so that the sum of a
word's pieces is near the sum of its character n-grams: each starts as the sum of the n-grams that
lie inside the piece, and a ridge regression over words adds what lies between pieces.
"""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path

import numpy as np
import tensorflow as tf
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import cg
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from common.errors import InputError
from export.module import plain
from model.teacher.texts import REPLIES, find_files, read_texts
from model.text import BIGRAMS, CHAR_NGRAMS, PADDING, WORDS
from model.text.preprocessing import char_ngram_ids, hashed_word_ids, tokenize

MOST_PIECES = 16_000
MOST_WORDS = 60_000
"""Words of the texts that pieces are fitted to."""
WHOLE_WORDS = 16_000
"""The most frequent of them are a token each."""
_RIDGE = 1.0
_ITERATIONS = 40
_TYPICAL_WORDS = 12
"""Of a text, the end mark included. The module divides a sum by sqrt(n) and adds a bias; a sum that
is not divided needs sqrt(n) times the bias, of which the tangent at this n is a sum, too."""
_AT_ONCE = 4096

_END_MARK, _UNKNOWN = "</s>", "[UNK]"
_TEXT_BEGINS = "\ue000"
"""Before each text, for the end mark and the bias: private use, which no normalized text has."""
_WORD_BEGINS, _KNOWN = "\u2581", "\ue001"
"""Before each word; before that, so that no piece is a word of the vocabulary."""
_IGNORABLE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_UNSEEN = r"[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]"
_APOSTROPHES = "[’ʼ`‘]| \u0301"
_TOKEN = r"'?[\p{L}\p{M}\p{N}]+|[^\s]"


def convert(folder: Path, texts: Sequence[str] = ()) -> tuple[np.ndarray, Tokenizer]:
    """The table and the tokenizer of a module.

    Args:
      folder: of a module with a plain form.
      texts: names or patterns of files with a text per line, or of TFRecords of pairs. Their most
        frequent words get rows, too, and pieces are fitted to their words.

    Returns:
      The table, float32 [tokens, dim]: the mean over a text's tokens has nearly the direction of
      the module's embedding. And the tokenizer, whose ids are the rows of the table.

    Raises:
      InputError: if the module has no plain form, no vocabulary, or bigrams.
    """
    config, arrays, words = plain.read(folder)
    if not words or CHAR_NGRAMS not in config or BIGRAMS in config:
        raise InputError(
            f"--module: {folder}: accepted: a module with task.model.text.vocabulary and "
            "char_ngram_buckets, and with bigram_buckets 0"
        )
    rows = arrays["table"].astype(np.float32) * arrays["scales"][:, np.newaxis]
    first_ngram = config[CHAR_NGRAMS]["first"]
    ngrams = np.pad(rows[first_ngram:], [(PADDING + 1, 0), (0, 0)])
    bucket = rows[len(words) : first_ngram].mean(axis=0)  # of a word that no row is known of
    others = _frequent(texts, without=words)
    tokenizer = _pieces([*words, *others])
    fitted = _fitted(tokenizer, ngrams, bucket, [*words, *others])
    added = others[:WHOLE_WORDS]
    hashed = hashed_word_ids(added, buckets=config[WORDS]["buckets"]) - (PADDING + 1)
    of_words = rows[len(words) + hashed] + _sums(ngrams, added)
    end = rows[words.index(_END_MARK)] if _END_MARK in words else bucket
    root = _TYPICAL_WORDS**0.5
    of_text = end + arrays["bias"] * root / 2
    table = np.concatenate([fitted, rows[: len(words)], of_words, of_text[np.newaxis]])
    is_of_word = np.arange(len(table)) >= len(fitted)
    is_of_word[tokenizer.token_to_id(_KNOWN)] = True  # once for each word that is split
    table[is_of_word] += arrays["bias"] / (2 * root)
    return _as_embeddings(table, arrays), _with_words(tokenizer, [*words, *added])


def _frequent(texts: Sequence[str], *, without: Sequence[str]) -> list[str]:
    """The most frequent words of texts that a vocabulary lacks."""
    counts: Counter[bytes] = Counter()
    lines = filter(None, read_texts(find_files(texts), REPLIES)) if texts else iter(())
    while some := list(islice(lines, _AT_ONCE)):
        counts.update(tokenize(tf.constant(some)).flat_values.numpy().tolist())
    known = {word.encode() for word in without}
    found = (word.decode() for word, _ in counts.most_common() if word not in known)
    return list(islice(found, MOST_WORDS))


def _pieces(words: Sequence[str]) -> Tokenizer:
    """A tokenizer of single words, trained on words."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = _before_each(_WORD_BEGINS)
    trainer = trainers.BpeTrainer(
        vocab_size=MOST_PIECES,
        special_tokens=[_UNKNOWN, _KNOWN],
        show_progress=False,
    )
    tokenizer.train_from_iterator(words, trainer)
    return tokenizer


def _before_each(mark: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Metaspace(replacement=mark, prepend_scheme="always", split=False)


def _fitted(
    tokenizer: Tokenizer, ngrams: np.ndarray, bucket: np.ndarray, words: Sequence[str]
) -> np.ndarray:
    """Vectors of pieces.

    Args:
      tokenizer: of single words.
      ngrams: vectors of character n-grams, float32 [ids, word_dim], 0 for `PADDING`.
      bucket: what a word has besides its n-grams, float32 [word_dim].
      words: what the vectors are fitted to.

    Returns:
      float32 [pieces, word_dim]; 0 for those that stand for nothing.
    """
    pieces = [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=itemgetter(1))]
    shown = [piece.removeprefix(_WORD_BEGINS) for piece in pieces]
    table = np.zeros((len(pieces), ngrams.shape[1]), np.float32)
    ids_of = char_ngram_ids(shown, buckets=len(ngrams))
    for row, piece, ids in zip(table, pieces, ids_of, strict=True):
        if piece not in (_UNKNOWN, _KNOWN):
            # Those of the piece as a word, without a space that it does not have. No piece knows
            # that it ends a word: with a suffix for that, tokenizers 0.23.3 numbers the pieces, and
            # breaks ties between merges, anew in each process.
            begins = not piece.startswith(_WORD_BEGINS)
            ends = np.count_nonzero(ids != PADDING) - 1
            ngrams[ids[begins:ends]].sum(axis=0, out=row)
    split = [encoding.ids for encoding in tokenizer.encode_batch(list(words))]
    counts = csr_array(
        (
            np.ones(sum(map(len, split)), np.float32),
            np.fromiter(chain.from_iterable(split), np.int32),
            np.cumsum([0, *map(len, split)]),
        ),
        shape=(len(words), len(pieces)),
    )
    missing = _sums(ngrams, words) + bucket - counts @ table
    normal = (counts.T @ counts + _RIDGE * eye_array(len(pieces), dtype=np.float32)).tocsr()
    for column, wanted in enumerate((counts.T @ missing).T):
        table[:, column] += cg(normal, wanted, maxiter=_ITERATIONS)[0]
    return table


def _sums(ngrams: np.ndarray, words: Sequence[str]) -> np.ndarray:
    """Sums of the character n-grams of words: float32 [words, word_dim]."""
    found = np.empty((len(words), ngrams.shape[1]), np.float32)
    for start in range(0, len(words), _AT_ONCE):
        ids = char_ngram_ids(words[start : start + _AT_ONCE], buckets=len(ngrams))
        ngrams[ids].sum(axis=1, out=found[start : start + _AT_ONCE])
    return found


def _as_embeddings(rows: np.ndarray, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """What the module does with a sum of rows is linear, so it may be done with each row."""
    if "projection" in arrays:
        rows = rows @ arrays["projection"].astype(np.float32)
    if "components" in arrays:
        rows = rows - (rows @ arrays["components"]) @ arrays["components"].T
    return rows @ arrays["sts_matrix"] if "sts_matrix" in arrays else rows


def _with_words(pieces: Tokenizer, words: Sequence[str]) -> Tokenizer:
    """A tokenizer of texts: first the pieces' ids, then the words', then that of each text."""
    trained = json.loads(pieces.to_str())["model"]
    vocabulary = dict(trained["vocab"])
    for word in [*words, _TEXT_BEGINS]:
        vocabulary[f"{_KNOWN}{_WORD_BEGINS}{word}"] = len(vocabulary)
    tokenizer = Tokenizer(
        models.BPE(
            vocab=vocabulary,
            merges=[tuple(merge) for merge in trained["merges"]],
            unk_token=_UNKNOWN,
            ignore_merges=True,  # a word of the vocabulary is one token
        )
    )
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(_IGNORABLE), ""),
            normalizers.NFKC(),
            normalizers.Lowercase(),  # Rust has no case folding
            normalizers.NFKC(),
            normalizers.Replace("ß", "ss"),
            normalizers.Replace("ς", "σ"),
            normalizers.Replace(Regex(_UNSEEN), " "),
            normalizers.Replace(Regex(_APOSTROPHES), "'"),
            normalizers.Prepend(f"{_TEXT_BEGINS} "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_TOKEN), "removed", invert=True),
            _before_each(_WORD_BEGINS),
            _before_each(_KNOWN),
        ]
    )
    return tokenizer
