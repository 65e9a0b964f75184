"""From an export to a verdict: the command of docs/own.md, on a small generated export."""

import json
import os
import random
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from common.errors import InputError
from common.own import __main__ as program
from common.own import run as own
from data_pipeline.sources.exports import options as exports
from tests.commands.documents import REPOSITORY, commands
from tests.test_make import make

(PAGE,) = (one for one in commands(REPOSITORY / "docs" / "own.md") if "common.own" in one.text)
WORDS = ("apple", "river", "stone", "cloud", "music", "paper", "window", "engine", "coffee")


def write(path, *, threads):
    """Threads of three messages that share a rare word, the newest last."""
    draw, lines = random.Random(0), []
    for number in range(3 * threads):
        thread, turn = divmod(number, 3)
        message = {
            "id": number,
            "reply_to": number - 1 if turn else None,
            "text": f"{draw.choice(WORDS)} {thread % 50 + 7000} {draw.choice(WORDS)} and so on",
            "who": "abc"[turn],
            "time": 1_000_000_000 + 60 * number,
        }
        lines.append(json.dumps(message) + "\n")
    path.write_text("".join(lines))


def start(folder, *command):
    """Starts a command in a folder."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(process):
    said, _ = process.communicate()
    return process.returncode, said


def test_make_runs_the_command_of_the_page():
    text = (REPOSITORY / "docs" / "own.md").read_text()
    line = text.partition("    make own ")[2].partition("\n\n")[0].replace("\\\n", " ")
    done = make("-n", "own", *shlex.split(line))
    (command,) = (
        one for one in done.stdout.replace("\\\n", " ").splitlines() if "common.own" in one
    )
    assert shlex.split(command)[2:] == PAGE.words


def test_the_formats_are_those_of_the_pipeline():
    assert (*own.COMMANDS, *exports.FORMATS) == program.FORMATS
    with pytest.raises(InputError, match="--format"):
        program.OwnOptions(input=("a",), format="icq", output=Path("own"))


def test_help_shows_the_options_of_the_only_command(capsys):
    with pytest.raises(SystemExit):
        program.main(["--help"])
    assert "--labelled" in capsys.readouterr().out


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A function that runs the command with steps that do nothing; returns their words by name."""

    def run(*others, fails_at="", pairs=200, name="own", **given):
        ran = {}

        def step_of(folder, step, words):
            if step == fails_at:
                raise InputError(step)
            ran[step] = words
            (folder / "pairs").mkdir(exist_ok=True)
            counts = {f"{split}_pairs": pairs for split in own.SPLITS} | {"pairs": pairs}
            (folder / "pairs" / "statistics.json").write_text(json.dumps(counts))
            return ["the verdict", "-> report.html"]

        monkeypatch.setattr(own, "_run", step_of)
        given = {"input": ("a.jsonl",), "format": "slack", "output": tmp_path / name} | given
        own.run(program.OwnOptions(**given), others)
        return ran

    return run


def test_a_run_that_failed_goes_on_and_one_that_is_complete_is_kept(runs, capsys):
    with pytest.raises(InputError):
        runs(fails_at="model")
    capsys.readouterr()
    rest = ["pairs", "model", "module", "scores", "baselines", "index", "card", "report"]
    assert list(runs()) == rest
    assert "the verdict" in capsys.readouterr().out
    assert list(runs()) == ["pairs", "report"]
    assert "complete already" in capsys.readouterr().out


def test_a_folder_of_something_else_is_refused(runs, tmp_path):
    runs("--rules", "none")
    with pytest.raises(InputError, match="--rules"):
        runs("--rules", "paper")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    with pytest.raises(InputError, match=r"notes\.txt"):
        runs(name="mine")


def test_too_few_messages_end_before_training(runs, tmp_path):
    labelled = tmp_path / "labelled.csv"
    labelled.write_text("sentence1,sentence2,score\na,b,1\na,c,0\n")
    with pytest.raises(InputError, match="--input"):
        runs(pairs=19)
    ran = runs(pairs=30, name="few", labelled=labelled)
    assert ran["scores"][-3] == "15"  # candidates
    assert ran["similarity"][:2] == ["evaluation", "sts"]
    assert "--sts" in ran["baselines"]


def test_the_newest_threads_are_held_out_where_there_are_times(runs, monkeypatch, tmp_path):
    assert {"import", "slack", "newest"} <= {*runs()["pairs"]}
    monkeypatch.setattr(program, "PRETRAINED", tmp_path / "nothing")
    ran = runs(format="pairs", name="untimed")
    assert "thread" in ran["pairs"]
    assert "import" not in ran["pairs"]
    assert "vectors" not in ran
    assert "word_vectors" not in ran["model"][-1]
    assert "newest" in runs("--time_field=at", format="pairs", name="timed")["pairs"]


def test_other_options_are_taken_where_no_step_has_ended(runs):
    with pytest.raises(InputError):
        runs(fails_at="pairs", format="discord")
    assert "slack" in runs(format="slack")["pairs"]


def test_a_bad_file_of_labelled_pairs_ends_before_training(runs, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("left,right,mark\na,b,1\n")
    with pytest.raises(InputError, match=r"bad\.csv"):
        runs(labelled=path)


def test_warnings_that_differ_in_fractions_alone_are_one(tmp_path, monkeypatch, capsys):
    (tmp_path / "says.py").write_text("for n in (0.1, 0.25): print(f'warning: {n} is low')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    own._run(tmp_path, "model", ["says"])
    assert capsys.readouterr().out.split() == ["warning:", "0.25", "is", "low"]


def test_an_interrupt_waits_for_the_step_to_save(tmp_path, monkeypatch):
    (tmp_path / "saves.py").write_text(
        "import os, signal, time\n"
        "def save(*_):\n    time.sleep(1)\n    open('saved', 'w')\n    os._exit(0)\n"
        "signal.signal(signal.SIGTERM, save)\n"
        "os.kill(os.getppid(), signal.SIGINT)\ntime.sleep(60)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        own._run(tmp_path, "model", ["saves"])
    signal.signal(signal.SIGINT, before)
    assert (tmp_path / "saved").exists()


def test_it_says_that_a_rival_is_not_installed(runs, monkeypatch, capsys):
    monkeypatch.setattr(own, "find_spec", lambda name: None)
    assert "--sentence_transformers" not in runs()["baselines"]
    assert "all-MiniLM-L6-v2 is not installed" in capsys.readouterr().out
    installed = SimpleNamespace(submodule_search_locations=["/minilm"])
    monkeypatch.setattr(own, "find_spec", lambda name: installed)
    ran = runs(name="with_minilm")
    assert "all-MiniLM-L6-v2=/minilm/model" in ran["baselines"]
    assert "trainer.early_stopping_patience" in ran["model"][-1]


def test_encoders_that_a_user_names_are_rivals_too(runs, tmp_path, capsys):
    (tmp_path / "potion").mkdir()
    ran = runs(rivals=(f"{tmp_path}/potion",))
    assert f"{tmp_path}/potion" in ran["baselines"]
    assert ", potion" in capsys.readouterr().out
    with pytest.raises(InputError, match="--rivals"):
        runs(name="missing", rivals=(f"{tmp_path}/missing",))


@pytest.mark.slow
def test_from_an_export_to_a_verdict_with_a_kill_in_between(tmp_path):
    write(tmp_path / "messages.jsonl", threads=400)
    rows = "".join(f"a {word},a {word},1\na {word},the sun,0\n" for word in WORDS)
    (tmp_path / "labelled.csv").write_text(f"sentence1,sentence2,score\n{rows}")
    command = (sys.executable, "-m", *PAGE.words, "--labelled", "labelled.csv")
    static = ("--module", program.PRETRAINED, "--to", "model2vec", "--output", "static")
    assert ended(start(tmp_path, sys.executable, "-m", "export", "formats", *static))[0] == 0
    command += ("--rivals", "static")
    process, made = start(tmp_path, *command), tmp_path / "own"
    while not (made / "vocabulary" / "COMPLETED").exists() and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 143
    status, said = ended(start(tmp_path, *command))
    assert status == 0, said
    lines = said.splitlines()
    (verdict,) = (line for line in lines if line.startswith("For replies"))
    assert "is not known" in verdict
    assert "; for sts-labelled, " in verdict
    assert verdict in (made / "report.html").read_text()
    assert {path.name for path in (made / "results" / "baselines").iterdir()} >= {
        *("BM25", "TF-IDF", "WordLlama", "Universal_Sentence_Encoder", "conversations-small"),
        "static",
    }
    # What the command prints last can be run.
    (load, search) = (
        shlex.split(line)[1:] for line in lines if line.startswith(f"  {sys.executable}")
    )
    runtime = {"PYTHONPATH": f"{REPOSITORY / 'runtime'}"}
    subprocess.run([sys.executable, *load], cwd=tmp_path, env=os.environ | runtime, check=True)
    status, found = ended(start(tmp_path, sys.executable, *search))
    assert status == 0
    assert "\n  1  " in found

    module = made / "module" / "saved_model.pb"
    before = module.stat().st_mtime_ns
    status, again = ended(start(tmp_path, *command))
    assert status == 0
    assert verdict in again
    assert module.stat().st_mtime_ns == before
    write(tmp_path / "messages.jsonl", threads=300)
    status, said = ended(start(tmp_path, *command))
    assert status == 1
    assert module.stat().st_mtime_ns == before
