"""The pages that benchmarks write, and that every benchmark can be started."""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks import __main__ as every
from benchmarks import ablations, machine, runs
from model.configs import parsing

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
        assert f"{python}: {reason}; accepted is one with json, no_such_package" in said


def test_an_ablation_says_what_it_changes_of_the_mean_of_the_seeds():
    def row(value):
        return dict.fromkeys(ablations.SELECTION.figures, value)

    found = {"as it stands": row(0.30), "seed 1": row(0.32), "no warm-up": row(0.25)}
    line = ablations.table(ablations.SELECTION, found).splitlines()[-1]
    # By hand: the mean of the seeds is 0.31.
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "no warm-up",
        *["0.250 (-0.060)"] * 3,
    ]


def test_the_page_of_ablations_has_its_command_without_the_place_of_the_data():
    asked = ["--sts_dev", "/my data/dev.csv", "--output", "page.md"]
    text = ablations.page({"Both": "| a |"}, asked, about="4 cores", data_dir="/my data/")
    assert text == (
        "# Ablations\n\n4 cores\n\n"
        "    python -m benchmarks.ablations --sts_dev 'DIR/dev.csv' --output page.md\n\n"
        f"{ablations.LEGEND}\n\n"
        "## Both\n\n| a |\n"
    )


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


@pytest.mark.parametrize("recipe", [ablations.SELECTION, ablations.INFERENCE])
def test_every_way_can_be_trained(recipe, tmp_path):
    (tmp_path / "validation-0").touch()
    if recipe is ablations.SELECTION:
        data = ablations.selection_data(str(tmp_path), "dev.csv", 100_000)
    else:
        data = ablations.inference_data(str(tmp_path), "dev.csv", "nli", tmp_path)
    preset = str(runs.CONFIGS / f"{recipe.preset}.yaml")
    asked = []
    for way in recipe.ways.values():
        override = ablations.override_of(way, data)
        text = ",".join(f"{key}={value}" for key, value in override.items())
        params = parsing.parse(
            experiment=recipe.experiment, config_files=[preset], params_override=text
        )
        asked.append(params.as_dict())
    assert all(asked.count(one) == 1 for one in asked)


def test_a_way_trains_on_as_many_pairs_whatever_its_batches(tmp_path):
    data = ablations.selection_data(str(tmp_path), "dev.csv", 512_000)
    steps = {
        name: ablations.override_of(ablations.WAYS[name], data)["trainer.train_steps"]
        for name in ("as it stands", "batches of 256", "word dropout 0.4 and twice the passes")
    }
    assert list(steps.values()) == [1000, 2000, 2000]


def test_an_ablation_that_is_done_is_not_trained_again_unless_it_asks_for_something_else(
    tmp_path, monkeypatch
):
    trained = []

    def start(folder, preset, override, **options):
        trained.append(override["trainer.train_steps"])
        folder.mkdir(parents=True)
        for name in ("ckpt-9.index", "params.yaml"):
            (folder / name).touch()

    figures = dict.fromkeys(ablations.SELECTION.figures, 0.5)
    monkeypatch.setattr(runs, "start", start)
    monkeypatch.setattr(runs, "wait", lambda *_: None)
    monkeypatch.setattr(runs, "last", lambda _: figures)
    for count, name in ((51_200, "score scale 10"), (102_400, "score scale 10")):
        data = ablations.selection_data("pairs", "dev.csv", count)
        for _ in range(2):
            found = ablations.train_all(ablations.SELECTION, [name], tmp_path, data, at_once=1)
            assert found == {name: figures}
    assert trained == [100, 200]
    # What inference begins with is kept, others' checkpoints are not.
    ablations.train_all(ablations.SELECTION, ["as it stands"], tmp_path, data, at_once=1)
    kept = {path.parent.name for path in tmp_path.rglob("ckpt*")}
    assert kept == {"as_it_stands"}


def test_inference_is_trained_again_when_the_model_that_it_begins_with_was(tmp_path, monkeypatch):
    trained = []
    figures = dict.fromkeys(ablations.INFERENCE.figures, 0.5)
    monkeypatch.setattr(runs, "start", lambda folder, *_, **__: trained.append(folder.mkdir()))
    monkeypatch.setattr(runs, "wait", lambda *_: None)
    monkeypatch.setattr(runs, "last", lambda _: figures)
    begun = tmp_path / "begun"
    begun.mkdir()
    data = ablations.inference_data("pairs", "dev.csv", "nli", begun)
    (tmp_path / ablations.INFERENCE.preset).mkdir()
    for asked in ("one recipe", "one recipe", "another"):
        (begun / ablations.DONE).write_text(asked)
        ablations.train_all(ablations.INFERENCE, ["seed 1"], tmp_path, data, at_once=1)
    assert len(trained) == 2


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


def test_groups_of_cores_share_all_of_them():
    groups = machine.core_groups(2)
    cores = [core for group in groups for core in (group or "").split(",") if core]
    assert sorted(map(int, cores)) == sorted(os.sched_getaffinity(0))
    assert machine.core_groups(1) == [None]
