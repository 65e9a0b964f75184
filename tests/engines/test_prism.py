"""The job on Prism, an engine of its own, with workers that have this project's wheel.

Prism is Beam's engine in Go: another process, another language, the same protocol that Flink's
and Spark's job servers speak. What runs here is all that those need of this project.
"""

import sys

import pytest

from tests.engines import fetch, processes
from tests.engines.conftest import contents, need

pytestmark = pytest.mark.slow


def start_server(*command, port, folder, environment=None):
    """Starts a server; returns its process group once it listens."""
    folder.mkdir()
    group = processes.start(*command, log=folder / "log", folder=folder, environment=environment)
    processes.wait_until(lambda: processes.listens(port), seconds=30, what=str(command[0]))
    return group


@pytest.fixture
def worker_pool(tmp_path):
    """Starts a pool of Python workers that import from a folder; returns its address and group."""
    groups = []

    def start(code):
        (port,) = processes.free_ports(1)
        command = (sys.executable, "-m", "apache_beam.runners.worker.worker_pool_main")
        group = start_server(
            *(*command, f"--service_port={port}"),
            port=port,
            folder=tmp_path / f"pool-{port}",  # must not be one to import from
            environment=processes.worker_environment(code),
        )
        groups.append(group)
        return f"localhost:{port}", group

    yield start
    processes.stop(*groups)


@pytest.mark.prism
def test_the_same_files_and_nothing_that_looks_finished_without_workers(
    start_job, run_job, worker_pool, installed, tmp_path, expected
):
    need("Prism")
    port, page_port = processes.free_ports(2)
    ports = (f"-job_port={port}", f"-web_port={page_port}")
    server = start_server(fetch.PRISM, *ports, port=port, folder=tmp_path / "prism")
    try:
        pool, group = worker_pool(installed)
        options = (
            *("--runner=PortableRunner", f"--job_endpoint=localhost:{port}"),
            *("--environment_type=EXTERNAL", f"--environment_config={pool}"),
        )
        output = tmp_path / "out"
        status, said = run_job(output, *options)
        assert status == 0, said
        assert contents(output) == expected

        lost = tmp_path / "lost"
        job = start_job(lost, *options)
        processes.wait_until(lambda: list(lost.glob("_incomplete/*")), seconds=60, what="a file")
        processes.kill(group)
        said, _ = job.communicate(timeout=60)
        assert job.returncode == 1, said
        assert said.splitlines()[-1].startswith("error: "), said
        assert not (lost / "COMPLETED").exists()
    finally:
        processes.stop(server)
    # Prism does not try again. On the local runner, every bundle is done three times over.
    status, said = run_job(lost, "--direct_runner_bundle_repeat=2")
    assert status == 0, said
    assert contents(lost) == expected


def test_workers_without_the_project_end_the_job_in_one_error(run_job, worker_pool, tmp_path):
    (tmp_path / "empty").mkdir()
    address, _ = worker_pool(tmp_path / "empty")
    output = tmp_path / "out"
    # Beam's own job service, in the command: all of the portable way but the engine.
    status, said = run_job(
        output,
        *("--runner=PortableRunner", "--job_endpoint=embed"),
        *("--environment_type=EXTERNAL", f"--environment_config={address}"),
    )
    assert status == 1
    assert "Traceback" not in said
    assert "ModuleNotFoundError" in said.splitlines()[-1]
    assert not (output / "COMPLETED").exists()
