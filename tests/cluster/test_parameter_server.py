"""Workers that step each for itself, parameter servers, and a chief that hands out the steps."""

import signal

import psutil
import pytest

from tests.cluster.conftest import PARAMETER_SERVER, WORD_START, kill
from tests.engines.processes import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.cluster]

RESPONSES, NLI = "of response_selection", "of nli"
LONG = {"trainer__train_steps": 1_000_000}


def count(fact, launched, name):
    """The last number of a fact, such as the last step of "0 to 1,500"."""
    return int(fact(launched, name)[-1])


def test_a_share_of_the_workers_trains_nli(launch, saved, fact):
    asked = {"workers": 3, "experiment": "reddit_nli", **WORD_START}
    launched = launch(PARAMETER_SERVER, mode="train_and_eval", **asked)
    assert launched.wait() == 0, launched.said
    assert fact(launched, "steps") == ["0", "to", "40"]
    assert 0 < float(fact(launched, "nli_share")[0]) < 1
    responses, nli = (count(fact, launched, name) for name in (RESPONSES, NLI))
    assert responses + nli == 40
    assert nli > 0
    assert "nli_accuracy" in launched.said
    assert "Traceback" not in launched.said
    assert saved() == [20, 40]
    again = launch(PARAMETER_SERVER, trainer__train_steps=70, **asked)
    assert again.wait() == 0, again.said
    assert fact(again, "steps") == ["40", "to", "70"]
    more_responses, more_nli = (count(fact, again, name) for name in (RESPONSES, NLI))
    assert more_responses + more_nli == 70
    assert more_responses >= responses
    assert more_nli >= nli


def test_each_further_task_has_a_worker(launch, fact):
    launched = launch(PARAMETER_SERVER, workers=3, experiment="reddit_nli_teacher")
    assert launched.wait() == 0, launched.said
    steps = [count(fact, launched, name) for name in (RESPONSES, NLI, "of teacher")]
    assert sum(steps) == 40
    assert min(steps) > 0
    assert 0 < float(fact(launched, "teacher_share")[0]) < 1
    assert float(fact(launched, "teacher_cosine")[0]) > 0


def test_a_worker_that_dies_is_replaced(launch, saved):
    launched = launch(PARAMETER_SERVER, trainer__train_steps=1_000_000)
    launched.wait_for(saved, "a checkpoint")
    kill(launched.member("worker", 1))
    lost, back = "worker 1 is not responding; the others take over its steps", "worker 1 serves"
    launched.wait_for(lambda: lost in launched.said, "the loss of a worker")
    launched.wait_for(lambda: launched.log("worker", 1).count(back) == 2, "its return")
    step = saved()[-1]
    launched.wait_for(lambda: saved()[-1] > step, "a checkpoint after that")
    launched.process.send_signal(signal.SIGTERM)
    assert launched.wait() == 128 + signal.SIGTERM, launched.said
    assert "worker 1 died; restarting it" in launched.said
    assert launched.errors == []


def test_a_dead_parameter_server_ends_the_job_which_can_go_on(launch, run_folder, saved, fact):
    launched = launch(PARAMETER_SERVER, **LONG)
    launched.wait_for(saved, "a checkpoint")
    kill(launched.member("ps", 0))
    assert launched.wait() == 1, launched.said
    (error,) = launched.errors
    step = saved()[-1]
    assert f"The last checkpoint is {run_folder}/ckpt-{step}; the same command goes on" in error
    assert error.startswith("error: ps 0 does not answer (")
    assert "ps 0 ended with 137" in launched.said
    assert "Traceback" not in launched.said
    again = launch(PARAMETER_SERVER, trainer__train_steps=step + 10)
    assert again.wait() == 0, again.said
    assert fact(again, "steps") == [str(step), "to", str(step + 10)]


def test_told_to_stop_the_chief_saves(launch, saved):
    long = ("train_steps", "steps_per_loop", "summary_interval")
    launched = launch(PARAMETER_SERVER, **{f"trainer__{name}": 10_000 for name in long})
    launched.wait_for(lambda: "training:" in launched.shown, "the first step")
    launched.process.send_signal(signal.SIGTERM)
    assert launched.wait() == 128 + signal.SIGTERM, launched.said
    (step,) = saved()
    assert 0 <= step < 10_000
    assert f"stopped by SIGTERM at step {step}, which is saved" in launched.said
    assert launched.errors == []


def test_without_its_launcher_nothing_of_a_cluster_stays(launch):
    launched = launch(PARAMETER_SERVER, workers=1)
    launched.wait_for(lambda: len(launched.family()) == 3, "three processes")
    family = launched.family()
    kill(launched.process)
    wait_until(lambda: not any(map(psutil.Process.is_running, family)), seconds=10, what="the end")
