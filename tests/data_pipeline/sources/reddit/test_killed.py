"""A job that is killed at any moment leaves nothing that looks finished, and is completed later."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from data_pipeline import SampleOptions, write_sample
from tests.engines import processes

REPOSITORY = Path(__file__).parents[4]
KILLS = 6
ALONE = ("--direct_num_workers", "1")
TOGETHER = ("--direct_num_workers", "2", "--direct_running_mode", "multi_processing")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dumps(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dumps")
    write_sample(SampleOptions(output=str(folder), comments=150_000, seed=5))
    return folder / "reddit"


def command(dumps, output, workers):
    job = ("-m", "data_pipeline", "reddit", "--input", f"{dumps}/RC_*", "--output", str(output))
    return [sys.executable, *job, "--context_turns", "1", *workers]


def run_to_the_end(*job):
    subprocess.run(command(*job), cwd=REPOSITORY, check=True, capture_output=True, timeout=240)


def started(dumps, output, workers):
    """The group of a job that has begun its work, which is after the imports."""
    before = set(output.glob("_incomplete/*"))
    job = command(dumps, output, workers)
    group = processes.start(*job, log=output.with_name("log"), folder=REPOSITORY)
    processes.wait_until(
        lambda: set(output.glob("_incomplete/*")) - before or not processes.is_alive(group),
        seconds=120,
        what="the job begins",
    )
    return group


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
    group, began = started(dumps, output, ALONE), time.monotonic()
    processes.wait_until(lambda: not processes.is_alive(group), seconds=240, what="the job ends")
    assert len(published(output)) == 16 + 2 + 2
    return published(output), time.monotonic() - began


@pytest.mark.parametrize("workers", [ALONE, TOGETHER], ids=["alone", "together"])
def test_killed_at_random_moments_and_run_again(dumps, undisturbed, tmp_path, workers):
    expected, seconds = undisturbed
    output, draw = tmp_path / "out", random.Random(7).uniform
    killed = 0
    for moment in sorted(draw(0, seconds) for _ in range(KILLS)):
        group = started(dumps, output, workers)
        time.sleep(moment)
        killed += processes.is_alive(group)
        processes.kill(group)
        if (output / "COMPLETED").exists():  # it had done all its work
            break
    assert killed > 1
    run_to_the_end(dumps, output, workers)
    assert (output / "COMPLETED").exists()
    assert not (output / "_incomplete").exists()
    assert published(output) == expected


def test_the_launcher_is_killed_and_its_workers_outlive_it(dumps, undisturbed, tmp_path):
    output = tmp_path / "out"
    group = started(dumps, output, TOGETHER)
    processes.wait_until(
        lambda: list(output.glob("_incomplete/*/*.partial")), seconds=60, what="a file"
    )
    subprocess.run(["kill", "-9", str(group)], check=True)
    assert not (output / "COMPLETED").exists()
    run_to_the_end(dumps, output, TOGETHER)
    processes.kill(group)
    assert published(output) == undisturbed[0]
