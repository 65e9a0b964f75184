"""The cluster that the Flink tests rest on: its parts find each other, and it outlives a loss."""

import subprocess
from pathlib import Path

import pytest

from tests.engines import fetch, processes
from tests.engines.flink_cluster import JAVA_OPTIONS, TASK_MANAGERS, FlinkCluster

pytestmark = [pytest.mark.slow, pytest.mark.flink]

SUMS = Path(__file__).with_name("Sums.java")


@pytest.fixture
def cluster(need, tmp_path):
    """A cluster, whose Python workers nobody asks for."""
    need("Flink")
    with FlinkCluster(tmp_path / "cluster") as running:
        yield running


def test_a_job_of_flinks_own_survives_a_killed_task_manager(cluster, tmp_path):
    output = tmp_path / "sums"
    job = subprocess.Popen(
        [
            *("java", "-Xmx400m", *JAVA_OPTIONS, "-cp", f"{fetch.FLINK / 'lib'}/*"),
            *(str(SUMS), cluster.rest.rpartition(":")[2], str(output)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        processes.wait_until(cluster.records_read, seconds=60, what="the job reads")
        assert cluster.registered() == TASK_MANAGERS
        processes.kill(cluster.busy_task_manager())
        processes.wait_until(
            lambda: cluster.registered() == TASK_MANAGERS - 1, seconds=20, what="the loss is seen"
        )
        said, _ = job.communicate(timeout=90)
    finally:
        job.kill()
        job.communicate()
    assert job.returncode == 0, said
    assert cluster.failures()
    rows = "".join(part.read_text() for part in output.iterdir() if part.name[0] not in "._")
    # Of 1 to 1,000,000: 250,000 numbers a remainder, in steps of 4 from 4, 1, 2 and 3.
    assert sorted(rows.split()) == [
        "0,125000500000,250000",
        "1,124999750000,250000",
        "2,125000000000,250000",
        "3,125000250000,250000",
    ]


def test_nothing_of_a_cluster_is_left(need, tmp_path):
    need("Flink")
    with FlinkCluster(tmp_path / "cluster") as cluster:
        groups = list(cluster.groups)
        assert len(groups) == 1 + TASK_MANAGERS
        assert all(map(processes.is_alive, groups))
    assert not any(map(processes.is_alive, groups))
