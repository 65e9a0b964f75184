"""Clusters train one model, stop and go on: synchronous workers, and workers that step alone."""

import math
import re
import signal

import pytest
import tensorflow as tf

from model.checkpoints import trained
from tests.cluster.conftest import MULTI_WORKER, PARAMETER_SERVER

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

LONG = {"trainer__train_steps": 1_000_000}


def last_validation(said):
    return re.findall(r"validation: .*", said)[-1]  # perhaps behind the bar


def test_two_workers_train_one_model(launch, run_folder, saved, logged):
    cluster = launch(
        MULTI_WORKER, experiment="reddit_teacher", mode="train_and_eval", trainer__average_decay=0.5
    )
    assert cluster.wait() == 0, cluster.log()
    assert cluster.wait("worker", 1) == 0
    assert 0 < logged("teacher_share")[40] < 1
    assert logged("teacher_cosine")[40] > 0
    # Each worker validates, with weights of its own.
    assert last_validation(cluster.log("worker", 1)) == last_validation(cluster.log())
    assert saved() == [20, 40]
    assert "Traceback" not in cluster.log() + cluster.log("worker", 1)
    # Only one of them writes events.
    for folder in (run_folder / "train", run_folder / "validation"):
        assert len(list(folder.glob("events.*"))) == 1
    for folder in (run_folder, run_folder / "best"):
        model, text = trained.load(folder)
        assert model.encode_inputs(text(tf.constant(["question1"]))).shape == (1, 12)


def test_too_few_files_and_negatives_of_all_workers(launch, pairs_folder, logged):
    """With all scores near 0 the loss is the logarithm of how many responses there are: 32."""
    (file,) = pairs_folder.glob("train-00000-*")
    cluster = launch(MULTI_WORKER, task__train_data__input_path=file)
    assert [cluster.wait(), cluster.wait("worker", 1)] == [1, 1]
    assert str(file) in cluster.error()
    assert cluster.error() == cluster.error("worker", 1)
    cluster = launch(
        MULTI_WORKER,
        task__model__score_scale=1e-3,
        task__objective__negatives_across_replicas=True,
        trainer__train_steps=10,
    )
    assert cluster.wait() == 0, cluster.log()
    assert logged("training_loss")[10] == pytest.approx(math.log(32), abs=0.01)


def test_a_killed_worker_ends_the_job_and_one_that_is_stopped_stops_all(launch, run_folder, saved):
    cluster = launch(MULTI_WORKER, **LONG)
    cluster.wait_for(saved, "a checkpoint")
    cluster.send(signal.SIGKILL, "worker", 1)
    assert cluster.wait() == 1, cluster.log()
    assert "worker 1 does not answer" in cluster.error()
    step = saved()[-1]
    assert f"{run_folder}/ckpt-{step}" in cluster.error()
    # Loops that end between two steps at which the workers agree.
    loops = {"trainer__steps_per_loop": 15}
    cluster = launch(MULTI_WORKER, **loops, **LONG)
    cluster.wait_for(lambda: saved()[-1] > step, "another checkpoint")
    cluster.send(signal.SIGTERM, "worker", 1)
    assert [cluster.wait(), cluster.wait("worker", 1)] == [143, 143], cluster.log()
    step = saved()[-1]
    assert step % 10 == 0
    for worker in (0, 1):
        assert f"stopped by SIGTERM at step {step}, which is saved" in cluster.log("worker", worker)
    cluster = launch(MULTI_WORKER, trainer__train_steps=step + 10)
    assert cluster.wait() == 0, cluster.log()
    assert f"trained from step {step} to {step + 10} " in cluster.log()


def test_each_task_has_a_worker_and_a_run_goes_on(launch, saved, logged):
    asked = {"workers": 3, "experiment": "reddit_nli_teacher"}
    cluster = launch(PARAMETER_SERVER, mode="train_and_eval", **asked)
    assert cluster.wait() == 0, cluster.log()
    assert max(logged("training_loss")) == 40
    for task in ("nli", "teacher"):
        assert 0 < max(logged(f"{task}_share").values()) < 1
    cosines = logged("teacher_cosine")
    assert cosines[max(cosines)] > cosines[min(cosines)]
    assert "nli_accuracy" in cluster.log()
    assert "Traceback" not in cluster.log()
    assert saved() == [20, 40]
    again = launch(PARAMETER_SERVER, trainer__train_steps=70, **asked)
    assert again.wait() == 0, again.log()
    assert "trained from step 40 to 70 " in again.log()
    assert saved()[-1] == 70


def test_a_dead_worker_is_replaced_and_a_dead_server_ends_the_job(launch, run_folder, saved):
    cluster = launch(PARAMETER_SERVER, **LONG)
    cluster.wait_for(saved, "a checkpoint")
    cluster.send(signal.SIGKILL, "worker", 1)
    cluster.wait_for(lambda: "worker 1 is not responding" in cluster.log(), "the loss of a worker")
    cluster.wait("worker", 1)
    cluster.start("worker", 1)
    cluster.wait_for(lambda: cluster.log("worker", 1).count("serves") == 2, "its return")
    step = saved()[-1]
    cluster.wait_for(lambda: saved()[-1] > step, "a checkpoint after that")
    cluster.send(signal.SIGKILL, "ps")
    assert cluster.wait() == 1, cluster.log()
    assert "ps 0 does not answer" in cluster.error()
    step = saved()[-1]
    assert f"{run_folder}/ckpt-{step}" in cluster.error()
    loops = {"trainer__steps_per_loop": 100_000}
    again = launch(PARAMETER_SERVER, **LONG, **loops)
    again.wait_for(lambda: "training:" in again.log(), "the first loop")
    again.send(signal.SIGTERM)
    assert again.wait() == 143, again.log()
    assert saved()[-1] >= step
    assert f"stopped by SIGTERM at step {saved()[-1]}, which is saved" in again.log()
