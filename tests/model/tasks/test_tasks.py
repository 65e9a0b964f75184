"""Loss, metrics and mistakes of both tasks by hand; both are learned."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from data_pipeline.pairs.tfrecord import encode_example
from model.configs import schema
from model.data.input_pipeline import ids_of
from model.dual_encoder import Compared
from model.tasks.losses import Encoded
from model.tasks.multitask import tasks_of
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
    logs = task.validation_step(batch, scoring(scores))
    assert task.metrics == ("p_at_1", "p_at_3", "p_at_10")
    found = [logs[name].numpy() for name in task.metrics]
    np.testing.assert_allclose(found, [6 / 12, 8 / 12, 10 / 12], rtol=1e-6)


def test_a_tie_counts_against_the_model():
    scores = [[2, 2, 1], [0, 1, 0], [3, 3, 3]]
    task = response_selection()
    batch = task.parse(pairs(("a", "b"), ("c", "d"), ("e", "f")))
    logs = task.validation_step(batch, scoring(scores))
    np.testing.assert_allclose(logs["p_at_1"], 1 / 3)
    np.testing.assert_allclose(logs["p_at_3"], 1)


def test_what_makes_training_harder_is_no_part_of_a_validation():
    task = response_selection(margin=0.5)
    batch = task.parse(pairs(("a", "b"), ("c", "d")))
    model = scoring([[1, 0], [0, 1]])
    training = task.build_losses(batch, model(batch))
    validation = task.validation_step(batch, model)["loss"]
    np.testing.assert_allclose(validation, np.log(1 + np.exp(-1)), rtol=1e-6)
    np.testing.assert_allclose(training, np.log(1 + np.exp(-0.5)), rtol=1e-6)


def test_mistakes_say_what_was_preferred_to_the_true_response():
    serialized = pairs(("hello", "hi"), ("bye", "see you"), ("what?", "nothing"))
    task = response_selection()
    model = scoring([[3, 1, 2], [5, 4, 1], [2, 3, 1]])
    assert task.mistakes(model, serialized, task.parse(serialized)) == [
        "**what?**  \ntrue, rank 3: nothing  \npreferred: see you",
        "**bye**  \ntrue, rank 2: see you  \npreferred: hi",
    ]


def test_accuracy_and_mistakes_of_nli():
    serialized = nli_pairs(2, 0, 1)
    task = NliTask(schema.NliClassification(model=MODEL))
    batch = task.parse(serialized)
    model = classifying([[[0, 0, 9]], [[0, 6, 0]], [[6, 0, 0]]])
    logs = task.validation_step(batch, model)
    # One of three is right, the others cost 6. Smoothed, in training, it costs 0.3 * 9 * 2 / 3 and
    # they 0.7 * 6 + 0.3 * 6 * 2 / 3.
    np.testing.assert_allclose(logs["loss"], 4, rtol=2e-3)
    logits = task.forward(model, batch, training=True)
    np.testing.assert_allclose(task.build_losses(batch, logits), 4.2, rtol=2e-3)
    assert logs.keys() == {"loss", *task.metrics}
    np.testing.assert_allclose(logs["nli_accuracy"], 1 / 3, rtol=1e-6)
    assert logs["nli_loss"] == logs["loss"]
    assert task.mistakes(model, serialized, batch) == [
        "**premise 1**  \nhypothesis 1  \nentailment, labelled neutral",
        "**premise 2**  \nhypothesis 2  \nneutral, labelled entailment",
    ]


def test_what_is_entailed_is_ranked_in_training_only():
    objective = schema.NliObjective(entailment_weight=0.5, scale=20.0)
    task = NliTask(schema.NliClassification(model=MODEL, objective=objective))
    batch = task.parse(nli_pairs(2, 0, 1))
    model = classifying([[[0, 0, 9]], [[0, 6, 0]], [[6, 0, 0]]])
    logs = task.validation_step(batch, model)
    np.testing.assert_allclose(logs["loss"], 4, rtol=2e-3)
    outputs = task.forward(model, batch, training=True)
    # All hypotheses are alike, so that the second one is picked with a probability of a third.
    expected = 4.2 + 0.5 * np.log(3)
    np.testing.assert_allclose(task.build_losses(batch, outputs), expected, rtol=2e-3)


def test_records_say_their_ids_and_none_is_empty_text():
    task = response_selection()
    records = [{"input": "a", "response": "b", "response_id": "t1_x"}, {"input": "a"}]
    ids = ids_of(task, tf.constant([encode_example(one) for one in records]))
    assert ids.numpy().tolist() == [b"t1_x", b""]
    task = NliTask(schema.NliClassification(model=MODEL))
    pair = encode_example({"pair_id": "123.jpg#1r1n", "label": 0})
    assert ids_of(task, tf.constant([pair])).numpy().tolist() == [b"123.jpg#1r1n"]


def test_a_task_that_is_none_of_these_is_refused():
    with pytest.raises(LookupError, match=r"Training.* is never registered"):
        tasks_of(schema.Training())


def test_labels_are_learned(parse, tmp_path, capfd):
    params = parse("nli", trainer__train_steps=100, trainer__validation_interval=100)
    training.run_experiment(params, mode="train_and_eval", folder=str(tmp_path / "run"))
    (said,) = [
        line for line in capfd.readouterr().out.splitlines() if line.startswith("validation: ")
    ]
    assert float(said.split("nli_accuracy ")[1].split(",")[0]) > 0.9  # by chance 1 of 3
