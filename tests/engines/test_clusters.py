"""The job on a real Flink and Spark writes what the local runner writes, whatever is killed."""

import os
import signal

import pytest

from tests.engines import processes
from tests.engines.clusters import WORKERS, FlinkCluster, SparkCluster
from tests.engines.conftest import contents, need, wait_for_stage

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(installed, tmp_path_factory):
    """A standalone cluster whose workers have this project's wheel."""
    need("Flink", "Beam's job server for Flink")
    with FlinkCluster(tmp_path_factory.mktemp("cluster"), code=installed) as running:
        yield running


@pytest.mark.flink
def test_the_job_manager_killed_ends_the_command_in_one_line_and_the_next_run_completes(
    cluster, start_job, run_job, tmp_path, expected
):
    output = tmp_path / "out"
    # By default the command asks for 20 times 3 seconds whether the JobManager is back.
    (tmp_path / "config.yaml").write_text("rest.retry.max-attempts: 3\nrest.retry.delay: 1000\n")
    job = start_job(output, *cluster.options, f"--flink_conf_dir={tmp_path}")
    wait_for_stage(output, "read")
    processes.kill(cluster.groups[cluster.master])
    said, _ = job.communicate(timeout=120)
    assert job.returncode == 1, said
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("error: "), said
    assert not (output / "COMPLETED").exists()
    cluster.repair()
    status, said = run_job(output, *cluster.options)
    assert status == 0, said
    assert contents(output) == expected


@pytest.mark.flink
def test_a_python_worker_and_a_task_manager_killed_change_nothing(
    cluster, start_job, tmp_path, expected
):
    output = tmp_path / "out"
    job = start_job(output, *cluster.options)
    wait_for_stage(output, "read")
    os.kill(processes.python_workers(*cluster.workers())[0], signal.SIGKILL)
    wait_for_stage(output, "join")
    processes.kill(cluster.busy_worker())
    said, _ = job.communicate(timeout=180)
    assert job.returncode == 0, said
    assert cluster.alive() == WORKERS - 1
    assert len(cluster.about_last_job("exceptions")["exceptionHistory"]["entries"]) >= 2
    assert contents(output) == expected


@pytest.mark.spark
def test_a_worker_of_spark_killed_changes_nothing(
    start_job, installed, tmp_path, expected, monkeypatch
):
    need("Spark", "Beam's job server for Spark")
    output = tmp_path / "out"
    with SparkCluster(tmp_path / "cluster", code=installed) as cluster:
        for name, value in cluster.environment.items():
            monkeypatch.setenv(name, value)
        job = start_job(output, *cluster.options)
        wait_for_stage(output, "join")
        processes.kill(cluster.busy_worker())
        said, _ = job.communicate(timeout=180)
        assert job.returncode == 0, said
        assert contents(output) == expected
        processes.wait_until(
            lambda: cluster.alive() == WORKERS - 1, seconds=60, what="the loss is seen"
        )
