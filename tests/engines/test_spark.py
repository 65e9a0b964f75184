"""The job on a real Spark: what it writes is what the local runner writes, whatever is killed."""

import pytest

from tests.engines import processes
from tests.engines.clusters import WORKERS, SparkCluster

pytestmark = [pytest.mark.slow, pytest.mark.spark]


def test_a_worker_killed_changes_nothing(
    need, start_job, wait_for_stage, installed, tmp_path, contents, expected, monkeypatch
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
