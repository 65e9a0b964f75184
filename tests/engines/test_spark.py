"""The job on a real Spark: what it writes is what the local runner writes, whatever is killed."""

import os
import signal

import pytest

from tests.engines import fetch, processes
from tests.engines.spark_cluster import WORKERS, SparkCluster

pytestmark = [pytest.mark.slow, pytest.mark.spark]


@pytest.fixture(scope="module")
def spark(need):
    """Skips where Spark or the job server is missing."""
    need("Spark", "Beam's job server for Spark")


@pytest.fixture
def cluster(spark, installed, tmp_path, monkeypatch):
    """A standalone cluster whose workers have this project's wheel."""
    with SparkCluster(tmp_path / "cluster", code=installed) as running:
        for name, value in running.environment.items():
            monkeypatch.setenv(name, value)
        yield running


def test_embedded_spark_writes_the_same_files(spark, run_job, tmp_path, contents, expected):
    output = tmp_path / "out"
    status, said = run_job(
        output,
        *("--runner=SparkRunner", "--spark_version=3", "--environment_type=LOOPBACK"),
        *(f"--spark_job_server_jar={fetch.SPARK_JOB_SERVER}", "--spark_master_url=local[2]"),
    )
    assert status == 0, said
    assert contents(output) == expected


def test_a_cluster_writes_the_same_files(cluster, run_job, tmp_path, contents, expected):
    output = tmp_path / "out"
    status, said = run_job(output, *cluster.options)
    assert status == 0, said
    assert contents(output) == expected


@pytest.mark.parametrize("stage", ["read", "join"])
def test_a_worker_killed_changes_nothing(
    cluster, start_job, wait_for_stage, tmp_path, contents, expected, stage
):
    output = tmp_path / "out"
    job = start_job(output, *cluster.options)
    wait_for_stage(output, stage)
    processes.kill(cluster.busy_worker())
    said, _ = job.communicate(timeout=180)
    assert job.returncode == 0, said
    assert contents(output) == expected
    processes.wait_until(
        lambda: cluster.alive() == WORKERS - 1, seconds=60, what="the loss is seen"
    )


def test_a_python_worker_killed_ends_the_command_in_one_line_and_the_next_run_completes(
    cluster, start_job, run_job, wait_for_stage, tmp_path, contents, expected
):
    output = tmp_path / "out"
    job = start_job(output, *cluster.options)
    wait_for_stage(output, "read")
    os.kill(cluster.python_workers()[0], signal.SIGKILL)
    said, _ = job.communicate(timeout=180)
    assert job.returncode == 1, said
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("error: the job stopped: "), said
    status, said = run_job(output, *cluster.options)
    assert status == 0, said
    assert contents(output) == expected
