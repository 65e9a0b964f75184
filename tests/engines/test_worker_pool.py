"""Workers that have this project from its wheel, as they have it on a cluster."""

import pytest

pytestmark = pytest.mark.slow

# Beam's own job service, in this process: all of the portable way but the engine.
PORTABLE = ("--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=EXTERNAL")


def compiled(folder):
    """What importing modules of `data_pipeline` from a folder leaves there."""
    return list((folder / "data_pipeline").rglob("__pycache__/*.pyc"))


def test_the_wheel_in_a_worker_pool_gives_the_same_files(
    run_job, worker_pool, installed, tmp_path, contents, expected
):
    for leftover in compiled(installed):
        leftover.unlink()
    address, _ = worker_pool(installed)
    output = tmp_path / "out"
    status, said = run_job(output, *PORTABLE, f"--environment_config={address}")
    assert status == 0, said
    assert contents(output) == expected
    assert {path.name.partition(".")[0] for path in compiled(installed)} >= {"graph", "join"}


def test_workers_without_the_project_end_the_job_in_one_error(run_job, worker_pool, tmp_path):
    (tmp_path / "empty").mkdir()
    address, _ = worker_pool(tmp_path / "empty")
    output = tmp_path / "out"
    status, said = run_job(output, *PORTABLE, f"--environment_config={address}")
    assert status == 1
    assert "Traceback" not in said
    last = said.splitlines()[-1]
    assert last.startswith("error: the job stopped: ModuleNotFoundError: No module named 'data_pi")
    assert not (output / "COMPLETED").exists()
