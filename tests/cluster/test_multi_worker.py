"""Synchronous workers: as one they train, stop and go on."""

import json
import math
import signal

import pytest
import tensorflow as tf

from model.checkpoints import trained
from tests.cluster.conftest import BATCH, MULTI_WORKER, WORD_START, kill

pytestmark = [pytest.mark.slow, pytest.mark.cluster]


def last_validation(text):
    return [line for line in text.splitlines() if line.startswith("validation: ")][-1]


def loss(fact, launched):
    return float(fact(launched, "loss")[0])


def events_of(folder):
    (file,) = folder.glob("events.*")
    found = {}
    for record in tf.data.TFRecordDataset(str(file)):
        event = tf.compat.v1.Event.FromString(record.numpy())
        for value in event.summary.value:
            found.setdefault(value.tag, []).append(event.step)
    return found


def test_two_workers_train_one_model(launch, run_folder, saved, fact, tmp_path):
    launched = launch(MULTI_WORKER, mode="train_and_eval", **WORD_START)
    assert launched.wait() == 0, launched.said
    assert fact(launched, "steps") == ["0", "to", "40"]
    assert loss(fact, launched) < 0.5 * math.log(BATCH / 2)
    # Each worker validates, with weights of its own.
    assert last_validation(launched.log("worker", 1)) == last_validation(launched.said)
    assert saved() == [20, 40]
    assert json.loads((run_folder / "best" / "best.json").read_text())["step"] == 40
    assert events_of(run_folder / "train")["training_loss"] == [10, 20, 30, 40]
    assert events_of(run_folder / "validation")["p_at_1"] == [40]
    # What worker 1 took part in writing is gone; AutoGraph's compiled functions may be there.
    assert {path.name for path in (tmp_path / "scratch").iterdir()} <= {"__pycache__"}
    assert "Traceback" not in launched.said + launched.log("worker", 1)
    for folder in (run_folder, run_folder / "best"):
        model, text = trained.load(folder)
        assert model.encode_inputs(text(tf.constant(["question1"]))).shape == (1, 8)


def test_two_workers_learn_from_a_teacher(launch, fact):
    launched = launch(MULTI_WORKER, experiment="reddit_teacher", mode="train_and_eval")
    assert launched.wait() == 0, launched.said
    assert last_validation(launched.log("worker", 1)) == last_validation(launched.said)
    assert 0 < float(fact(launched, "teacher_share")[0]) < 1
    assert float(fact(launched, "teacher_cosine")[0]) > 0


@pytest.mark.parametrize("shared", [True, False])
def test_negatives_come_from_all_workers_if_asked_for(launch, fact, shared):
    """With all scores near 0 the loss is the logarithm of how many responses there are."""
    launched = launch(
        MULTI_WORKER,
        task__model__score_scale=1e-3,
        task__objective__negatives_across_replicas=shared,
        trainer__train_steps=10,
    )
    assert launched.wait() == 0, launched.said
    responses = BATCH if shared else BATCH / 2
    assert loss(fact, launched) == pytest.approx(math.log(responses), abs=0.01)


LONG = {"trainer__train_steps": 1_000_000}


def steps_gone_on(fact, launched):
    begin, _, end = fact(launched, "steps")
    return int(begin), int(end)


def test_a_worker_that_is_killed_ends_the_job_which_can_go_on(launch, run_folder, saved, fact):
    launched = launch(MULTI_WORKER, **LONG)
    launched.wait_for(saved, "a checkpoint")
    kill(launched.member("worker", 1))
    assert launched.wait() == 1, launched.said
    (error,) = launched.errors
    last = f"{run_folder}/ckpt-{saved()[-1]}"
    assert f"The last checkpoint is {last}; the same command goes on" in error
    assert error.startswith("error: worker 1 does not answer (")
    assert "worker 1 ended with 137" in launched.said
    assert "Traceback" not in launched.said
    step = saved()[-1]
    again = launch(MULTI_WORKER, trainer__train_steps=step + 10)
    assert again.wait() == 0, again.said
    assert steps_gone_on(fact, again) == (step, step + 10)


def test_all_workers_stop_at_one_step_and_go_on_from_it(launch, saved, fact):
    # Loops that end between two steps at which the workers agree.
    loops = {"trainer__steps_per_loop": 15, "trainer__summary_interval": 15}
    launched = launch(MULTI_WORKER, **loops, **LONG)
    launched.wait_for(saved, "a checkpoint")
    launched.process.send_signal(signal.SIGTERM)
    assert launched.wait() == 128 + signal.SIGTERM, launched.said
    step = saved()[-1]
    assert step % 10 == 0
    said = f"stopped by SIGTERM at step {step}, which is saved; the same command goes on"
    assert said in launched.said.splitlines()
    assert said in launched.log("worker", 1)
    again = launch(MULTI_WORKER, trainer__train_steps=step + 10)
    assert again.wait() == 0, again.said
    assert steps_gone_on(fact, again) == (step, step + 10)


def test_one_worker_that_is_told_to_stop_stops_all(launch, saved):
    launched = launch(MULTI_WORKER, **LONG)
    launched.wait_for(saved, "a checkpoint")
    launched.member("worker", 1).send_signal(signal.SIGTERM)
    assert launched.wait() == 128 + signal.SIGTERM, launched.said
    assert f"at step {saved()[-1]}, which is saved" in launched.said
    assert f"at step {saved()[-1]}, which is saved" in launched.log("worker", 1)


def test_too_few_files_end_all_workers_with_one_line(launch, data):
    (file,) = data.glob("pairs-00000-*")
    launched = launch(MULTI_WORKER, task__train_data__input_path=file)
    assert launched.wait() == 1
    (error,) = launched.errors
    assert error.startswith(f"error: 1 files from '{file}' on are too few for 2 workers")
    assert error in launched.log("worker", 1)
    assert "Traceback" not in launched.said + launched.log("worker", 1)
    assert "worker 0 ended with 1; worker 1 ended with 1" in launched.said
