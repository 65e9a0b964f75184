"""What each process of a cluster does, and what a cluster must have."""

import json
import signal

import pytest
import tensorflow as tf
from official.core import config_definitions

from common import command_line, processor
from common.errors import InputError
from model import cluster
from model.commands import TrainOptions
from model.training import command
from model.training.asynchronous import tasks_of_workers


@pytest.fixture
def cluster_of(monkeypatch):
    """Sets TF_CONFIG: the jobs, and the part of this process."""

    def set_config(job, **jobs):
        addresses = {name: [f"{name}{i}:1" for i in range(count)] for name, count in jobs.items()}
        config = {"cluster": addresses, "task": {"type": job, "index": 0}}
        monkeypatch.setenv("TF_CONFIG", json.dumps(config))

    return set_config


@pytest.fixture
def made(monkeypatch):
    """What the Model Garden is asked for, on a machine that has three GPUs, and those shown."""
    asked, shown = [], []
    config = cluster.tf.config
    monkeypatch.setattr(config, "list_physical_devices", lambda _: ["a", "b", "c"])
    monkeypatch.setattr(config, "set_visible_devices", lambda gpus, _: shown.append(gpus))
    monkeypatch.setattr(
        cluster.distribute_utils, "get_distribution_strategy", lambda **given: asked.append(given)
    )
    return asked, shown


def runtime(strategy="parameter_server", **changes):
    return config_definitions.RuntimeConfig(distribution_strategy=strategy, **changes)


@pytest.mark.parametrize(
    ("chosen", "flags", "gpus", "computes_in"),
    [
        ("auto", "avx512f avx512_bf16", 0, "bfloat16"),
        ("auto", "avx512_bf16", 1, None),
        ("auto", "avx512f", 0, None),
        ("bfloat16", "avx512f", 0, "bfloat16"),
        ("auto", None, 0, None),  # not Linux
        (None, "amx_bf16", 0, None),
    ],
)
def test_auto_is_bfloat16_where_the_processor_has_instructions_for_it(
    chosen, flags, gpus, computes_in, tmp_path, monkeypatch, capsys
):
    if flags:
        (tmp_path / "cpuinfo").write_text(f"flags\t\t: fpu {flags}\n")
    monkeypatch.setattr(processor, "_ABOUT", tmp_path / "cpuinfo")
    given = runtime("one_device", mixed_precision_dtype=chosen, num_gpus=gpus)
    assert cluster.layers_dtype(given) == computes_in
    assert ("auto" in capsys.readouterr().out) == (chosen == "auto")  # what it chose is said


@pytest.mark.parametrize(
    ("workers", "shares", "of_each"),
    [
        (1, [], [1]),
        (20, [0.05], [19, 1]),
        (2, [1.0], [1, 1]),
        (4, [0.5], [2, 2]),
        (10, [0.3, 0.4], [3, 3, 4]),
        (4, [0.3, 0.6], [1, 1, 2]),
    ],
)
def test_each_task_has_its_share_of_the_workers_but_one_at_least(workers, shares, of_each):
    tasks = tasks_of_workers(workers, shares)
    assert tasks == sorted(tasks)
    assert [tasks.count(task) for task in range(len(of_each))] == of_each


@pytest.mark.parametrize(
    ("job", "serves"), [("chief", False), ("worker", True), ("ps", True), ("evaluator", False)]
)
def test_only_workers_and_parameter_servers_serve(cluster_of, job, serves):
    cluster_of(job, chief=1, worker=2, ps=1)
    assert cluster.serves(runtime()) is serves
    assert not cluster.serves(runtime("mirrored"))


@pytest.mark.parametrize(
    ("strategy", "job", "jobs"),
    [
        ("parameter_server", "chief", {"chief": 1, "worker": 2}),
        ("parameter_server", "worker", {"worker": 2}),
        ("parameter_server", "chief", {}),
        ("parameter_server", "evaluator", {"chief": 1, "worker": 1, "ps": 1}),
        ("one_device", "worker", {"worker": 2}),
        ("mirrored", "worker", {"worker": 2}),
    ],
)
def test_a_cluster_that_does_not_fit_the_strategy_is_refused(made, cluster_of, strategy, job, jobs):
    cluster_of(job, **jobs)
    with pytest.raises(InputError, match=strategy):
        cluster.strategy(runtime(strategy))
    assert made == ([], [])


@pytest.mark.parametrize(
    ("strategy", "job", "jobs"),
    [
        ("parameter_server", "chief", {"chief": 1, "worker": 1, "ps": 1}),
        ("one_device", "worker", {"worker": 1}),
        ("multi_worker_mirrored", "worker", {"worker": 2}),
        ("multi_worker_mirrored", "worker", {"worker": 1}),
    ],
)
def test_as_many_gpus_are_shown_as_asked_for(made, cluster_of, capsys, strategy, job, jobs):
    cluster_of(job, **jobs)
    cluster.strategy(runtime(strategy, num_gpus=2))
    (asked,), shown = made
    assert asked["num_gpus"] == 2
    # The chief's workers have them.
    assert shown == [[] if strategy == "parameter_server" else ["a", "b"]]
    is_alone = strategy == "multi_worker_mirrored" and jobs == {"worker": 1}
    assert ("trains alone" in capsys.readouterr().out) == is_alone


def test_gpus_that_are_not_there_are_refused(made):
    with pytest.raises(InputError, match=r"runtime\.num_gpus: 4"):
        cluster.strategy(runtime("one_device", num_gpus=4))


@pytest.mark.parametrize("config", ["{", '{"cluster": {"worker": 3}}', '{"task": 3}'])
def test_a_tf_config_that_is_none_is_refused(monkeypatch, config):
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(InputError, match="TF_CONFIG"):
        cluster.serves(runtime())


def test_an_error_names_a_peer_and_not_the_process_itself_in_one_line(cluster_of):
    cluster_of("chief", chief=1, worker=1, ps=1)
    itself = "/job:chief/replica:0/task:0/device:CPU:0"
    gone = tf.errors.UnavailableError(None, None, f"from {itself}: /job:ps/replica:0/task:3 left")
    assert cluster.reason(gone).startswith("ps 3 does not answer")
    assert cluster.named_in(f"from {itself}: cancelled") is None
    for message, said in (
        ("Graph execution error:\n\nDetected at node x\n  File y\nno room", "no room"),
        ("2 root error(s) found.\n  (0) INTERNAL: bad\n  (1) INTERNAL: worse", "INTERNAL: bad"),
    ):
        error = tf.errors.InternalError(None, None, message)
        assert cluster.reason(error) == f"a step failed: InternalError: {said}"


def test_term_ends_a_process_that_waits_for_its_cluster(monkeypatch):
    handlers, before = [], signal.getsignal(signal.SIGTERM)

    def joins(**_):
        handlers.append(signal.getsignal(signal.SIGTERM))

    monkeypatch.setattr(cluster.distribute_utils, "get_distribution_strategy", joins)
    with command_line.errors_in_one_line():
        own = signal.getsignal(signal.SIGTERM)
        cluster.strategy(runtime("one_device", num_gpus=0))
        assert signal.getsignal(signal.SIGTERM) == own
    assert (handlers, signal.getsignal(signal.SIGTERM)) == ([signal.SIG_DFL], before)


@pytest.mark.parametrize(
    ("error", "status"),
    [(InputError("a: 1"), 1), (KeyboardInterrupt(), 130), (SystemExit(143), 143)],
)
def test_what_ends_a_process_of_a_cluster_does_not_wait_for_the_others(
    cluster_of, monkeypatch, error, status
):
    cluster_of("worker", worker=2)

    def ends(_):
        raise error

    def leave(status):
        raise ChildProcessError(status)

    monkeypatch.setattr(command, "_train", ends)
    monkeypatch.setattr(cluster, "leave", leave)
    options = TrainOptions(experiment="reddit", mode="eval", model_dir="run")
    with pytest.raises(ChildProcessError, match=str(status)):
        command.train(options)
