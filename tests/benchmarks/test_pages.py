"""The pages that benchmarks write, and that every benchmark can be started."""

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks import __main__ as every
from benchmarks import runs
from benchmarks.quality import ablations
from benchmarks.quality.rows import Table

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def given():
    return argparse.Namespace(
        dumps="RC_*",
        comments=[5],
        peer_python=None,
        runs=Path("runs"),
        data_dir="data",
        texts=Path("texts.txt"),
    )


def test_every_program_is_among_the_benchmarks(given):
    chosen = {one.program for one in every.benchmarks(given)}
    speed = (REPOSITORY / "benchmarks" / "speed").glob("*.py")
    assert chosen == {f"speed.{path.stem}" for path in speed} | {"quality.encoders"}


@pytest.mark.slow
def test_what_is_asked_is_what_the_programs_accept(given, tmp_path):
    given.peer_python, given.runs = Path(sys.executable), tmp_path
    for name in ("pairs", "words"):
        (tmp_path / name).mkdir()
    (tmp_path / "pairs" / "train-00000-of-00001.tfrecord").touch()
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
    text = every.page(outcomes, all_of=3, data_dir="/my data/")
    assert text.count("    python -m benchmarks.this --pairs 'DIR/a b/*'") == 3
    assert text.count("```text\n1.5 times\n```") == 2
    assert text.count("Not run: needs `--peer_python`") == 1
    assert text.count("**It failed:**") == 1
    assert "stopped" not in text
    assert "**3 of 4: the run was still going on" in every.page(outcomes, all_of=4)


def test_an_interpreter_without_what_is_compared_is_refused_before_anything_runs(
    given, capsys, monkeypatch
):
    given.comments = 5
    options = [f"--{name}={value}" for name, value in vars(given).items() if value is not None]
    output = given.dumps + ".md"
    monkeypatch.setattr(every, "NEEDED_OF_PEER", "json, no_such_package")
    for python, reason in (
        (sys.executable, "ModuleNotFoundError: No module named 'no_such_package'"),
        ("nowhere/python", "No such file or directory"),
    ):
        asked = ["benchmarks", *options, f"--output={output}", f"--peer_python={python}"]
        monkeypatch.setattr(sys, "argv", asked)
        with pytest.raises(SystemExit) as ended:
            every.main()
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert f"{python}: {reason}; accepted: one with json, no_such_package" in said


def test_an_ablation_shows_its_change_from_the_mean_of_the_seeds():
    ablation = Table().ablations["reddit"]

    def row(value):
        return dict.fromkeys(ablation.figures, value)

    found = {"as it stands": row(0.30), "seed 1": row(0.32), "no warm-up": row(0.25)}
    line = ablations.table(ablation, found).splitlines()[-1]
    # By hand: the mean of the seeds is 0.31.
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "no warm-up",
        *["0.250 (-0.060)"] * 3,
    ]


ITEMS = ("p_at_1", "p_at_10", "nli_accuracy", "sts_dev_pearson")


def test_intervals_of_ablations_follow_from_the_manifests(tmp_path):
    for name, outputs in (
        ("pairs", {"validation-0": 60, "validation-1": 40, "train-0": 7}),
        ("nli/dev", {"nli-0": 997, "dead_letters": 3}),
    ):
        (tmp_path / name).mkdir(parents=True)
        content = {"outputs": {one: {"records": count} for one, count in outputs.items()}}
        (tmp_path / name / "COMPLETED").write_text(json.dumps(content))
    items = ablations.sizes(tmp_path)
    assert items == dict(zip(ITEMS, (100, 100, 900, 1500), strict=True))
    figures = dict.fromkeys(ITEMS, 0.5)
    said = ablations.reach(Table().ablations["reddit"], figures, items)
    # Wilson's interval of 50 of 100; tanh(artanh(0.5) ± 1.96 / sqrt(1497)).
    assert "P@1 [0.404, 0.596], P@10 [0.404, 0.596], STS-B dev, Pearson [0.461, 0.537]." in said


def test_the_page_of_ablations_has_the_last_validation_of_every_run(tmp_path, monkeypatch):
    figures = dict.fromkeys(("p_at_1", "p_at_10", "sts_dev_pearson", "nli_accuracy"), 0.5)
    asked = []
    monkeypatch.setattr(runs, "last", lambda folder: asked.append(folder) or figures)
    output = tmp_path / "page.md"
    monkeypatch.setattr(sys, "argv", ["ablations", "--runs", "R", "--output", str(output)])
    monkeypatch.setattr(ablations, "sizes", lambda folder: dict.fromkeys(ITEMS, 100))
    ablations.main()
    text = output.read_text()
    assert text.startswith("# Ablations\n\n`make ablations DATA=DIR`, ")
    assert "## Response selection: 1,024,000 pairs a row\n\n|" in text
    assert text.count("0.500 (+0.000)") == 3 * 34 + 4 * 20
    assert Path("R/models/ablations/reddit/score_scale_10-0/validation") in asked
    assert Path("R/models/reddit_nli-2/validation") in asked


def test_tables_stay_aligned_and_a_failure_has_its_reason(monkeypatch, capsys):
    programs = {
        "table": "print('    ms  of\\nours  1   2')",
        "failing": "import sys; print('round 1'); sys.exit('no such vectors\\n[...] failed')",
    }

    def start(command, **options):
        return real(["python", "-c", programs[command[2].removeprefix("benchmarks.")]], **options)

    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", start)
    chosen = [every.Benchmark(name, name, ()) for name in programs]
    table, failing = every.run_all(chosen, has_peer=False)
    assert (table.said, table.status) == ("    ms  of\nours  1   2", 0)
    assert failing.said == "round 1\nno such vectors\n[...] failed"
    assert failing.status == 1
    assert "no such vectors" in capsys.readouterr().out


def test_what_a_benchmark_started_ends_with_it(tmp_path):
    said = tmp_path / "child"
    code = (
        "import subprocess, sys; from pathlib import Path; from benchmarks import runs\n"
        "runs.end_with_what_it_started()\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        f"Path({str(said)!r}).write_text(str(child.pid) + '.'); child.wait()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=REPOSITORY)
    while not (said.exists() and said.read_text().endswith(".")):
        assert process.poll() is None
        time.sleep(0.05)
    child = psutil.Process(int(said.read_text()[:-1]))
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM
    child.wait(timeout=10)


def test_ways_that_are_timed_take_turns():
    done = []
    ways = {name: lambda name=name: done.append(name) for name in "ab"}
    seconds = runs.in_turns(ways, 2, warm_up=1)
    assert done == list("ababab")
    assert {name: len(some) for name, some in seconds.items()} == {"a": 2, "b": 2}
