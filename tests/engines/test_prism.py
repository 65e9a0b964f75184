"""The job on Prism, an engine of its own, with workers that have this project's wheel.

Prism is Beam's engine in Go: another process, another language, the same protocol that Flink's
and Spark's job servers speak. What runs here is all that those need of this project.
"""

import json

import pytest
from apache_beam.coders import VarIntCoder
from apache_beam.portability.api import beam_job_api_pb2, beam_job_api_pb2_grpc
from grpc import insecure_channel

from tests.engines import fetch, processes

pytestmark = [pytest.mark.slow, pytest.mark.prism]


@pytest.fixture
def prism(need, tmp_path):
    """The address of a running Prism's job service."""
    need("Prism")
    job_port, page_port = processes.free_ports(2)
    group = processes.start(
        *(fetch.PRISM, f"-job_port={job_port}", f"-web_port={page_port}"),
        log=tmp_path / "prism.log",
        folder=tmp_path,
    )
    processes.wait_until(lambda: processes.listens(job_port), seconds=30, what="Prism")
    yield f"localhost:{job_port}"
    processes.stop(group)


def options(prism, pool):
    return (
        *("--runner=PortableRunner", f"--job_endpoint={prism}"),
        *("--environment_type=EXTERNAL", f"--environment_config={pool}"),
    )


def counters_of_the_last_job(prism):
    """Name -> value, as the engine tells it of itself."""
    with insecure_channel(prism) as channel:
        service = beam_job_api_pb2_grpc.JobServiceStub(channel)
        *_, job = service.GetJobs(beam_job_api_pb2.GetJobsRequest()).job_info
        request = beam_job_api_pb2.GetJobMetricsRequest(job_id=job.job_id)
        metrics = service.GetJobMetrics(request).metrics.committed
    counters = {}
    for metric in metrics:
        if metric.urn == "beam:metric:user:sum_int64:v1":
            assert metric.labels["NAMESPACE"] == "pairs"
            counters[metric.labels["NAME"]] = VarIntCoder().decode(metric.payload)
    return counters


def test_the_same_files_and_the_counters_in_the_engines_metrics(
    prism, run_job, worker_pool, installed, tmp_path, contents, expected
):
    pool, _ = worker_pool(installed)
    output = tmp_path / "out"
    status, said = run_job(output, *options(prism, pool))
    assert status == 0, said
    assert contents(output) == expected
    statistics = json.loads(expected["statistics.json"])
    counters = counters_of_the_last_job(prism)
    for name in ("lines", "malformed", "duplicates", "comments", "kept", "pairs", "train_pairs"):
        assert counters[name] == statistics[name], name


def test_a_killed_worker_leaves_nothing_that_looks_finished(
    prism, start_job, run_job, worker_pool, installed, tmp_path, contents, expected
):
    pool, group = worker_pool(installed)
    output = tmp_path / "out"
    job = start_job(output, *options(prism, pool))
    processes.wait_until(lambda: list(output.glob("_incomplete/*")), seconds=60, what="a file")
    processes.kill(group)
    said, _ = job.communicate(timeout=60)
    assert job.returncode == 1, said
    assert said.splitlines()[-1].startswith("error: the job stopped: "), said
    assert not (output / "COMPLETED").exists()
    # Prism does not try again, and may wait for the lost worker for ever: run anew elsewhere.
    status, said = run_job(output)
    assert status == 0, said
    assert contents(output) == expected
