"""Workers that step each for itself, parameter servers, and a chief that hands out the steps."""

import signal

import pytest

from tests.cluster.conftest import KILL, PARAMETER_SERVER

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

LONG = {"trainer__train_steps": 1_000_000}


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
    cluster.send(KILL, "worker", 1)
    cluster.wait_for(lambda: "worker 1 is not responding" in cluster.log(), "the loss of a worker")
    cluster.wait("worker", 1)
    cluster.start("worker", 1)
    cluster.wait_for(lambda: cluster.log("worker", 1).count("serves") == 2, "its return")
    step = saved()[-1]
    cluster.wait_for(lambda: saved()[-1] > step, "a checkpoint after that")
    cluster.send(KILL, "ps")
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
