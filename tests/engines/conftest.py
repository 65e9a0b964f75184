import json
import os
import subprocess
import sys

import pytest
from backports import zstd

from tests.conftest import REPOSITORY, sample_world
from tests.engines import fetch, processes
from tests.test_make import FOLDER, copy_sources

COMMENTS = 40_000
DUMP_FILES = 8
"""More than an engine has workers, so that each of them reads some."""
_SECONDS_A_JOB = 120


def reddit_command(dumps, output, *options):
    """The project's command, as a user gives it.

    Local folders are relative to that of the command: an engine's workers run in another.
    """
    dumps, output = (
        str(folder) if "://" in str(folder) else os.path.relpath(folder, REPOSITORY)
        for folder in (dumps, output)
    )
    command = (sys.executable, "-m", "data_pipeline", "reddit", "--input", f"{dumps}/RC_*")
    return [str(part) for part in (*command, "--output", output, *options)]


def start(dumps, output, *options, **environment):
    """Starts that command, in a process group of its own."""
    return subprocess.Popen(
        reddit_command(dumps, output, *options),
        cwd=REPOSITORY,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def need(*names):
    """Skips a test where an engine has not been fetched, with the reason."""
    missing = json.loads(fetch.MISSING.read_text()) if fetch.MISSING.exists() else {}
    for name in names:
        if not fetch.STEPS[name][0].exists():
            pytest.skip(f"{name}: {missing.get(name, 'not fetched; `make engines` does it')}")


@pytest.fixture(scope="session")
def dumps(tmp_path_factory):
    """A folder of dumps in many files, the duplicates and malformed lines of a sample included."""
    world = sample_world(tmp_path_factory.mktemp("world"), "--comments", COMMENTS)
    months = sorted((world / "reddit").glob("RC_*"))
    whole = b"".join(zstd.decompress(month.read_bytes()) for month in months)
    lines = whole.splitlines(keepends=True)
    folder = tmp_path_factory.mktemp("dumps")
    for part in range(DUMP_FILES):
        share = lines[part * len(lines) // DUMP_FILES : (part + 1) * len(lines) // DUMP_FILES]
        (folder / f"RC_{part}.zst").write_bytes(zstd.compress(b"".join(share)))
    return folder


def contents(folder):
    """The shards and statistics that a job left: file name -> bytes."""
    files = [*folder.glob("*-of-*"), folder / "statistics.json"]
    return {path.name: path.read_bytes() for path in files}


@pytest.fixture(scope="session")
def expected(tmp_path_factory, dumps):
    """The contents that the local runner makes of the dumps."""
    output = tmp_path_factory.mktemp("expected") / "out"
    subprocess.run(reddit_command(dumps, output), cwd=REPOSITORY, check=True)
    made = contents(output)
    assert json.loads(made["statistics.json"])["pairs"] > COMMENTS / 3
    return made


@pytest.fixture
def start_job(dumps):
    """Starts the job with these options, and ends it with the test if it still runs."""
    jobs = []

    def start_one(output, *options):
        jobs.append(start(dumps, output, *options))
        return jobs[-1]

    yield start_one
    for job in jobs:
        processes.stop(job.pid)
        job.communicate()


def wait_for_stage(output, stage):
    """Returns when a job has noted the first work of a stage, `read` or `join`."""
    processes.wait_until(
        lambda: list(output.glob(f"_incomplete/*/{stage}-*")),
        seconds=_SECONDS_A_JOB,
        what=f"the job's first {stage}",
    )


@pytest.fixture
def run_job(start_job):
    """Runs the job to its end and returns its exit status and all it said."""

    def run_to_end(output, *options):
        job = start_job(output, *options)
        said, _ = job.communicate(timeout=_SECONDS_A_JOB)
        return job.returncode, said

    return run_to_end


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """The folder that this project installs, and nothing else."""
    scratch = tmp_path_factory.mktemp("install")
    source, target = copy_sources(scratch / "source"), scratch / "installed"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install")
    alone = ("--no-deps", "--no-index", "--no-build-isolation")
    subprocess.run([*pip, *alone, "--target", target, source], check=True)
    return target / FOLDER
