"""What the tasks make of a batch: P@N and mistakes by hand; both are learned."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

from data_pipeline.pairs.tfrecord import encode_example
from model.configs import schema
from model.data.input_pipeline import ids_of
from model.dual_encoder import Encoded
from model.tasks.tasks import Inference, ResponseSelection, parts_of
from model.text.preprocessing import TextToIds
from model.training import run as training

TEXT = TextToIds(max_tokens=8, word_buckets=30, bigram_buckets=30)


def scoring(scores):
    """A model that gives each input (row) these scores with the responses (columns)."""
    encoded = Encoded(
        inputs=tf.constant(scores, tf.float32),
        responses=tf.eye(len(scores)),
        score_scale=tf.constant(1.0),
    )
    return lambda batch, training=False: encoded


def classifying(logits):
    return SimpleNamespace(
        classify=lambda premises, hypotheses, training=False: tf.constant(logits, tf.float32)
    )


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
    task = ResponseSelection(TEXT, schema.Objective())
    batch = task.parse(pairs(*((f"question {n}", f"answer {n}") for n in range(12))))
    outcome = task.outcome(scoring(scores), batch, training=False)
    assert tuple(outcome.metrics) == task.metrics == ("p_at_1", "p_at_3", "p_at_10")
    found = [metric.numpy() for metric in outcome.metrics.values()]
    np.testing.assert_allclose(found, [6 / 12, 8 / 12, 10 / 12], rtol=1e-6)


def test_a_tie_counts_against_the_model():
    scores = [[2, 2, 1], [0, 1, 0], [3, 3, 3]]
    task = ResponseSelection(TEXT, schema.Objective())
    batch = task.parse(pairs(("a", "b"), ("c", "d"), ("e", "f")))
    metrics = task.outcome(scoring(scores), batch, training=False).metrics
    np.testing.assert_allclose(metrics["p_at_1"], 1 / 3)
    np.testing.assert_allclose(metrics["p_at_3"], 1)


def test_what_makes_training_harder_is_no_part_of_a_validation():
    task = ResponseSelection(TEXT, schema.Objective(margin=0.5))
    batch = task.parse(pairs(("a", "b"), ("c", "d")))
    model = scoring([[1, 0], [0, 1]])
    training, validation = (
        task.outcome(model, batch, training=training).loss.numpy() for training in (True, False)
    )
    np.testing.assert_allclose(validation, np.log(1 + np.exp(-1)), rtol=1e-6)
    np.testing.assert_allclose(training, np.log(1 + np.exp(-0.5)), rtol=1e-6)


def test_mistakes_say_what_was_preferred_to_the_true_response():
    serialized = pairs(("hello", "hi"), ("bye", "see you"), ("what?", "nothing"))
    task = ResponseSelection(TEXT, schema.Objective())
    model = scoring([[3, 1, 2], [5, 4, 1], [2, 3, 1]])
    assert task.mistakes(model, serialized, task.parse(serialized)) == [
        "**what?**  \ntrue, place 3: nothing  \npreferred: see you",
        "**bye**  \ntrue, place 2: see you  \npreferred: hi",
    ]


def test_accuracy_and_mistakes_of_the_inference():
    serialized = nli_pairs(2, 0, 1)
    task = Inference(TEXT, schema.Nli(label_smoothing=0.3))
    batch = task.parse(serialized)
    model = classifying([[[0, 0, 9]], [[0, 6, 0]], [[6, 0, 0]]])
    outcome = task.outcome(model, batch, training=False)
    # One of three is right, the others cost 6. Smoothed, in training, it costs 0.3 * 9 * 2 / 3 and
    # they 0.7 * 6 + 0.3 * 6 * 2 / 3.
    np.testing.assert_allclose(outcome.loss, 4, rtol=2e-3)
    np.testing.assert_allclose(task.outcome(model, batch, training=True).loss, 4.2, rtol=2e-3)
    assert tuple(outcome.metrics) == task.metrics
    np.testing.assert_allclose(outcome.metrics["nli_accuracy"], 1 / 3, rtol=1e-6)
    assert outcome.metrics["nli_loss"] == outcome.loss
    assert task.mistakes(model, serialized, batch) == [
        "**premise 1**  \nhypothesis 1  \nentailment, taken for neutral",
        "**premise 2**  \nhypothesis 2  \nneutral, taken for entailment",
    ]


def test_records_say_their_ids_and_none_is_empty_text():
    task = ResponseSelection(TEXT, schema.Objective())
    records = [{"input": "a", "response": "b", "response_id": "t1_x"}, {"input": "a"}]
    ids = ids_of(task, tf.constant([encode_example(one) for one in records]))
    assert ids.numpy().tolist() == [b"t1_x", b""]
    (part,) = parts_of(schema.Inference())
    pair = encode_example({"pair_id": "123.jpg#1r1n", "label": 0})
    assert ids_of(part.task, tf.constant([pair])).numpy().tolist() == [b"123.jpg#1r1n"]


def test_a_task_that_is_none_of_these_is_refused():
    with pytest.raises(TypeError, match="Training is no task of this project"):
        parts_of(schema.Training())


def test_labels_are_learned(parse, tmp_path, capfd):
    params = parse("nli", trainer__train_steps=100, trainer__validation_interval=100)
    training.run(params, mode="train_and_eval", folder=str(tmp_path / "run"))
    (said,) = [
        line for line in capfd.readouterr().out.splitlines() if line.startswith("validation: ")
    ]
    assert float(said.split("nli_accuracy ")[1].split(",")[0]) > 0.9  # by chance 1 of 3
