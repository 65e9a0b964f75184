"""The job on a real Flink: what it writes is what the local runner writes."""

import json

import pytest

from tests.engines import fetch, processes
from tests.engines.flink_cluster import TASK_MANAGERS, FlinkCluster

pytestmark = [pytest.mark.slow, pytest.mark.flink]


@pytest.fixture
def flink(need):
    """The options that every run on Flink has."""
    need("Flink", "Beam's job server for Flink")
    return (
        *("--runner=FlinkRunner", f"--flink_version={fetch.FLINK_SERIES}"),
        *(f"--flink_job_server_jar={fetch.JOB_SERVER}", f"--parallelism={TASK_MANAGERS}"),
    )


@pytest.fixture
def cluster(flink, installed, tmp_path):
    """A standalone cluster whose workers have this project's wheel."""
    with FlinkCluster(tmp_path / "cluster", worker_code=installed) as running:
        yield running


@pytest.fixture
def on_cluster(flink, cluster):
    """The options of a run on the cluster."""
    return (
        *(*flink, f"--flink_master={cluster.rest.removeprefix('http://')}"),
        *("--environment_type=EXTERNAL", f"--environment_config={cluster.pool}"),
    )


def test_embedded_flink_writes_the_same_files(flink, run_job, tmp_path, contents, expected):
    output = tmp_path / "out"
    status, said = run_job(output, *flink, "--flink_master=[local]")
    assert status == 0, said
    assert contents(output) == expected


def test_a_cluster_writes_the_same_files_and_shows_the_counters(
    cluster, on_cluster, run_job, tmp_path, contents, expected
):
    output = tmp_path / "out"
    status, said = run_job(output, *on_cluster)
    assert status == 0, said
    assert contents(output) == expected
    statistics = json.loads(expected["statistics.json"])
    shown = " ".join(accumulator["value"] for accumulator in cluster.accumulators())
    for name in ("lines", "pairs"):
        assert name in shown
        assert str(statistics[name]) in shown


def test_a_task_manager_killed_mid_job_changes_nothing(
    cluster, on_cluster, start_job, tmp_path, contents, expected
):
    output = tmp_path / "out"
    job = start_job(output, *on_cluster)
    processes.wait_until(cluster.records_read, seconds=90, what="the job reads")
    processes.kill(cluster.busy_task_manager())
    said, _ = job.communicate(timeout=180)
    assert job.returncode == 0, said
    assert cluster.registered() == TASK_MANAGERS - 1
    assert cluster.failures()
    assert contents(output) == expected
