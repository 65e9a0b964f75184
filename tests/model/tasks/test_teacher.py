"""The teacher task: loss, metrics and mistakes by hand; it is learned, alone and with others."""

import numpy as np
import pytest
import tensorflow as tf

from data_pipeline.pairs.tfrecord import encode_example, frame
from model.configs import parsing, schema
from model.errors import InputError
from model.tasks.multitask import tasks_of
from model.tasks.teacher import TeacherTask, fitted
from model.training import run as training

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
    logs = found.validation_step(batch, student)
    softmax = (np.log(1 + np.exp(2 * 0.2)) + np.log(1 + np.exp(-2))) / 2
    expected = softmax + 3 * (1 - (0.6 + 1) / 2)
    assert logs["loss"].numpy() == pytest.approx(expected, rel=1e-6)
    assert logs["teacher_loss"] == logs["loss"]
    assert logs["teacher_cosine"].numpy() == pytest.approx(0.8)
    outputs = found.forward(student, batch, training=True)
    assert found.build_losses(batch, outputs).numpy() == pytest.approx(expected, rel=1e-6)


def test_a_narrower_teacher_keeps_its_cosines():
    rows = tf.constant([[0.6, 0.8], [3.0, 0.0]])
    np.testing.assert_allclose(fitted(rows, dim=4), [[0.6, 0.8, 0, 0], [1, 0, 0, 0]], rtol=1e-6)
    np.testing.assert_allclose(fitted(rows, dim=2), [[0.6, 0.8], [1, 0]], rtol=1e-6)


def test_a_wider_teacher_is_cut_to_its_first_numbers():
    rows = tf.constant([[0.3, 0.4, 5.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(fitted(rows, dim=2), [[0.6, 0.8], [1, 0]], rtol=1e-6)


def test_a_batch_has_ids_and_the_targets_as_stored():
    batch = task().parse(targets([0.1, -2, 3]))
    expected = np.array([[0.1, -2, 3]], np.float16).astype(np.float32)
    np.testing.assert_array_equal(batch["embedding"], expected)
    assert batch["text"]["words"].shape[0] == 1


def test_an_empty_batch_is_one():
    batch = task().parse(tf.zeros([0], tf.string))
    assert batch["embedding"].shape[0] == 0


def test_mistakes_are_the_texts_farthest_from_their_targets():
    found, serialized = task(), targets([1, 0], [0, 1])
    said = found.mistakes(Student([1, 0], [0.8, 0.6]), serialized, found.parse(serialized))
    assert said == ["**text 1**  \ncosine 0.60", "**text 0**  \ncosine 1.00"]


def test_files_of_two_teachers_are_named(tmp_path):
    for name, row in (("a", [1.0, 0.0]), ("b", [1.0, 0.0]), ("c", [1.0, 0.0, 0.0])):
        (tmp_path / name).write_bytes(frame(targets(row).numpy()[0]) * 2)
    params = schema.Data(input_path=f"{tmp_path}/[ab]", global_batch_size=2)
    task().check_data("task.train_data", params)
    params.input_path = f"{tmp_path}/*"
    with pytest.raises(InputError) as raised:
        task().check_data("task.train_data", params)
    assert str(raised.value) == (
        f"task.train_data.input_path: '{tmp_path}/a' holds embeddings of 2 numbers, "
        f"'{tmp_path}/c' of 3; accepted: the output of one encoder"
    )


def test_a_file_of_another_kind_behind_those_of_a_teacher_is_named(tmp_path):
    (tmp_path / "a").write_bytes(frame(targets([1.0, 0.0]).numpy()[0]) * 2)
    (tmp_path / "b").write_bytes(frame(encode_example({"word": "a"})))
    params = schema.Data(input_path=f"{tmp_path}/*", global_batch_size=2)
    with pytest.raises(InputError, match=rf"record 1 of '{tmp_path}/b' is corrupt or of another"):
        task().check_data("task.train_data", params)


def test_a_teacher_is_learned_alone(parse, tmp_path):
    params = parse("teacher", trainer__train_steps=200, trainer__validation_interval=200)
    metrics = training.run_experiment(params, mode="train_and_eval", folder=str(tmp_path / "run"))
    assert metrics["teacher_cosine"] > 0.9  # at first about 0
    assert metrics["validation_loss"] == metrics["teacher_loss"]
    assert (tmp_path / "run" / "best" / "best.json").exists()


@pytest.mark.slow
def test_a_run_of_three_tasks_reports_all(parse, tmp_path, capfd):
    params = parse(
        "reddit_nli_teacher",
        task__nli__share=0.2,
        task__teacher__share=0.4,
        trainer__train_steps=120,
        trainer__validation_interval=120,
    )
    names = [one.name for one in tasks_of(params.task)]
    assert names == ["response_selection", "nli", "teacher"]
    metrics = training.run_experiment(params, mode="train_and_eval", folder=str(tmp_path / "run"))
    assert {"p_at_1", "nli_accuracy", "teacher_cosine", "teacher_loss"} <= metrics.keys()
    assert metrics["teacher_cosine"] > 0.5
    assert metrics["p_at_1"] > 0.5
    said = capfd.readouterr().out
    assert "of teacher" in said
    assert "teacher_share" in said


def test_shares_leave_some_steps_to_response_selection(flags):
    given = flags("reddit_nli_teacher", task__nli__share=0.5, task__teacher__share=0.5)
    with pytest.raises(InputError, match=r"task.nli.share 0.5 and task.teacher.share 0.5: togethe"):
        parsing.parse(
            experiment=given["experiment"],
            config_files=[given["config_file"]],
            params_override=given["params_override"],
        )
