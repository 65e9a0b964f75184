"""The model as a whole: its weights, its sides, and what training changes."""

import numpy as np
import pytest
import tensorflow as tf

from model.configs import schema
from model.dual_encoder import DualEncoder, build
from model.text.preprocessing import TextToIds

CONFIG = schema.DualEncoder(
    text=schema.Text(max_tokens=8, word_buckets=300, bigram_buckets=300),
    encoder=schema.Encoder(
        type="averaging",
        averaging=schema.Averaging(word_dim=6, hidden=[5], embedding_dim=4, word_dropout=0.5),
    ),
    response_network=schema.ResponseNetwork(hidden=[3]),
    heads=[schema.RESPONSE_SELECTION, schema.NLI],
    score_scale=0.5,
    learned_score_scale=True,
    nli=schema.Nli(hidden=[3], feature_dropout=0.5),
)


@pytest.fixture(scope="module")
def model():
    return build(CONFIG, seed=3)


def ids(*texts):
    return TextToIds(CONFIG.text)(tf.constant(texts))


LONG = [f"{word} a b c d e f" for word in ("how", "who", "where", "why")]


def test_its_weights_have_the_names_that_a_checkpoint_is_read_by(model):
    assert [weight.name for weight in model.weights] == [
        "averaging_encoder/words/table:0",
        "averaging_encoder/bigrams/table:0",
        "averaging_encoder/hidden_0/kernel:0",
        "averaging_encoder/hidden_0/bias:0",
        "averaging_encoder/embedding/kernel:0",
        "averaging_encoder/embedding/bias:0",
        "dual_encoder/response_network/hidden_0/kernel:0",
        "dual_encoder/response_network/hidden_0/bias:0",
        "dual_encoder/response_network/response/kernel:0",
        "dual_encoder/response_network/response/bias:0",
        "nli_head/member_0/hidden_0/kernel:0",
        "nli_head/member_0/hidden_0/bias:0",
        "nli_head/member_0/logits/kernel:0",
        "nli_head/member_0/logits/bias:0",
        "log_score_scale:0",
    ]
    assert model.heads == (schema.RESPONSE_SELECTION, schema.NLI)
    assert model.get_config() == CONFIG.as_dict()


def test_a_learned_scale_may_begin_below_one(model):
    # exp(log(0.5))
    np.testing.assert_allclose(model.score_scale, 0.5, rtol=1e-6)
    with pytest.raises(ValueError, match="score_scale: -1"):
        DualEncoder(CONFIG.replace(score_scale=-1.0))


SIDES = {
    "inputs": lambda model, **options: model.encode_inputs(ids(*LONG), **options),
    "responses": lambda model, **options: model.encode_responses(ids(*LONG), **options),
    "input of a pair": lambda model, **options: pair(model, **options).inputs,
    "response of a pair": lambda model, **options: pair(model, **options).responses,
    "classes": lambda model, **options: model.classify(ids(*LONG), ids(*LONG[::-1]), **options),
}


def pair(model, **options):
    return model({"input": ids(*LONG), "response": ids(*LONG)}, **options)


@pytest.mark.parametrize("side", SIDES.values(), ids=SIDES)
def test_only_training_drops_words(model, side):
    plain = side(model)
    np.testing.assert_array_equal(side(model), plain)
    np.testing.assert_array_equal(side(model, training=False), plain)
    first, second = side(model, training=True), side(model, training=True)
    assert np.abs(first - plain).max() > 1e-4
    assert np.abs(first - second).max() > 1e-4


@pytest.mark.parametrize(("words", "features"), [(0.5, 0.0), (0.0, 0.5)])
def test_training_a_classifier_drops_words_and_features(words, features):
    averaging = schema.Averaging(word_dim=6, hidden=[5], embedding_dim=4, word_dropout=words)
    encoder = schema.Encoder(type="averaging", averaging=averaging)
    nli = schema.Nli(hidden=[3], feature_dropout=features)
    model = build(CONFIG.replace(encoder=encoder, nli=nli), seed=3)
    plain = SIDES["classes"](model)
    np.testing.assert_array_equal(SIDES["classes"](model, training=False), plain)
    assert np.abs(SIDES["classes"](model, training=True) - plain).max() > 1e-4


def test_what_the_classifier_drops_next_is_in_the_checkpoint(tmp_path):
    model = build(CONFIG, seed=3)
    kept = tf.train.Checkpoint(model=model).write(str(tmp_path / "kept"))
    logits = [SIDES["classes"](model, training=True) for _ in range(2)]
    tf.train.Checkpoint(model=model).read(kept).assert_consumed()
    again = [SIDES["classes"](model, training=True) for _ in range(2)]
    np.testing.assert_array_equal(again, logits)


def test_the_sides_share_an_encoder_and_the_response_goes_on(model):
    encoded = pair(model)
    np.testing.assert_array_equal(encoded.inputs, model.encode_inputs(ids(*LONG)))
    np.testing.assert_array_equal(
        encoded.responses, model.response_network(model.encode_inputs(ids(*LONG)))
    )
    np.testing.assert_allclose(np.linalg.norm(encoded.inputs, axis=1), 1, rtol=1e-6)
