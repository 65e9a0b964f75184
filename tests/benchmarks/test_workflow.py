"""The workflow of `make reproduce`: what a change runs again, and how it goes on after a kill.

The workflow tool really runs; the project's commands are a stub that writes their files.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from benchmarks.quality import rows
from tests.benchmarks.test_rows import FILES

REPOSITORY = Path(__file__).parents[2]
SNAKEMAKE = REPOSITORY / ".venv-workflow" / "bin" / "snakemake"
NLI_RUNS = {"reddit_nli-0", "nli_0-0"}
LEFT_OUT = (
    *("growth_10", "growth_30", "nli_10", "nli_30", "teacher", "teacher_nli"),
    *("small_teacher", "small"),
    *("transformer_teacher", "transformer_large"),
)
"""Rows that the tests do without."""
NLI_100 = {"export nli_100-0", "score nli_100-0"}
"""Of the model of reddit_nli-0."""
pytestmark = pytest.mark.skipif(
    not SNAKEMAKE.exists(), reason="no workflow environment; make test installs it"
)


class Workplace:
    """A folder with data, presets and a table, in which the workflow runs."""

    def __init__(self, folder):
        self.folder = folder
        for name in FILES:
            self.write(f"data/{name}", name)
        shutil.copytree(REPOSITORY / rows.PRESETS, folder / rows.PRESETS)
        table = yaml.safe_load(rows.TABLE.read_text())
        for name in LEFT_OUT:
            del table["rows"][name]
        for name in ("reddit", "reddit_nli"):
            table["rows"][name]["seeds"] = [0]
        self.table = folder / "rows.yaml"
        self.table.write_text(yaml.safe_dump(table, sort_keys=False))
        self.write("results/protocol.md", "")
        stub = folder / "python"
        script = Path(__file__).with_name("stub_python.py")
        stub.write_text(f'#!/bin/sh\nexec {sys.executable} {script} "$@"\n')
        stub.chmod(0o755)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def start(self, *more, goal="reproduce", environment=None, **options):
        given = {"DATA": "data", "RUNS": "runs", "PYTHON": "./python", "TABLE": "rows.yaml"}
        self.write("options.json", json.dumps(given | options))
        return subprocess.Popen(
            [
                *(SNAKEMAKE, goal, "--snakefile", REPOSITORY / "benchmarks/quality/Snakefile"),
                *("--directory", self.folder, "--configfile", self.folder / "options.json", *more),
            ],
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)} | (environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *more, **options):
        process = self.start(*more, **options)
        said, _ = process.communicate(timeout=300)
        return process.returncode, said

    def would_make(self, **options):
        """What would be made again: `train reddit-0`, ..."""
        status, said = self.run("--dry-run", **options)
        assert status == 0, said
        made = re.findall(r"^rule (\w+):\n(?:    .*\n)*?    output: (\S+)", said, re.M)
        inside = re.compile(r"runs/(?:models/|modules/|results/)?(?:(.+?)(?:/variables)?/)?[\w.]+")
        return {f"{rule} {inside.fullmatch(output)[1] or ''}".strip() for rule, output in made}

    def change(self, **rows_values):
        """Changes rows of the table."""
        path = self.folder / "rows.yaml"
        table = yaml.safe_load(path.read_text())
        for row, values in rows_values.items():
            table["rows"][row].update(values)
        path.write_text(yaml.safe_dump(table, sort_keys=False))

    def commands(self):
        log = self.folder / "log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A workplace in which everything has run."""
    workplace = Workplace(tmp_path_factory.mktemp("whole"))
    status, said = workplace.run()
    assert status == 0, said
    return workplace


@pytest.fixture
def done(whole):
    """The same; its table, presets and times are put back after the test."""
    kept = {
        path: (path.read_bytes(), path.stat())
        for path in [whole.folder / "rows.yaml", *(whole.folder / rows.PRESETS).iterdir()]
    }
    yield whole
    for path, (content, status) in kept.items():
        path.write_bytes(content)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.fixture
def workplace(tmp_path):
    return Workplace(tmp_path)


def of(names, *rules):
    return {f"{rule} {name}" for name in names for rule in rules}


ALL = ("train", "export", "score")
PAGES = {"results_page", "report"}
NLI_PAGES = {"leaks leaks", "mistakes mistakes", *PAGES}


@pytest.mark.slow
def test_what_is_done_is_not_done_again(done):
    assert (done.folder / "RESULTS.md").exists()
    assert done.would_make() == set()
    later = time.time() + 60
    for path in (done.folder / rows.PRESETS).iterdir():
        os.utime(path, (later, later))
    (done.folder / "README.md").touch()
    (done.folder / rows.PRESETS / "other.yaml").touch()
    assert done.would_make() == set()


def test_a_changed_row_makes_again_what_depends_on_it(done):
    path = done.folder / "rows.yaml"
    table = yaml.safe_load(path.read_text())
    table["data"]["all_pairs"] = table["data"]["pairs"] | {"decontaminate": []}
    path.write_text(yaml.safe_dump(table, sort_keys=False))
    done.change(
        growth_1={"pairs": "all_pairs"},
        growth_3={"task.model.score_scale": 10},
        transformer={"seeds": [0, 1]},
        bilstm_max_nli={"scores": ["snli"]},
    )
    trained = of(["growth_1-0", "growth_3-0", "transformer-1"], *ALL)
    assert done.would_make() == {"data all_pairs", "score bilstm_max_nli-0"} | trained | PAGES


def test_a_row_that_others_start_from_trains_these_too(done):
    done.change(reddit={"steps": 1080})
    made = done.would_make()
    growth = {f"growth_{share}-0" for share in (1, 3)}
    trained = of(NLI_RUNS | {"reddit-0"}, "train")
    assert {one for one in made if one.startswith("train")} == trained
    assert made & of(growth, *ALL) == set()  # they have steps of their own
    assert {"export growth_100-0", "score growth_100-0", "baselines baselines"} < made


def test_a_changed_preset_and_a_new_evaluation_file_make_again_what_reads_them(done):
    preset = done.folder / rows.PRESETS / "laptop_dan_ngrams_nli.yaml"
    preset.write_text(preset.read_text().replace("dropout: 0.4", "dropout: 0.5"))
    file = done.folder / "data" / "semeval_cqa" / "2017" / "test.xml"
    file.parent.mkdir()
    file.write_text("of the organisers")
    try:
        made = done.would_make()
    finally:
        shutil.rmtree(file.parent)
    shown = rows.Table(path=done.table).shown
    scored = [name for name, run in shown.items() if "cqa" in run.row.scores]
    assert len(scored) > 2
    expected = of(NLI_RUNS, *ALL) | NLI_100 | NLI_PAGES
    assert made == expected | of(scored, "score") | {"baselines baselines"}


@pytest.mark.slow
def test_options_make_again_what_they_name(done):
    runs = NLI_RUNS | {"bilstm_max_nli-0"}
    made = of(runs, *ALL) | NLI_100 | NLI_PAGES
    assert done.would_make(NLI_AGAIN="sn*") == {"data nli/again"} | made
    assert done.would_make(NLI_AGAIN="") == made
    done.write("glove.txt", "word 1 0")
    for given in ({"VECTORS": "glove.txt"}, {"RIVALS": "wordllama"}, {"RIVALS": ""}):
        assert done.would_make(**given) == {"baselines baselines", *PAGES}


def test_ablations_start_from_the_rows_that_are_trained(done):
    made = done.would_make(goal="ablations")
    trained = {
        run.name
        for ablation in rows.Table(path=done.table).ablations.values()
        for run in ablation.runs.values()
        if run.row.name.startswith("ablations/")
    }
    assert len(trained) > 15
    assert made == of(trained, "train") | {"ablations_page", "data papers_pairs"}


@pytest.mark.slow
@pytest.mark.parametrize("change", [{}, {"task.model.score_scale": 10}])
def test_a_killed_training_goes_on_unless_its_row_changed(workplace, change):
    goal = "runs/results/bilstm_max_nli-0/SCORED"
    process = workplace.start(goal=goal, environment={"BLOCK": "models/bilstm_max_nli-0"})
    while not (workplace.folder / "blocked").exists():
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    before = workplace.commands()
    workplace.change(bilstm_max_nli=change)
    status, said = workplace.run(goal=goal)
    assert status == 0, said
    after = workplace.commands()[len(before) :]
    assert not [one for one in after if "--output runs/nli/train " in one]
    programs = sorted(one.split()[0] for one in after if not one.startswith("data_pipeline"))
    assert programs == [*["evaluation"] * 4, "export", "model"]
    half = workplace.folder / "runs/models/bilstm_max_nli-0/ckpt-1"
    assert half.exists() == (not change)


def test_what_is_missing_is_one_line(workplace):
    (workplace.folder / "data/stsb/sts-train.csv").unlink()
    status, said = workplace.run("--dry-run", goal="reproduce")
    assert status != 0
    assert said.splitlines()[-1].startswith("error: ")
    assert "stsb/sts-train.csv" in said.splitlines()[-1]
