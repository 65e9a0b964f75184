"""Character n-grams and kept weights: a word is a weight times (its vector + its n-grams' sum)."""

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from export.module.hub_module import HubModule
from model.configs import schema
from model.dual_encoder import build
from model.initializers import word_vectors
from model.layers.dan import AveragingEncoder
from model.tasks.registry import tasks_of
from model.text import CHAR_NGRAMS, PADDING, WORDS
from model.text.preprocessing import NGRAMS_A_WORD, TextToIds
from model.training.state import make_state

COUNTS = {"</s>": 6, "fish": 3, "red": 1}
SENTENCES = ["red fish", "Fish blorft", "", "blorft gnarf, red gnarf"]


@pytest.fixture
def vocabulary(write_vocabulary):
    return write_vocabulary(COUNTS)


def config(vocabulary, **averaging):
    found = schema.DualEncoder()
    sizes = {"word_dim": 6, "hidden": [], "embedding_dim": 5} | averaging
    text = {"max_tokens": 8, "word_buckets": 50, "bigram_buckets": 0, "char_ngram_buckets": 1000}
    encoder = {"type": "averaging", "averaging": sizes}
    found.override({"text": text | {"vocabulary": vocabulary}, "encoder": encoder})
    return found


@pytest.fixture
def text(vocabulary):
    return TextToIds(**config(vocabulary).text.as_dict())


def ngrams(text, sentence):
    return [int(one) for one in text(tf.constant([sentence]))[CHAR_NGRAMS][0] if one != PADDING]


def test_only_words_outside_the_vocabulary_have_ngrams_and_others_are_known(text):
    ids = text(tf.constant(["red fish", "Ab", ""]))
    assert set(ids) == {WORDS, CHAR_NGRAMS}
    assert np.count_nonzero(ids[CHAR_NGRAMS], axis=1).tolist() == [0, 2, 0]  # " ab" and "ab "
    known = text.char_ngrams_of_words()
    assert known.shape == (text.table_sizes[WORDS], NGRAMS_A_WORD) == (1 + 3 + 49, 24)
    # Padding, "</s>", "fish", "red", and hashed words.
    assert np.count_nonzero(known, axis=1).tolist() == [0, 0, 4, 3] + [0] * 49
    assert text(tf.constant([], tf.string))[CHAR_NGRAMS].shape[0] == 0
    (found,) = text(tf.constant([" ".join(f"w{n}v" for n in range(8))]))[CHAR_NGRAMS].numpy()
    assert (found.min() >= 1) & (found.max() < 1000)


def test_ngrams_are_three_characters_with_the_boundaries_marked(text):
    assert len(set(ngrams(text, "abab"))) == 4  # " ab", "aba", "bab", "ab "
    assert ngrams(text, "xab")[1:] == ngrams(text, "yxab")[2:]  # "xab", "ab "
    assert ngrams(text, "xab")[0] not in ngrams(text, "yxab")  # " xa"
    assert ngrams(text, "ab cd") == ngrams(text, "ab") + ngrams(text, "cd")
    assert len(ngrams(text, "é🎂")) == 2  # characters, not bytes
    assert ngrams(text, "fishes")[:3] == text.char_ngrams_of_words()[2, :3].tolist()


def test_a_long_word_has_its_first_ngrams_alone(text):
    word = "pneumonoultramicroscopicsilicovolcanoconiosis"
    found = ngrams(text, word)
    assert len(found) == NGRAMS_A_WORD
    assert found == ngrams(text, word + "x") == ngrams(text, word + " fish")
    assert ngrams(text, word + " ab") == found + ngrams(text, "ab")


def test_ngrams_need_a_vocabulary():
    with pytest.raises(InputError, match="char_ngram_buckets: 1000"):
        TextToIds(char_ngram_buckets=1000)


def test_composed_words_and_their_sums_by_hand(text):
    """Words 1 "</s>", 2 "fish", 3 "red"; of n-grams only the first of "fish" is not 0."""
    encoder = AveragingEncoder(
        **{"table_sizes": text.table_sizes, "word_dim": 2, "embedding_dim": 2, "hidden": []},
        **{"char_ngram_weight": 0.5, "word_weights": "fixed"},
    )
    encoder.make_variables()
    encoder.use_text(text)
    words = np.zeros(encoder.tables[WORDS].shape, np.float32)
    words[1:4] = [[1, 0], [0, 1], [2, 2]]
    encoder.tables[WORDS].assign(words)
    table = np.zeros(encoder.tables[CHAR_NGRAMS].shape, np.float32)
    table[text.char_ngrams_of_words()[2, 0]] = [4, 8]
    encoder.tables[CHAR_NGRAMS].assign(table)
    encoder.word_weights.assign(np.where(np.arange(len(words)) == 2, 0.25, 1.0))
    encoder._layers[-1].set_weights([np.eye(2, dtype=np.float32), np.zeros(2, np.float32)])
    # fish: 0.25 * ((0, 1) + 0.5 * (4, 8)).
    vectors = encoder.word_vectors(tf.constant([[2, 3], [1, 2]]))
    np.testing.assert_allclose(vectors, [[[0.5, 1.25], [2, 2]], [[1, 0], [0.5, 1.25]]])
    red_fish, fishes = encoder(text(tf.constant(["red fish", "fishes"])))["default"]
    # (2, 2) + (0.5, 1.25) + the end mark's (1, 0), over a root that goes with the length.
    np.testing.assert_allclose(red_fish, [3.5, 3.25] / np.linalg.norm([3.5, 3.25]), rtol=1e-6)
    # Nothing of its own, and half of (4, 8) for " fi"; and (1, 0).
    np.testing.assert_allclose(fishes, [0.6, 0.8], rtol=1e-6)


@pytest.mark.parametrize(
    ("averaging", "heads"),
    [
        ({"word_weights": "initial", "hidden": [4]}, ["response_selection"]),  # not a sum any more
        ({"embedding_dim": 7}, ["response_selection"]),  # tables would grow
        ({}, ["response_selection", "nli"]),  # the NLI head reads the words
    ],
)
def test_an_export_has_ngrams_and_weights_in_the_words_and_keeps_a_matrix_that_it_needs(
    vocabulary, averaging, heads
):
    asked = config(vocabulary, **{"word_weights": "fixed"} | averaging)
    asked.override({"heads": heads, "nli": {"max_units": 3}})
    model = build(asked, seed=1)
    if model.encoder.word_weights is not None:
        model.encoder.word_weights.assign(tf.linspace(0.1, 1.0, 53))
    module = HubModule(model, model.text)
    assert len(module.encoder.trainable_variables) == len(model.encoder.trainable_variables)
    np.testing.assert_allclose(module(tf.constant(SENTENCES)), model.encode(SENTENCES), atol=1e-6)
    shapes = {tuple(variable.shape) for variable in module.encoder.variables}
    assert (53, NGRAMS_A_WORD) not in shapes  # no n-grams of words ...
    assert (53,) not in shapes  # ... and no weights
    # The mean of the words' vectors.
    ids = model.text(tf.constant(["red fish"]))[WORDS]
    found = module.heads["word_vectors"](tf.constant(["red fish"]))["outputs"]
    expected = tf.reduce_mean(model.encoder.word_vectors(ids[:, :2]), axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    # The parts of the module fit together.
    row = module.encoder(module.preprocessor(tf.constant(SENTENCES)))["default"]
    np.testing.assert_allclose(row, model.encode(SENTENCES), atol=1e-6)


@pytest.mark.parametrize(("weights", "records"), [("fixed", 0), ("learned", 3)])
def test_weights_begin_by_counts_of_the_vocabulary_or_of_records_and_vectors_as_drawn(
    parse, vocabulary, weights, records
):
    params = parse(
        **{"task__model__text__vocabulary": vocabulary, "task__word_frequency_records": records},
        **{"task__model__text__char_ngram_buckets": 1000},
        **{"task__model__encoder__averaging__word_weights": weights},
    )
    drawn = build(params.task.model, seed=params.task.seed).encoder.tables[WORDS].numpy()
    (task,) = tasks_of(params.task)
    encoder = make_state(params, [task]).model.encoder
    counts = np.zeros(len(drawn))
    counts[1:4] = list(COUNTS.values())
    if records:
        counts = word_vectors.count(task, records, ids=len(drawn))
    # a / (a + p), where p is a word's part of all words.
    expected = 1e-3 / (1e-3 + counts / counts.sum())
    np.testing.assert_allclose(encoder.word_weights, expected, rtol=1e-5)
    assert encoder.word_weights.trainable == (weights == "learned")
    np.testing.assert_array_equal(encoder.tables[WORDS], drawn)


def test_weights_without_counts_are_refused(parse):
    params = parse(task__model__encoder__averaging__word_weights="fixed")
    with pytest.raises(InputError, match="word_weights"):
        make_state(params, tasks_of(params.task))
