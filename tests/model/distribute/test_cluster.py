"""What each process of a cluster does, and what a cluster must have."""

import json
import signal

import pytest
import tensorflow as tf
from official.core import config_definitions

from model.distribute import cluster
from model.errors import InputError
from model.training.async_trainer import tasks_of_workers


@pytest.fixture
def cluster_of(monkeypatch):
    """Sets TF_CONFIG: the jobs, and the part of this process."""

    def set_config(job, **jobs):
        addresses = {name: [f"{name}{i}:1" for i in range(count)] for name, count in jobs.items()}
        config = {"cluster": addresses, "task": {"type": job, "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))

    return set_config


RUNTIME = config_definitions.RuntimeConfig(distribution_strategy=cluster.PARAMETER_SERVER)


@pytest.mark.parametrize(
    ("workers", "share", "on_nli"),
    [(20, 0.05, 1), (2, 0.05, 1), (4, 0.5, 2), (3, 0.3, 1), (100, 0.05, 5), (2, 1.0, 1)],
)
def test_a_share_of_the_workers_but_one_at_least_has_the_second_task(workers, share, on_nli):
    tasks = tasks_of_workers(workers, [share])
    assert len(tasks) == workers
    assert sum(tasks) == on_nli


@pytest.mark.parametrize(
    ("workers", "shares", "of_each"),
    [
        (3, [0.05, 0.5], [1, 1, 1]),
        (10, [0.3, 0.4], [3, 3, 4]),
        (4, [0.3, 0.6], [1, 1, 2]),
        (5, [0.5, 0.4], [1, 2, 2]),
    ],
)
def test_three_tasks_have_a_worker_each_at_least(workers, shares, of_each):
    tasks = tasks_of_workers(workers, shares)
    assert tasks == sorted(tasks)
    assert [tasks.count(task) for task in range(3)] == of_each


def test_one_task_has_all_workers():
    assert tasks_of_workers(1, []) == [0]


def test_two_tasks_need_two_workers():
    with pytest.raises(InputError, match="2 tasks need 2 workers at least; TF_CONFIG names 1"):
        tasks_of_workers(1, [0.05])


@pytest.mark.parametrize(
    ("job", "serves"), [("chief", False), ("worker", True), ("ps", True), ("evaluator", False)]
)
def test_only_workers_and_parameter_servers_serve(cluster_of, job, serves):
    cluster_of(job, chief=1, worker=2, ps=1)
    assert cluster.serves(RUNTIME) is serves
    assert not cluster.serves(config_definitions.RuntimeConfig(distribution_strategy="mirrored"))


@pytest.mark.parametrize(
    ("jobs", "missing"),
    [
        ({"chief": 1, "worker": 2}, "ps missing"),
        ({"worker": 2}, "chief, ps missing"),
        ({}, "chief, ps, worker missing"),
    ],
)
def test_a_cluster_of_parameter_servers_has_chief_worker_and_ps(cluster_of, jobs, missing):
    cluster_of("chief", **jobs)
    with pytest.raises(InputError, match=f"names chief, worker and ps; {missing}"):
        cluster.require_whole(RUNTIME)


@pytest.mark.parametrize("strategy", ["one_device", "mirrored"])
def test_a_cluster_whose_processes_would_train_alone_is_refused(cluster_of, strategy):
    runtime = config_definitions.RuntimeConfig(distribution_strategy=strategy)
    cluster_of("worker", worker=2)
    with pytest.raises(
        InputError, match=f"'{strategy}' trains on one machine, and TF_CONFIG names"
    ):
        cluster.require_whole(runtime)
    for alone in (("worker", {"worker": 1}), ("evaluator", {"worker": 2})):
        cluster_of(alone[0], **alone[1])
        cluster.require_whole(runtime)


def test_several_workers_that_are_one_are_told_of(cluster_of, capsys):
    runtime = config_definitions.RuntimeConfig(distribution_strategy="multi_worker_mirrored")
    cluster_of("worker", worker=2)
    cluster.require_whole(runtime)
    assert capsys.readouterr().out == ""
    cluster_of("worker", worker=1)
    cluster.require_whole(runtime)
    assert (
        "multi_worker_mirrored without a TF_CONFIG of several processes" in capsys.readouterr().out
    )


def test_parameter_servers_have_no_evaluator(cluster_of):
    cluster_of("evaluator", chief=1, worker=1, ps=1)
    with pytest.raises(InputError, match="TF_CONFIG: parameter servers have no evaluator; accep"):
        cluster.require_whole(RUNTIME)


def test_a_server_without_a_place_is_told_in_a_line(monkeypatch, cluster_of):
    def refuse(*_, **__):
        raise tf.errors.InternalError(None, None, 'Task 3 was not defined in job "ps"')

    cluster_of("ps", chief=1, worker=1, ps=1)
    monkeypatch.setattr(tf.distribute, "Server", refuse)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(InputError, match="TF_CONFIG: ps 0 cannot serve: Task 3 was not defined"):
        cluster.serve(RUNTIME)


def test_a_whole_cluster_is_accepted(cluster_of):
    cluster_of("chief", chief=1, worker=1, ps=1)
    cluster.require_whole(RUNTIME)


@pytest.mark.parametrize("config", ["{", '{"cluster": {"worker": 3}}', '{"task": 3}'])
def test_a_tf_config_that_is_none_is_refused(monkeypatch, config):
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(InputError, match="TF_CONFIG describes no cluster: "):
        cluster.serves(RUNTIME)


def test_the_process_that_an_error_names():
    message = "Graph execution error:\n\n from remote target /job:ps/replica:0/task:3/device:CPU:0"
    assert cluster.named_in(message) == "ps 3"
    assert cluster.named_in("reported from /job:worker/task:1: unhealthy") == "worker 1"
    assert cluster.named_in("disk full") is None


def test_an_error_names_a_peer_and_not_the_process_itself(cluster_of):
    cluster_of("chief", chief=1, worker=1, ps=1)
    itself = "/job:chief/replica:0/task:0/device:CPU:0"
    assert cluster.named_in(f"from {itself}: /job:ps/replica:0/task:0 is gone") == "ps 0"
    assert cluster.named_in(f"from {itself}: cancelled") is None


@pytest.mark.parametrize("strategy", ["one_device", "mirrored", "multi_worker_mirrored"])
def test_more_gpus_than_the_machine_has_are_refused(monkeypatch, strategy):
    monkeypatch.setattr(cluster.tf.config, "list_physical_devices", lambda kind: [kind])
    runtime = config_definitions.RuntimeConfig(distribution_strategy=strategy, num_gpus=2)
    with pytest.raises(
        InputError, match=r"runtime\.num_gpus: 2; accepted: at most the GPUs .* finds .*\(1\); 0 "
    ):
        cluster.strategy(runtime)


@pytest.fixture
def visible(monkeypatch):
    """The GPUs that TensorFlow sees, of a machine that has three."""
    shown = []
    config = cluster.tf.config
    monkeypatch.setattr(config, "list_physical_devices", lambda _: ["a", "b", "c"])
    monkeypatch.setattr(config, "set_visible_devices", lambda *given: shown.append(given))
    return shown


@pytest.mark.parametrize("strategy", ["one_device", "multi_worker_mirrored"])
@pytest.mark.parametrize("gpus", [0, 1, 3])
def test_tensorflow_sees_no_more_gpus_than_asked_for(monkeypatch, visible, strategy, gpus):
    monkeypatch.setattr(cluster.distribute_utils, "get_distribution_strategy", lambda **_: None)
    cluster.strategy(
        config_definitions.RuntimeConfig(distribution_strategy=strategy, num_gpus=gpus)
    )
    assert visible == [(["a", "b", "c"][:gpus], "GPU")]


def test_gpus_that_a_process_already_uses_cannot_be_hidden(monkeypatch, visible):
    def refuse(*_):
        raise RuntimeError("Visible devices cannot be modified after being initialized")

    monkeypatch.setattr(cluster.tf.config, "set_visible_devices", refuse)
    with pytest.raises(InputError, match=r"runtime\.num_gpus: 1; this process already uses"):
        cluster.strategy(config_definitions.RuntimeConfig(num_gpus=1))


def test_the_chief_of_parameter_servers_needs_no_gpu(monkeypatch, cluster_of):
    """Its workers have them."""
    cluster_of("chief", chief=1, worker=1, ps=1)
    monkeypatch.setattr(cluster.tf.config, "list_physical_devices", lambda _: [])
    made = []
    monkeypatch.setattr(
        cluster.distribute_utils, "get_distribution_strategy", lambda **given: made.append(given)
    )
    runtime = config_definitions.RuntimeConfig(distribution_strategy="parameter_server", num_gpus=1)
    cluster.strategy(runtime)
    assert made[0]["num_gpus"] == 1
