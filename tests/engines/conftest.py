import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from backports import zstd

from tests.engines import fetch, processes
from tests.engines.worker_pool import start_worker_pool

REPOSITORY = Path(__file__).parents[2]
ROOMS = ("data_pipeline", "model", "export", "evaluation")
COMMENTS = 60_000
DUMP_FILES = 8
"""More than there are TaskManagers, so that each of them reads some."""
_SECONDS_A_JOB = 120


def reddit_command(dumps, output, *options):
    """The project's command, as a user gives it.

    Local folders are relative to that of the command: an engine's workers run in another.
    """
    dumps, output = (
        str(folder) if "://" in str(folder) else os.path.relpath(folder, REPOSITORY)
        for folder in (dumps, output)
    )
    source = ("--input", f"{dumps}/RC_*", "--output", output)
    command = (sys.executable, "-m", "data_pipeline", "reddit", *source, *options)
    return [str(part) for part in command]


@pytest.fixture(scope="session")
def need():
    """Skips a test where an engine has not been fetched, with the reason."""

    def check(*names):
        missing = json.loads(fetch.MISSING.read_text()) if fetch.MISSING.exists() else {}
        for name in names:
            target, _ = fetch.STEPS[name]
            if not target.exists():
                pytest.skip(f"{name}: {missing.get(name, 'not fetched; `make engines` does it')}")

    return check


@pytest.fixture(scope="session")
def dumps(tmp_path_factory, sample_world):
    """A folder of dumps in many files, the duplicates and malformed lines of a sample included."""
    world = sample_world(tmp_path_factory.mktemp("world"), comments=COMMENTS)
    lines = []
    for month in sorted((world / "reddit").glob("RC_*")):
        lines += zstd.decompress(month.read_bytes()).splitlines(keepends=True)
    folder = tmp_path_factory.mktemp("dumps")
    for part in range(DUMP_FILES):
        share = lines[part * len(lines) // DUMP_FILES : (part + 1) * len(lines) // DUMP_FILES]
        (folder / f"RC_{part}.zst").write_bytes(zstd.compress(b"".join(share)))
    return folder


@pytest.fixture(scope="session")
def contents():
    """The shards and statistics that a job left: file name -> bytes."""

    def read(folder):
        files = [*folder.glob("*-of-*"), folder / "statistics.json"]
        return {path.name: path.read_bytes() for path in files}

    return read


@pytest.fixture(scope="session")
def expected(tmp_path_factory, dumps, contents):
    """The contents that the local runner makes of the dumps."""
    output = tmp_path_factory.mktemp("expected") / "out"
    subprocess.run(
        reddit_command(dumps, output),
        cwd=REPOSITORY,
        timeout=_SECONDS_A_JOB,
        check=True,
        capture_output=True,
    )
    made = contents(output)
    assert json.loads(made["statistics.json"])["pairs"] > COMMENTS / 3
    return made


@pytest.fixture
def start_job(dumps):
    """Starts the job with these options, and ends it with the test if it still runs."""
    jobs = []

    def start(output, *options):
        job = subprocess.Popen(
            reddit_command(dumps, output, *options),
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        jobs.append(job)
        return job

    yield start
    for job in jobs:
        processes.stop(job.pid)
        job.communicate()


@pytest.fixture
def wait_for_stage():
    """Returns when a job has noted the first work of a stage, `read` or `join`."""

    def wait(output, stage):
        processes.wait_until(
            lambda: list(output.glob(f"_incomplete/*/{stage}-*")),
            seconds=_SECONDS_A_JOB,
            what=f"the job's first {stage}",
        )

    return wait


@pytest.fixture
def run_job(start_job):
    """Runs the job to its end and returns its exit status and all it said."""

    def run(output, *options):
        job = start_job(output, *options)
        said, _ = job.communicate(timeout=_SECONDS_A_JOB)
        return job.returncode, said

    return run


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """A folder with this project as a wheel installs it, and nothing else."""
    scratch = tmp_path_factory.mktemp("wheel")
    source = scratch / "source"
    source.mkdir()
    # A copy, since setuptools builds beside the sources.
    shutil.copy(REPOSITORY / "pyproject.toml", source)
    for room in ROOMS:
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / room, source / room, ignore=ignore)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    offline = ("--no-deps", "--no-index", "--no-build-isolation")
    _run(*pip, "wheel", *offline, "--wheel-dir", scratch, source)
    (wheel,) = scratch.glob("*.whl")
    target = scratch / "installed"
    # Not compiled, so that a .pyc tells what was imported from there.
    _run(*pip, "install", "--no-deps", "--no-index", "--no-compile", "--target", target, wheel)
    return target


def _run(*command):
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def worker_pool(tmp_path):
    """Starts a worker pool that imports from a folder; returns its address and its group."""
    groups = []

    def start(code):
        (port,) = processes.free_ports(1)
        groups.append(start_worker_pool(port, code=code, folder=tmp_path / f"pool-{port}"))
        return f"localhost:{port}", groups[-1]

    yield start
    processes.stop(*groups)
