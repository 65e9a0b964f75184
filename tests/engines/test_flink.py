"""The job on a real Flink: what it writes is what the local runner writes, whatever is killed."""

import json
import os
import re
import signal

import pytest

from tests.engines import counters, fetch, processes
from tests.engines.flink_cluster import TASK_MANAGERS, FlinkCluster

pytestmark = [pytest.mark.slow, pytest.mark.flink]


@pytest.fixture(scope="module")
def flink(need):
    """Skips where Flink or the job server is missing."""
    need("Flink", "Beam's job server for Flink")


@pytest.fixture(scope="module")
def only_cluster(flink, installed, tmp_path_factory):
    """A standalone cluster whose workers have this project's wheel."""
    with FlinkCluster(tmp_path_factory.mktemp("cluster"), code=installed) as running:
        yield running


@pytest.fixture
def cluster(only_cluster):
    """The cluster with all of its parts, whatever an earlier test killed."""
    only_cluster.repair()
    return only_cluster


def test_embedded_flink_writes_the_same_files(flink, run_job, tmp_path, contents, expected):
    output = tmp_path / "out"
    status, said = run_job(
        output,
        *("--runner=FlinkRunner", f"--flink_version={fetch.FLINK_SERIES}", "--parallelism=2"),
        *(f"--flink_job_server_jar={fetch.FLINK_JOB_SERVER}", "--flink_master=[local]"),
    )
    assert status == 0, said
    assert contents(output) == expected


def test_a_cluster_writes_the_same_files_and_shows_the_counters(
    cluster, run_job, tmp_path, contents, expected
):
    output = tmp_path / "out"
    status, said = run_job(output, *cluster.options)
    assert status == 0, said
    assert contents(output) == expected
    assert not cluster.failures()
    statistics = json.loads(expected["statistics.json"])
    shown = counters.of_flink(cluster.accumulators())
    for name in ("lines", "malformed", "duplicates", "comments", "kept", "pairs", "train_pairs"):
        assert shown[name] == statistics[name], name
        assert re.search(rf"^{name} +{statistics[name]:,}$", said, re.MULTILINE), name


@pytest.mark.parametrize("stage", ["read", "join"])
def test_a_task_manager_killed_changes_nothing(
    cluster, start_job, wait_for_stage, tmp_path, contents, expected, stage
):
    output = tmp_path / "out"
    job = start_job(output, *cluster.options)
    wait_for_stage(output, stage)
    processes.kill(cluster.busy_task_manager())
    said, _ = job.communicate(timeout=180)
    assert job.returncode == 0, said
    assert cluster.registered() == TASK_MANAGERS - 1
    assert cluster.failures()
    assert contents(output) == expected


def test_a_python_worker_killed_changes_nothing(
    cluster, start_job, wait_for_stage, tmp_path, contents, expected
):
    output = tmp_path / "out"
    job = start_job(output, *cluster.options)
    wait_for_stage(output, "read")
    worker = processes.python_workers(cluster.busy_task_manager())[0]
    os.kill(worker, signal.SIGKILL)
    said, _ = job.communicate(timeout=180)
    assert job.returncode == 0, said
    assert cluster.registered() == TASK_MANAGERS
    assert cluster.failures()
    assert contents(output) == expected


def test_the_job_manager_killed_ends_the_command_in_one_line_and_the_next_run_completes(
    cluster, start_job, run_job, wait_for_stage, tmp_path, contents, expected
):
    output = tmp_path / "out"
    # By default the command asks for 20 times 3 seconds whether the JobManager is back.
    (tmp_path / "config.yaml").write_text("rest.retry.max-attempts: 3\nrest.retry.delay: 1000\n")
    job = start_job(output, *cluster.options, f"--flink_conf_dir={tmp_path}")
    wait_for_stage(output, "read")
    processes.kill(cluster.job_manager)
    said, _ = job.communicate(timeout=120)
    assert job.returncode == 1, said
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("error: the job stopped: "), said
    assert not (output / "COMPLETED").exists()
    cluster.repair()
    status, said = run_job(output, *cluster.options)
    assert status == 0, said
    assert contents(output) == expected
