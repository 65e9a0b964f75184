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


@pytest.fixture(scope="module")
def only_cluster(spark, installed, tmp_path_factory):
    """A standalone cluster whose workers have this project's wheel."""
    with SparkCluster(tmp_path_factory.mktemp("cluster"), code=installed) as running:
        yield running


@pytest.fixture
def cluster(only_cluster, monkeypatch):
    """The cluster with all of its workers, whatever an earlier test killed."""
    only_cluster.repair()
    for name, value in only_cluster.environment.items():
        monkeypatch.setenv(name, value)
    return only_cluster


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


def test_a_python_worker_killed_changes_nothing_or_the_next_run_completes(
    cluster, start_job, run_job, wait_for_stage, tmp_path, contents, expected
):
    output = tmp_path / "out"
    job = start_job(output, *cluster.options)
    wait_for_stage(output, "read")
    os.kill(cluster.python_workers()[0], signal.SIGKILL)
    said, _ = job.communicate(timeout=180)
    # Spark tries again at once, and may get the dead worker each time.
    assert "Traceback" not in said
    if job.returncode:
        assert said.splitlines()[-1].startswith("error: the job stopped: "), said
        assert not (output / "COMPLETED").exists()
        job_again, said = run_job(output, *cluster.options)
        assert job_again == 0, said
    assert contents(output) == expected
