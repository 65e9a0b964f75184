"""A job that is killed at any moment leaves nothing that looks finished, and is completed later."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from backports import zstd

from data_pipeline import SampleOptions, write_sample

REPOSITORY = Path(__file__).parents[4]
COMMENTS = 150_000
FILES = 6
KILLS = 6
ALONE = ("--direct_num_workers", 1)
TOGETHER = ("--direct_num_workers", 2, "--direct_running_mode", "multi_processing")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dumps(tmp_path_factory):
    """A sample dump in several files."""
    folder = tmp_path_factory.mktemp("dumps")
    write_sample(SampleOptions(output=str(folder / "sample"), comments=COMMENTS, seed=5))
    lines = [
        line
        for month in sorted((folder / "sample" / "reddit").iterdir())
        for line in zstd.decompress(month.read_bytes()).splitlines(keepends=True)
    ]
    for number in range(FILES):
        part = lines[number * len(lines) // FILES : (number + 1) * len(lines) // FILES]
        (folder / f"RC_{number}.zst").write_bytes(zstd.compress(b"".join(part)))
    return folder


def command(dumps, output, workers):
    arguments = ("reddit", "--input", f"{dumps}/RC_*", "--output", output, "--context_turns", 1)
    return [sys.executable, "-m", "data_pipeline", *map(str, (*arguments, *workers))]


@contextmanager
def started(*arguments):
    """A command in a group of its own, of which nothing is left behind."""
    with subprocess.Popen(
        command(*arguments),
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            kill_group(process)


def kill_group(process):
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def run_to_the_end(*arguments):
    with started(*arguments) as process:
        assert process.wait(120) == 0


def wait_for(condition, process):
    while process.poll() is None and not condition():
        time.sleep(0.005)
    return process.poll() is None


def begun(output):
    """When the job in this folder began its work, which is after the imports; else None."""
    with suppress(FileNotFoundError):
        return (output / "_incomplete").stat().st_ctime_ns


def published(output):
    """What is published, but for the manifest and the day of the card."""
    names = ("COMPLETED", "data_card.json", "data_card.html", "_claim", "_publishing.json")
    return {
        path.name: path.read_bytes()
        for path in output.iterdir()
        if path.is_file() and path.name not in names
    }


@pytest.fixture(scope="module")
def undisturbed(dumps, tmp_path_factory):
    """What a job publishes that nobody kills, and how many seconds it works for it."""
    output = tmp_path_factory.mktemp("undisturbed") / "out"
    with started(dumps, output, ALONE) as process:
        assert wait_for(lambda: begun(output), process)
        began = time.monotonic()
        assert process.wait(120) == 0
        seconds = time.monotonic() - began
    assert len(published(output)) == 16 + 2 + 2
    return published(output), seconds


@pytest.mark.parametrize("workers", [ALONE, TOGETHER], ids=["alone", "together"])
def test_killed_at_random_moments_and_run_again(dumps, undisturbed, tmp_path, workers):
    expected, seconds = undisturbed
    output = tmp_path / "out"
    seed = 7
    draw = random.Random(seed).uniform
    killed = 0
    for moment in sorted(draw(0, seconds) for _ in range(KILLS)):
        last = begun(output)
        with started(dumps, output, workers) as process:
            assert wait_for(lambda last=last: begun(output) not in (None, last), process)
            time.sleep(moment)
            if process.poll() is not None:
                assert process.returncode == 0
                break
            kill_group(process)
            process.wait()
        killed += 1
        print(f"seed {seed}: killed {moment:.2f} of {seconds:.2f} s in")
        # Killed while it said goodbye: it had done all its work.
        if (output / "COMPLETED").exists():
            assert published(output) == expected
            break
    assert killed > 1
    run_to_the_end(dumps, output, workers)
    assert (output / "COMPLETED").exists()
    assert not (output / "_incomplete").exists()
    assert published(output) == expected


def test_the_launcher_is_killed_and_its_workers_outlive_it(dumps, undisturbed, tmp_path):
    expected, _ = undisturbed
    output = tmp_path / "out"
    with started(dumps, output, TOGETHER) as process:
        assert wait_for(lambda: list(output.glob("_incomplete/*/*.partial")), process)
        process.kill()
        process.wait()
        assert not (output / "COMPLETED").exists()
        run_to_the_end(dumps, output, TOGETHER)
    assert published(output) == expected
