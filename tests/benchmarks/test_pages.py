"""The pages that benchmarks write, and that every benchmark can be started."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as every
from benchmarks import ablations, machine

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def given():
    paths = {name: Path(name) for name in ("pairs", "sts_dev", "modules")}
    return argparse.Namespace(dumps="RC_*", comments=5, peer_python=None, **paths)


def test_every_program_is_among_the_benchmarks(given):
    chosen = {one.program for one in every.benchmarks(given)}
    folder = REPOSITORY / "benchmarks"
    programs = {path.stem for path in folder.glob("*.py") if "def main" in path.read_text()}
    assert chosen == programs - {"__main__", "ablations"}  # these score, and take an hour


@pytest.mark.slow
def test_what_is_asked_is_what_the_programs_accept(given):
    given.peer_python = Path(sys.executable)
    for one in every.benchmarks(given):
        done = subprocess.run(
            [sys.executable, "-m", f"benchmarks.{one.program}", *one.arguments, "--no_such_option"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stderr.strip().endswith("unrecognized arguments: --no_such_option"), one


def test_the_page_tells_what_failed_and_what_did_not_run():
    benchmark = every.Benchmark("This beside that", "this", ("--pairs", "/my data/a b/*"))
    fine = every.Outcome(benchmark, "1.5 times")
    outcomes = [fine, fine._replace(said="", status=None), fine._replace(status=1)]
    text = every.page(outcomes, data_dir="/my data/")
    assert text.count("    python -m benchmarks.this --pairs 'DIR/a b/*'") == 3
    assert text.count("```text\n1.5 times\n```") == 2
    assert text.count("Not run: needs `--peer_python`") == 1
    assert text.count("**It failed:**") == 1


def test_an_ablation_says_what_it_changes_of_the_mean_of_the_seeds():
    def row(value):
        return dict.fromkeys(ablations.FIGURES, value)

    found = {"as it stands": row(0.30), "seed 1": row(0.32), "no warm-up": row(0.25)}
    line = ablations.table(found).splitlines()[-1]
    # By hand: the mean of the seeds is 0.31.
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "no warm-up",
        *["0.250 (-0.060)"] * 3,
    ]


def test_the_page_of_ablations_has_its_command_without_the_place_of_the_data():
    asked = ["--sts_dev", "/my data/dev.csv", "--output", "page.md"]
    text = ablations.page("| a |", asked, about="4 cores", data_dir="/my data/")
    assert text == (
        "# Ablations\n\n4 cores\n\n"
        "    python -m benchmarks.ablations --sts_dev 'DIR/dev.csv' --output page.md\n\n| a |\n"
    )


def test_an_ablation_that_is_done_is_not_trained_again(tmp_path):
    found = dict.fromkeys(ablations.FIGURES, 0.5)
    preset = (REPOSITORY / "model" / "configs" / "laptop_dan.yaml").read_text()
    way = ablations.BASE | ablations.WAYS["score scale 10"]
    asked = {"way": way, "preset": preset, "pairs": "nowhere", "count": 9}
    (tmp_path / "ablation.json").write_text(json.dumps({"asked": asked, "found": found}))
    run = {"pairs": "nowhere", "sts_dev": "nowhere", "cores": None}
    assert ablations.train("score scale 10", tmp_path, count=9, **run) == found


def test_groups_of_cores_share_all_of_them():
    groups = machine.core_groups(2)
    cores = [core for group in groups for core in (group or "").split(",") if core]
    assert sorted(map(int, cores)) == sorted(os.sched_getaffinity(0))
    assert machine.core_groups(1) == [None]
