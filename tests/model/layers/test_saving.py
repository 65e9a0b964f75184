"""Every layer and model survives a `.keras` file, with the same outputs and configuration."""

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from model.configs import schema
from model.dual_encoder import DualEncoder, build
from model.layers.dan import AveragingEncoder
from model.layers.lstm import RecurrentEncoder
from model.layers.nli_head import Member, NliHead, Side
from model.layers.response_network import ResponseNetwork
from model.layers.transformer import TransformerEncoder
from model.text import BIGRAMS, WORDS
from model.text.preprocessing import TextToIds

TABLES = {"table_sizes": {WORDS: 20, BIGRAMS: 30}}
NUMBERS = np.random.default_rng(0)
IDS = {kind: np.array([[3, 5, 4], [7, 1, 0]], np.int32) for kind in (WORDS, BIGRAMS)}
ROWS = NUMBERS.normal(size=(2, 4)).astype(np.float32)
SENTENCES = ["How old are you?", ""]


def sentences(embeddings, words):
    return Side(embeddings, words, tf.constant([0, 1, 1]))


class Compared(tf_keras.Model):
    """The classifier behind plain tensors, which a file can name."""

    def __init__(self, head, **kwargs):
        super().__init__(**kwargs)
        self.head = head

    def call(self, inputs):
        embeddings, words = inputs
        return self.head(sentences(embeddings, words), sentences(embeddings[::-1], words))

    def get_config(self):
        return {"head": tf_keras.saving.serialize_keras_object(self.head)}

    @classmethod
    def from_config(cls, config):
        return cls(**tf_keras.saving.deserialize_keras_object(config))

    def build_from_config(self, config):
        self.built = True


LAYERS = {
    "averaging": (
        lambda: AveragingEncoder(
            **TABLES, word_dim=4, hidden=[5], embedding_dim=3, activation="relu", word_dropout=0.5
        ),
        IDS,
    ),
    "transformer": (
        lambda: TransformerEncoder(
            **TABLES, layers=2, heads=2, hidden=4, filter=6, embedding_dim=3, dropout=0.2
        ),
        IDS,
    ),
    "recurrent": (
        lambda: RecurrentEncoder(**TABLES, word_dim=4, units=3, layers=2, embedding_dim=2),
        IDS,
    ),
    "recurrent, last state": (
        lambda: RecurrentEncoder(
            **TABLES, word_dim=4, units=3, bidirectional=False, pooling="last", word_dropout=0.1
        ),
        IDS,
    ),
    "response network": (
        lambda: ResponseNetwork(4, hidden=[5, 6], activation="relu", normalize=True),
        ROWS,
    ),
    "member": (lambda: Member(hidden=[5], dropout=0.1, feature_dropout=0.2), ROWS),
    "text": (
        lambda: TextToIds(max_tokens=3, word_buckets=50, bigram_buckets=60),
        np.array(SENTENCES),
    ),
}


def inputs_like(example):
    tensors = tf.nest.map_structure(tf.constant, example)
    return tf.nest.map_structure(
        lambda tensor: tf_keras.Input(
            [None] * (tensor.dtype == tf.int32) or tensor.shape[1:], dtype=tensor.dtype
        ),
        tensors,
    ), tensors


def saved_and_loaded(model, folder):
    path = str(folder / "model.keras")
    model.save(path)
    return tf_keras.models.load_model(path, custom_objects={"Compared": Compared})


def require_same(model, again, example):
    expected, found = model(example), again(example)
    tf.nest.map_structure(np.testing.assert_array_equal, expected, found)
    assert [part.get_config() for part in again.layers] == [
        part.get_config() for part in model.layers
    ]
    for one, other in zip(model.weights, again.weights, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("make", "example"),
    [
        pytest.param(*layer, id=name, marks=[pytest.mark.slow] if name == "recurrent" else [])
        for name, layer in LAYERS.items()
    ],
)
def test_a_layer_in_a_functional_model_is_saved_and_loaded(make, example, tmp_path):
    inputs, tensors = inputs_like(example)
    layer = make()
    model = tf_keras.Model(inputs, layer(inputs))
    for weight in model.weights:  # what begins at zero too
        weight.assign(NUMBERS.normal(size=weight.shape))
    require_same(model, saved_and_loaded(model, tmp_path), tensors)
    assert type(layer).from_config(layer.get_config()).get_config() == layer.get_config()


@pytest.mark.parametrize("max_units", [0, 5])
def test_the_classifier_is_saved_and_loaded(max_units, tmp_path):
    head = NliHead(hidden=[6], max_units=max_units, members=2, scale_by_root_of_dim=False)
    model = Compared(head)
    words = tf.constant(NUMBERS.normal(size=(3, 7)), tf.float32)
    model([ROWS, words])
    require_same(model, saved_and_loaded(model, tmp_path), [ROWS, words])


@pytest.mark.parametrize(
    "kind",
    [
        "averaging",
        *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("transformer", "recurrent")),
    ],
)
def test_a_dual_encoder_is_saved_and_loaded(kind, tmp_path):
    config = schema.DualEncoder(
        text=schema.Text(max_tokens=4, word_buckets=30, bigram_buckets=40),
        heads=[schema.RESPONSE_SELECTION, schema.NLI],
        context_turns=2,
        score_scale=0.5,
        learned_score_scale=True,
    )
    small = {"layers": 1, "heads": 1, "hidden": 4, "filter": 4, "embedding_dim": 3}
    sizes = {"averaging": {"word_dim": 4}, "transformer": small, "recurrent": {"units": 3}}
    config.encoder.override({"type": kind, kind: sizes[kind]})
    model = build(config, seed=1)
    again = saved_and_loaded(model, tmp_path)
    assert isinstance(again, DualEncoder)
    assert again.get_config() == model.get_config()
    pair = {"input": tf.constant(SENTENCES), "response": tf.constant(SENTENCES[::-1])}
    require_same(model, again, pair | {"context": tf.constant(SENTENCES)})
    np.testing.assert_array_equal(model.encode(SENTENCES), again.encode(SENTENCES))
    ids = model.text(tf.constant(SENTENCES))
    np.testing.assert_array_equal(model.classify(ids, ids), again.classify(ids, ids))
    tf.train.Checkpoint(again).read(
        tf.train.Checkpoint(model).write(str(tmp_path / "checkpoint"))
    ).assert_consumed()


def test_a_dtype_policy_is_saved(tmp_path):
    layer = ResponseNetwork(4, dtype="mixed_bfloat16")
    assert ResponseNetwork.from_config(layer.get_config()).compute_dtype == "bfloat16"
