"""Initial word vectors: directions from co-occurrence counts or a file, lengths from frequency.

With random vectors, training has to learn word by word that "dogs" is near "dog"; co-occurrence
counts (`model.initializers.cooccurrence`) or vectors that were learned elsewhere
(`model.initializers.vectors_file`) give that before the first step. In a sum of vectors of
equal length frequent words such as "the" dominate, so each vector is multiplied by a / (a + p),
where p is the share of the id among all tokens (SIF, Arora et al. 2017, section 3). Both are only
where training begins, unless the encoder keeps the weights.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import tensorflow as tf
from official.core import base_task

from model.data import tfrecords
from model.dual_encoder import DualEncoder
from model.errors import InputError
from model.initializers import char_ngrams, cooccurrence, vectors_file
from model.text import CHAR_NGRAMS, PADDING, WORDS, vocabulary

_WORDS_AT_ONCE = 10_000
SIF_A = 1e-3
"""Arora et al.'s choice for all their tasks."""
_COUNTED = 100_000
"""Records that are counted to say how many words a file has, if no others are."""
_AT_ONCE = 1000
_FIRST_WORDS = 100_000
"""Of a file, those that n-grams are fitted to; files list frequent words first."""


def begin(model: DualEncoder, task: base_task.Task) -> None:
    """Initialises the word vectors as the configuration says, and the weights of words if any.

    Args:
      model: not trained yet.
      task: its first training records are counted; its configuration says how many of them, and the
        seed.

    Raises:
      InputError: if the encoder keeps weights and there is nothing to count, or the file of
        vectors cannot be used.
    """
    config = task.task_config
    kept = getattr(model.encoder, "word_weights", None)
    asked = config.word_cooccurrence_records, config.word_frequency_records, config.word_vectors
    if kept is None and not any(asked):
        return
    table = model.encoder.tables[WORDS]
    rows = drawn = tf.convert_to_tensor(table).numpy()
    of_char_ngrams: np.ndarray | float = 0.0
    if config.word_cooccurrence_records:
        texts = _texts(task, config.word_cooccurrence_records)
        found = cooccurrence.vectors(texts, ids=len(drawn), dim=drawn.shape[1], seed=config.seed)
        rows = _as_long_as(drawn, found)
    if config.word_vectors:
        counts = count(task, config.word_frequency_records or _COUNTED, ids=len(drawn))
        of_ids, of_words = _from_file(task, counts)
        found = np.zeros_like(drawn)
        found[list(of_ids)] = _fitted(np.stack(list(of_ids.values())), drawn.shape[1])
        rows = _as_long_as(drawn, found)
        if config.char_ngram_fit:
            vectors = _fitted(np.stack(list(of_words.values())), drawn.shape[1])
            of_char_ngrams = _into_char_ngrams(model, task, list(of_words), vectors)
    if config.word_frequency_records or kept is not None:
        counts = _counts(task, ids=len(drawn))
        weights = SIF_A / (SIF_A + counts / max(counts.sum(), 1))
        if kept is not None:
            kept.assign(_of_the_first_replica(tf.constant(weights, kept.dtype)))
        else:
            rows = rows * weights[:, np.newaxis]
    if rows is not drawn:
        table.assign(_of_the_first_replica(tf.constant(rows - of_char_ngrams, table.dtype)))


def _counts(task: base_task.Task, *, ids: int) -> np.ndarray:
    """How often each word is: float64 [ids]; from the vocabulary or else the training records."""
    config = task.task_config
    if config.word_frequency_records:
        return count(task, config.word_frequency_records, ids=ids)
    if not config.model.text.vocabulary:
        raise InputError(
            "task.model.encoder.averaging.word_weights: nothing to count words in; accepted: a "
            "task.model.text.vocabulary or task.word_frequency_records above 0 beside it"
        )
    counts = np.zeros(ids)
    of_words = vocabulary.counts(config.model.text.vocabulary, WORDS)
    counts[1 : len(of_words) + 1] = of_words
    return counts


def _as_long_as(drawn: np.ndarray, found: np.ndarray) -> np.ndarray:
    """The found rows, of unit length, at the lengths of the drawn ones; where 0, the drawn ones."""
    lengths = np.linalg.norm(drawn, axis=1, keepdims=True)
    return np.where(found.any(axis=1, keepdims=True), found * lengths, drawn)


def _from_file(
    task: base_task.Task, counts: np.ndarray
) -> tuple[dict[int, np.ndarray], dict[str, np.ndarray]]:
    """The vectors of a file: by the ids of the training records, and of its first words.

    Args:
      task: its configuration names the file.
      counts: of the ids in the training records, int64 [ids]; others keep their random vectors.

    Raises:
      InputError: if the file cannot be read, or has none of the words.
    """
    path = task.task_config.word_vectors
    found: dict[int, np.ndarray] = {}
    of_words: dict[str, np.ndarray] = {}
    words = vectors_file.entries(Path(path))
    while some := list(itertools.islice(words, _WORDS_AT_ONCE)):
        for entry, word_id in zip(some, _ids(task, [entry.word for entry in some]), strict=True):
            if word_id != PADDING and len(of_words) < _FIRST_WORDS:
                of_words[entry.word] = entry.vector()
            if counts[word_id] and word_id not in found:
                found[word_id] = entry.vector()
    if not found:
        raise InputError(f"task.word_vectors: {path!r} has no word of the training records")
    ids = np.array(list(found))
    if tf.distribute.get_strategy().extended.should_checkpoint:
        counted = counts.copy()
        counted[task.text(tf.constant([""]))[WORDS][0, 0]] = 0  # the end mark is not a word
        seen, total = (counted > 0).sum(), counted.sum()
        print(
            f"word vectors: {path} has {len(ids):,} of the {seen:,} words of the training records, "
            f"{counted[ids].sum() / total:.1%} of their occurrences"
        )
    return found, of_words


def _into_char_ngrams(
    model: DualEncoder, task: base_task.Task, words: list[str], vectors: np.ndarray
) -> np.ndarray:
    """Adds to the n-grams what they tell of words' vectors, `char_ngram_fit` times.

    Args:
      model: with character n-grams.
      task: of the model.
      words: of one token each.
      vectors: theirs, float32 [words, dim].

    Returns:
      What the n-grams then add to each word of the vocabulary, float32 [ids, dim].
    """
    table = model.encoder.tables[CHAR_NGRAMS]
    buckets = table.shape[0]
    found = char_ngrams.fitted(task.text.char_ngrams_of(words), vectors, buckets=buckets)
    found *= task.task_config.char_ngram_fit
    weight = task.task_config.model.encoder.get().char_ngram_weight
    table.assign_add(_of_the_first_replica(tf.constant(found / weight, table.dtype)))
    return char_ngrams.sums(task.text.char_ngrams_of_words(), found)


def _ids(task: base_task.Task, words: list[str]) -> np.ndarray:
    """The id of each word: [words]; `PADDING` for what is not one token of the model."""
    ids = task.text(tf.constant(words))[WORDS].numpy()
    ids = np.pad(ids, [(0, 0), (0, max(0, 3 - ids.shape[1]))])
    # One token and the end mark.
    is_one = (ids[:, 1] != PADDING) & (ids[:, 2] == PADDING)
    return np.where(is_one, ids[:, 0], PADDING)


def _fitted(rows: np.ndarray, dim: int) -> np.ndarray:
    """Rows [n, any width] -> the first `dim` principal components [n, dim], of unit length.

    Narrower rows are filled up with zeros.
    """
    if rows.shape[1] > dim:
        centered = rows - rows.mean(axis=0)
        _, components = np.linalg.eigh(centered.T @ centered)  # by rising eigenvalue
        rows = centered @ components[:, : -dim - 1 : -1]
    rows = np.pad(rows, [(0, 0), (0, dim - rows.shape[1])])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def count(task: base_task.Task, records: int, *, ids: int) -> np.ndarray:
    """Counts each word id in the first records: int64 [ids]."""
    counts = np.zeros(ids, np.int64)
    for texts in _texts(task, records):
        counts += np.bincount(texts.ravel(), minlength=ids)
    counts[PADDING] = 0
    return counts


def _texts(task: base_task.Task, records: int) -> Iterator[np.ndarray]:
    """Yields the word ids of all texts of the first records: int32 [texts, tokens] a batch."""
    files = tfrecords.find_files(f"{task.section}.train_data", task.task_config.train_data)
    for serialized in tfrecords.read_records(files).take(records).batch(_AT_ONCE):
        for texts in task.parse(serialized).values():
            if isinstance(texts, dict):
                yield texts[WORDS].numpy()


def _of_the_first_replica(rows: tf.Tensor) -> tf.Tensor:
    """The first replica's rows on all replicas: processors of workers may round differently."""
    strategy = tf.distribute.get_strategy()
    if isinstance(strategy, tf.distribute.ParameterServerStrategy):
        return rows  # the chief alone gets here

    def mine() -> tf.Tensor:
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        return rows * tf.cast(tf.equal(replica, 0), rows.dtype)

    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(mine), axis=None)
