"""The teacher task: loss and metrics by hand."""

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from common.tfrecord import encode_example, frame
from model.configs import schema
from model.tasks.teacher import TeacherTask, fitted

MODEL = schema.DualEncoder(text=schema.Text(max_tokens=8, word_buckets=30, bigram_buckets=30))


def task(**objective):
    config = schema.Distillation(model=MODEL, objective=schema.DistillationObjective(**objective))
    return TeacherTask(config)


def targets(*rows):
    return tf.constant(
        [
            encode_example({"text": f"text {n}", "embedding": np.array(row, "<f2").tobytes()})
            for n, row in enumerate(rows)
        ]
    )


class Student:
    """Gives the texts of a batch these embeddings."""

    def __init__(self, *rows):
        self._rows = tf.constant(rows, tf.float32)

    def encode_inputs(self, ids, training=False):
        return self._rows


def test_the_loss_is_a_softmax_of_cosines_and_the_weighted_distance():
    found = task(scale=2.0, cosine_weight=3.0)
    batch = found.parse(targets([1, 0], [0, 1]))
    # Cosines with both targets: 0.6 and 0.8 of the first text, 0 and 1 of the second.
    student = Student([0.6, 0.8, 0.0], [0.0, 1.0, 0.0])
    logs = found.measure(student, batch, training=False)
    softmax = (np.log(1 + np.exp(2 * 0.2)) + np.log(1 + np.exp(-2))) / 2
    expected = softmax + 3 * (1 - (0.6 + 1) / 2)
    assert logs["loss"].numpy() == pytest.approx(expected, rel=1e-6)
    assert logs["teacher_loss"] == logs["loss"]
    assert logs["teacher_cosine"].numpy() == pytest.approx(0.8)


def test_the_matrix_is_the_cross_entropy_between_softmaxes_of_cosines_with_other_texts():
    batch = task().parse(targets([1, 0, 0, 0], [0.6, 0.8, 0, 0], [0, 1, 0, 0]))
    student = Student([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0])
    # Cosines of texts 1 and 2, 1 and 3, 2 and 3: 0.6, 0, 0.8 by the teacher, 0, 0.6, 0.8 here.
    expected = 0
    for of_teacher, of_student in (
        ((0.6, 0), (0, 0.6)),
        ((0.6, 0.8), (0, 0.8)),
        ((0, 0.8), (0.6, 0.8)),
    ):
        wanted, found = (np.exp(2 * np.array(cosines)) for cosines in (of_teacher, of_student))
        expected -= wanted / wanted.sum() @ np.log(found / found.sum()) / 3
    without, with_matrix = (
        task(scale=2.0, matrix_weight=weight)
        .measure(student, batch, training=False)["loss"]
        .numpy()
        for weight in (0.0, 1.5)
    )
    assert with_matrix - without == pytest.approx(1.5 * expected, rel=1e-3)  # of half floats


def test_a_narrower_teacher_keeps_its_cosines():
    rows = tf.constant([[0.6, 0.8], [3.0, 0.0]])
    np.testing.assert_allclose(fitted(rows, dim=4), [[0.6, 0.8, 0, 0], [1, 0, 0, 0]], rtol=1e-6)
    # A wider one is cut to its first numbers.
    wider = tf.constant([[0.3, 0.4, 5.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(fitted(wider, dim=2), [[0.6, 0.8], [1, 0]], rtol=1e-6)


def test_files_of_two_teachers_are_named(tmp_path):
    for name, row in (("a", [1.0, 0.0]), ("b", [1.0, 0.0]), ("c", [1.0, 0.0, 0.0])):
        (tmp_path / name).write_bytes(frame(targets(row).numpy()[0]) * 2)
    learned = task()
    learned.train.config.global_batch_size = 2
    learned.train.config.input_path = f"{tmp_path}/[ab]"
    learned.check(learned.train)
    learned.validation.config.global_batch_size = 2
    learned.validation.config.input_path = f"{tmp_path}/*"
    with pytest.raises(InputError, match=f"'{tmp_path}/a' and 3 numbers in '{tmp_path}/c'"):
        learned.check(learned.validation)
