"""Loss and metrics of pairs and of NLI and its classifier, by hand; what is learned alone."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from common.tfrecord import encode_example, frame
from model import losses
from model.configs import schema
from model.dual_encoder import Compared
from model.layers import nli_head
from model.losses import Encoded
from model.tasks.nli import NliTask
from model.tasks.response_selection import ResponseSelectionTask
from model.training import run as training

MODEL = schema.DualEncoder(
    text=schema.Text(max_tokens=8, word_buckets=30, bigram_buckets=30),
    nli=schema.Nli(label_smoothing=0.3),
)


def response_selection(**objective):
    config = schema.ResponseSelection(model=MODEL, objective=schema.Objective(**objective))
    return ResponseSelectionTask(config)


def scoring(scores):
    """A model that gives each input (row) these scores with the responses (columns)."""
    encoded = Encoded(
        inputs=tf.constant(scores, tf.float32),
        responses=tf.eye(len(scores)),
        score_scale=tf.constant(1.0),
    )
    return lambda batch, training=False: encoded


def classifying(logits):
    """A model that gives the pairs these logits, and every sentence the embedding (1, 0)."""
    embeddings = tf.tile([[1.0, 0.0]], [len(logits), 1])
    compared = Compared(embeddings, embeddings, tf.constant(logits, tf.float32))
    return SimpleNamespace(compare=lambda premises, hypotheses, training=False: compared)


def pairs(*texts):
    return tf.constant([encode_example({"input": a, "response": b}) for a, b in texts])


def nli_pairs(*labels):
    examples = [
        {"premise": f"premise {n}", "hypothesis": f"hypothesis {n}", "label": label}
        for n, label in enumerate(labels)
    ]
    return tf.constant([encode_example(example) for example in examples])


def test_the_true_response_is_among_the_best_1_3_and_10():
    """Of 12 responses: 0, 1, 2, 3, 9, 10 and 11 are above the true one, 5 times none."""
    above = [0, 1, 2, 3, 9, 10, 11, 0, 0, 0, 0, 0]
    scores = np.full([12, 12], -1.0)
    np.fill_diagonal(scores, 0.0)
    for row, count in enumerate(above):
        others = [column for column in range(12) if column != row][:count]
        scores[row, others] = 1.0
    task = response_selection()
    batch = task.parse(pairs(*((f"question {n}", f"answer {n}") for n in range(12))))
    logs = task.measure(scoring(scores), batch, training=False)
    assert task.metrics == ("p_at_1", "p_at_3", "p_at_10")
    found = [logs[name].numpy() for name in task.metrics]
    np.testing.assert_allclose(found, [6 / 12, 8 / 12, 10 / 12], rtol=1e-6)


def in_context(*turns):
    """A pair with these turns before its input, the nearest first."""
    context = {f"context/{number}": text for number, text in enumerate(turns)}
    return encode_example({"input": "a", "response": "b"} | context)


def test_the_context_is_the_messages_before_the_input_the_nearest_first():
    task = ResponseSelectionTask(schema.ResponseSelection(model=MODEL.replace(context_turns=2)))
    records = [in_context("near", "far", "farther"), in_context("near", ""), in_context()]
    batch = task.parse(tf.constant(records))
    for kind, ids in task.text(tf.constant(["near far", "near", ""])).items():
        np.testing.assert_array_equal(batch["context"][kind], ids)
    assert set(response_selection().parse(tf.constant(records))) == set(batch) - {"context"}


def test_pairs_without_any_context_are_refused_if_the_model_reads_it(tmp_path):
    params = schema.ResponseSelection(model=MODEL.replace(context_turns=1))
    params.train_data = schema.Data(input_path=f"{tmp_path}/*", global_batch_size=2)
    (tmp_path / "a").write_bytes(frame(in_context()) + frame(in_context("")))
    task = ResponseSelectionTask(params)
    with pytest.raises(InputError, match=rf"'{tmp_path}/a' .*context_turns"):
        task.check(task.train)
    # Halves of messages, without a context, may stand beside replies.
    (tmp_path / "b").write_bytes(frame(in_context("near")))
    task = ResponseSelectionTask(params)
    task.check(task.train)


def test_what_makes_training_harder_is_no_part_of_a_validation():
    task = response_selection(margin=0.5)
    batch = task.parse(pairs(("a", "b"), ("c", "d")))
    model = scoring([[1, 0], [0, 1]])
    training = task.measure(model, batch, training=True)["loss"]
    validation = task.measure(model, batch, training=False)["loss"]
    np.testing.assert_allclose(validation, np.log(1 + np.exp(-1)), rtol=1e-6)
    np.testing.assert_allclose(training, np.log(1 + np.exp(-0.5)), rtol=1e-6)


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_loss_and_accuracy_of_nli(weight):
    objective = schema.NliObjective(entailment_weight=weight, scale=20.0)
    task = NliTask(schema.NliClassification(model=MODEL, objective=objective))
    batch = task.parse(nli_pairs(2, 0, 1))
    model = classifying([[[0, 0, 9]], [[0, 6, 0]], [[6, 0, 0]]])
    logs = task.measure(model, batch, training=False)
    # One of three is right, the others cost 6. Smoothed, in training, it costs 0.3 * 9 * 2 / 3 and
    # they 0.7 * 6 + 0.3 * 6 * 2 / 3.
    np.testing.assert_allclose(logs["loss"], 4, rtol=2e-3)
    # All hypotheses are alike, so that the entailed one is picked with a probability of a third.
    found = task.measure(model, batch, training=True)["loss"]
    np.testing.assert_allclose(found, 4.2 + weight * np.log(3), rtol=2e-3)
    assert logs.keys() == {"loss", *task.metrics}
    np.testing.assert_allclose(logs["nli_accuracy"], 1 / 3, rtol=1e-6)
    assert logs["nli_loss"] == logs["loss"]


def test_a_label_that_is_none_is_named_with_its_record(parse, nli_folder, tmp_path):
    pair = {"premise": "a", "hypothesis": "b", "pair_id": "1"}
    records = [frame(encode_example(pair | {"label": label})) for label in [0, 2] * 32 + [3]]
    (tmp_path / "train-0.tfrecord").write_bytes(b"".join(records))
    params = parse("nli", task__train_data__input_path=str(tmp_path / "train-*"))
    with pytest.raises(InputError, match="record 65 of "):
        training.run_experiment(params, mode="train", folder=str(tmp_path / "run"))


@pytest.mark.parametrize(
    ("task", "steps", "metric"),
    # At first about 1 of 3, and about 0.
    [("nli", 100, "nli_accuracy"), ("teacher", 200, "teacher_cosine")],
)
def test_a_task_is_learned_alone(parse, tmp_path, task, steps, metric):
    params = parse(task, trainer__train_steps=steps, trainer__validation_interval=steps)
    metrics = training.run_experiment(params, mode="train_and_eval", folder=tmp_path / "run")
    assert metrics[metric] > 0.9
    assert metrics["validation_loss"] == metrics[f"{task}_loss"]
    assert (tmp_path / "run" / "best" / "run.json").exists()


U1 = tf.constant([[1.0, -2.0], [0.5, 3.0]])
U2 = tf.constant([[4.0, 2.0], [0.5, -1.0]])
WORDS = tf.zeros([2, 3]), tf.constant([0, 1])  # that only some classifiers look at
ENCODED = nli_head.Side(U1, *WORDS), nli_head.Side(U2, *WORDS)
PLAIN = np.array([[1, -2, 4, 2, 3, 4, 4, -4], [0.5, 3, 0.5, -1, 0, 4, 0.25, -3]])
ROOT = np.sqrt(2)  # of how many numbers a vector has
FEATURES = PLAIN * [*[ROOT] * 6, *[2] * 2]  # those of both vectors times the root


def test_without_the_factor_the_classifier_sees_the_plain_features():
    """Section 2.4, figure 5."""
    head = nli_head.NliHead(hidden=[], scale_by_root_of_dim=False)
    (logits,) = tf.unstack(head(*ENCODED), axis=1)
    kernel, bias = head.weights
    np.testing.assert_allclose(logits, PLAIN @ kernel + bias, rtol=1e-5, atol=1e-5)


def test_the_classifier_sees_the_largest_of_each_unit_over_the_words():
    head = nli_head.NliHead(hidden=[], max_units=2)
    words = tf.constant([[3.0, 1.0], [2.0, 4.0], [-1.0, -2.0]])
    of_row = tf.constant([0, 0, 1])
    first, second = nli_head.Side(U1, words, of_row), nli_head.Side(U2, -words, of_row)
    head(first, second)
    weights = {weight.name: weight for weight in head.weights}
    weights["nli_head/pooled/kernel:0"].assign(tf.eye(2))
    kernel, bias = (weights[f"nli_head/member_0/logits/{name}:0"] for name in ("kernel", "bias"))
    # By hand: of the first sentence's two words the largest are (3, 4), of length 5; of the
    # second's one, and of the negated words, what is below 0 counts as 0.
    largest = np.array([[[0.6, 0.8], [0, 0]], [[0, 0], [1 / 5**0.5, 2 / 5**0.5]]])
    u1, u2 = (
        ROOT * np.concatenate([u, pooled], axis=1)
        for u, pooled in zip((U1, U2), largest, strict=True)
    )
    features = np.concatenate([u1, u2, abs(u1 - u2), u1 * u2], axis=1)
    # The weights are drawn: a sum of products near 10 may cancel to something near 0.
    (logits,) = tf.unstack(head(first, second), axis=1)
    np.testing.assert_allclose(logits, features @ kernel + bias, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("activation", "function"), [("tanh", np.tanh), ("relu", lambda x: np.maximum(x, 0))]
)
def test_the_logits_are_the_layers_of_the_features(activation, function):
    head = nli_head.NliHead(hidden=[5, 4], activation=activation)
    head(*ENCODED)
    rows = FEATURES
    *hidden, kernel, bias = (weight.numpy() for weight in head.weights)
    for index in (0, 2):
        rows = function(rows @ hidden[index] + hidden[index + 1])
    np.testing.assert_allclose(head(*ENCODED)[:, 0], rows @ kernel + bias, rtol=1e-5, atol=1e-5)


def test_the_logits_are_float32_in_mixed_precision(bfloat16):
    head = nli_head.NliHead()
    logits = head(*ENCODED)
    assert logits.dtype == tf.float32
    assert {weight.dtype for weight in head.weights} == {tf.float32}
    narrow = [u._replace(embeddings=tf.cast(u.embeddings, tf.bfloat16)) for u in ENCODED]
    assert head(*narrow).dtype == tf.float32


# One pair, neutral, by two members: probabilities (6, 1, 1) / 8 and (1, 5, 4) / 10.
DISAGREEING = tf.math.log([[[6.0, 1.0, 1.0], [1.0, 5.0, 4.0]]])


def test_each_member_has_a_loss_of_its_own_and_all_say_one_label():
    np.testing.assert_allclose(
        nli_head.probabilities(DISAGREEING), [[0.425, 0.3125, 0.2625]], rtol=1e-6
    )
    classified = losses.nli_softmax(DISAGREEING, tf.constant([1]))
    np.testing.assert_allclose(classified.loss, -(np.log(1 / 8) + np.log(1 / 2)) / 2, rtol=1e-6)
    assert classified.accuracy == 0
    assert losses.nli_softmax(DISAGREEING, tf.constant([0])).accuracy == 1
