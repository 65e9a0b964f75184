"""Initial word vectors: directions from co-occurrence counts or a file, lengths from frequency.

With random vectors, training has to learn word by word that "dogs" is near "dog"; co-occurrence
counts (`model.initializers.cooccurrence`) or vectors that were learned elsewhere
(`common.word_vectors`) give that before the first step. In a sum of vectors of
equal length frequent words such as "the" dominate, so each vector is multiplied by a / (a + p),
where p is the share of the id among all tokens (SIF, Arora et al. 2017, section 3). Both are only
where training begins, unless the encoder keeps the weights.
"""

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse
import tensorflow as tf
from sklearn.linear_model import Ridge

from common.encoders import word_vectors
from common.errors import InputError
from model.dual_encoder import DualEncoder
from model.initializers import cooccurrence
from model.tasks.pair_task import PairTask
from model.teacher import targets
from model.teacher.texts import ALL_TEXTS
from model.text import CHAR_NGRAMS, PADDING, WORDS, vocabulary
from model.text.preprocessing import char_ngram_ids, tokenize

SIF_A = 1e-3
"""Arora et al.'s choice for all their tasks."""
_COUNTED = 100_000
"""Records that are counted to say how many words a file has, if no others are."""
_AT_ONCE = 1000
"""Records, or words of a file, that are read together."""
_TEXTS = {name: tf.io.VarLenFeature(tf.string) for name in (*ALL_TEXTS, targets.TEXT)}
_FIRST_WORDS = 100_000
"""Of a file, those that n-grams are fitted to; files list frequent words first."""
_RIDGE = {"alpha": 1.0, "solver": "sparse_cg", "max_iter": 30, "tol": 1e-3}
"""Near enough for a start."""


def begin(model: DualEncoder, task: PairTask) -> None:
    """Initialises the word vectors as the configuration says, and the weights of words if any.

    The first training records of the task are counted.

    Raises:
      InputError: if the encoder keeps weights and there is nothing to count, or the file of
        vectors cannot be used.
    """
    config = task.params
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
        of_ids, of_words = _from_file(task, dim=drawn.shape[1])
        of_model = np.stack(list(of_ids.values()))
        found = np.zeros_like(drawn)
        found[list(of_ids)] = _fitted(of_model, drawn.shape[1])
        rows = _as_long_as(drawn, found)
        if config.char_ngram_fit:
            vectors = np.stack(list(of_words.values()))
            vectors = _fitted(vectors, drawn.shape[1], components_of=of_model)
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


def _counts(task: PairTask, *, ids: int) -> np.ndarray:
    """How often each word is: float64 [ids]; from the vocabulary or else the training records."""
    config = task.params
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


def _from_file(task: PairTask, *, dim: int) -> tuple[dict[int, np.ndarray], dict[str, np.ndarray]]:
    """The vectors of a file: by the ids of the model's words, and of the file's first words.

    Of a teacher's, the first `dim` numbers, as the teacher task has it. The model's words are those
    of its vocabulary and of the first training records. They are compared as text: the other words
    of a file share buckets with them, and must not give theirs.
    """
    config = task.params
    counts, records = _count_words(task, config.word_frequency_records or _COUNTED)
    own = task.text.tokens.get(WORDS, [])
    wanted = {*counts, *own}
    found: dict[str, np.ndarray] = {}
    of_words: dict[str, np.ndarray] = {}
    entries = _entries(Path(config.word_vectors), dim=dim)
    while some := list(itertools.islice(entries, _AT_ONCE)):
        for entry, word in zip(some, _as_tokens([entry.word for entry in some]), strict=True):
            if word is None:
                continue
            if len(of_words) < _FIRST_WORDS:
                of_words.setdefault(word, entry.vector())
            if word in wanted and word not in found:
                found[word] = entry.vector()
    known = "the vocabulary and " * bool(own) + "the training records"
    if not found:
        raise InputError(f"task.word_vectors: {config.word_vectors!r} has no word of {known}")
    if tf.distribute.get_strategy().extended.should_checkpoint:
        share = sum(counts[word] for word in found) / max(counts.total(), 1)
        print(
            f"word vectors: {config.word_vectors} has {len(found):,} of the {len(wanted):,} words "
            f"of {known}, {share:.1%} of their occurrences in {records:,} training records"
        )
    # Of words in one bucket, the most frequent gives its vector.
    in_order = sorted(found, key=lambda word: (-counts[word], word))
    of_ids: dict[int, np.ndarray] = {}
    ids = task.text(tf.constant(in_order))[WORDS][:, 0].numpy().tolist()
    for known_word, word_id in zip(in_order, ids, strict=True):
        of_ids.setdefault(word_id, found[known_word])
    return of_ids, of_words


def _entries(path: Path, *, dim: int) -> Iterator[word_vectors.Entry]:
    """The words of a file, or of a folder that `python -m model teacher` has written."""
    if not path.is_dir():
        yield from word_vectors.read(path)
        return
    for word, numbers in targets.read(path):
        yield word_vectors.Entry(word, str(path), numbers[:dim])


def _into_char_ngrams(
    model: DualEncoder, task: PairTask, words: list[str], vectors: np.ndarray
) -> np.ndarray:
    """Adds to the n-grams what they tell of words' vectors, `char_ngram_fit` times.

    Of words of one token each, and float32 [words, dim]. Returns what the n-grams then add to each
    word of the vocabulary, float32 [ids, dim].
    """
    table = model.encoder.tables[CHAR_NGRAMS]
    buckets = table.shape[0]
    ngrams = char_ngram_ids(words, buckets=buckets)
    found = of_ngrams(ngrams, vectors, buckets=buckets) * task.params.char_ngram_fit
    weight = task.params.model.encoder.get().char_ngram_weight
    table.assign_add(_of_the_first_replica(tf.constant(found / weight, table.dtype)))
    return sums_of_ngrams(task.text.char_ngrams_of_words(), found)


def of_ngrams(ngrams: np.ndarray, vectors: np.ndarray, *, buckets: int) -> np.ndarray:
    """A vector for each id of n-grams, float32 [buckets, dim]; zeros if no word has it.

    A ridge regression of words' vectors on their n-grams, so that the sum of a word's n-grams comes
    near its vector: a word outside the vocabulary begins near words that are spelt like it. Of the
    words' n-grams, int32 [words, n], padded, and their vectors, float32 [words, dim].
    """
    regression = Ridge(fit_intercept=False, **_RIDGE)
    return regression.fit(_ngram_counts(ngrams, buckets), vectors).coef_.T.astype(np.float32)


def sums_of_ngrams(ngrams: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Sums of vectors: int32 [words, n], padded, of a float32 [buckets, dim] -> [words, dim]."""
    return _ngram_counts(ngrams, len(table)) @ table


def _ngram_counts(ngrams: np.ndarray, buckets: int) -> scipy.sparse.csr_matrix:
    """How often each word has each n-gram, float32 [words, buckets]."""
    words, places = np.nonzero(ngrams != PADDING)
    ones = np.ones(len(words), np.float32)
    return scipy.sparse.csr_matrix((ones, (words, ngrams[words, places])), (len(ngrams), buckets))


def _as_tokens(words: list[str]) -> list[str | None]:
    """Words as the text handling makes them; None for what is not one token of it."""
    tokens = tokenize(tf.constant(words)).to_list()
    return [found[0].decode() if len(found) == 1 else None for found in tokens]


def _fitted(rows: np.ndarray, dim: int, *, components_of: np.ndarray | None = None) -> np.ndarray:
    """Rows [n, any width] -> the first `dim` principal components [n, dim], of unit length.

    The components are those of the rows, or of others [m, the same width]. Narrower rows are filled
    up with zeros.
    """
    if rows.shape[1] > dim:
        of = rows if components_of is None else components_of
        mean = of.mean(axis=0)
        _, components = np.linalg.eigh((of - mean).T @ (of - mean))  # by rising eigenvalue
        rows = (rows - mean) @ components[:, : -dim - 1 : -1]
    rows = np.pad(rows, [(0, 0), (0, dim - rows.shape[1])])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)


def _count_words(task: PairTask, records: int) -> tuple[Counter[str], int]:
    """Counts the words of the first records, as text; and the records there are, at most those."""
    counts: Counter[bytes] = Counter()
    read = 0
    for serialized in _records(task, records):
        texts = tf.io.parse_example(serialized, _TEXTS).values()
        words = tokenize(tf.concat([some.values for some in texts], axis=0))
        counts.update(words.flat_values.numpy().tolist())
        read += len(serialized)
    return Counter({word.decode(): number for word, number in counts.items()}), read


def count(task: PairTask, records: int, *, ids: int) -> np.ndarray:
    """Counts each word id in the first records: int64 [ids]."""
    counts = np.zeros(ids, np.int64)
    for texts in _texts(task, records):
        counts += np.bincount(texts.ravel(), minlength=ids)
    counts[PADDING] = 0
    return counts


def _texts(task: PairTask, records: int) -> Iterator[np.ndarray]:
    """Yields the word ids of all texts of the first records: int32 [texts, tokens] a batch."""
    for serialized in _records(task, records):
        for texts in task.parse(serialized).values():
            if isinstance(texts, dict):
                yield texts[WORDS].numpy()


def _records(task: PairTask, records: int) -> tf.data.Dataset:
    """The first training records: string [records] a batch."""
    return task.train.serialized().take(records).batch(_AT_ONCE)


def _of_the_first_replica(rows: tf.Tensor) -> tf.Tensor:
    """The first replica's rows on all replicas: processors of workers may round differently."""
    strategy = tf.distribute.get_strategy()
    if isinstance(strategy, tf.distribute.ParameterServerStrategy):
        return rows  # the chief alone gets here

    def mine() -> tf.Tensor:
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        return rows * tf.cast(tf.equal(replica, 0), rows.dtype)

    return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(mine), axis=None)
