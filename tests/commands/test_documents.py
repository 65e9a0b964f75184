"""What the documents say can be done: links lead somewhere, commands run as they stand."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest
from backports import zstd

from data_pipeline.execution.runner import pipeline_options
from model.configs import parsing
from tests.commands.documents import (
    DOCUMENTS,
    REPOSITORY,
    anchors,
    blocks,
    commands,
    links,
    section,
)
from tests.goldens import surface

README = REPOSITORY / "README.md"
QUICKSTARTS = {
    "data engineer": "### Data engineer: from a dump to training pairs",
    "trainer": "### Training: from pairs to a scored module",
    "downstream": "### Downstream: search and replies with the module",
}
MODULE = "runs/module"
"""What the quickstarts leave."""
# bad_input.md has a test of its own.
COMMANDS = [one for path in DOCUMENTS if path.stem != "bad_input" for one in commands(path)]
NOT_RUN = {
    r"^(model|model\.sts_regression) ": "trains for minutes",
    r"^common\.own ": "tests/commands/test_own.py",
    r"^model\.configs\.reference": "tests/model/configs/test_parsing.py",
    r"--runner=|s3://|^tests\.": "needs an engine or a store: tests/engines",
    r"^benchmarks\.|glove": "needs real data",
    r"--(data|response_ranking) pairs/": "ranks among 100: the trainer's quickstart does",
    r"^examples/": "tests/export/test_examples.py",
    r"runs/": "one quickstart after the other: below",
    r"^pytest |^pip ": "no program of this project",
}
"""Patterns of commands that are parsed only, and why."""


def runs(command):
    said = " ".join(command.words)
    return command.is_whole and not any(re.search(pattern, said) for pattern in NOT_RUN)


def identify(command):
    return f"{command.document}: {' '.join(command.words)[:60]}"


DIFFERENT = {tuple(one.words): one for one in COMMANDS if runs(one)}
"""Commands that run, each once, however many documents show it."""


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_to_files_and_headings(path):
    for name, anchor in links(path):
        target = path.parent / name if name else path
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


def test_every_page_of_docs_is_linked_from_the_readme():
    linked = {(REPOSITORY / name).resolve() for name, _ in links(README)}
    assert {path.resolve() for path in (REPOSITORY / "docs").glob("*.md")} <= linked


def test_the_tests_that_situations_names_exist():
    page = (REPOSITORY / "docs" / "situations.md").read_text()
    names = set(re.findall(r"::(test_\w+)", page))
    tests = "\n".join(path.read_text() for path in (REPOSITORY / "tests").rglob("test_*.py"))
    assert names and names <= set(re.findall(r"^def (test_\w+)\(", tests, re.MULTILINE))


def test_the_changelog_begins_with_the_version():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    newest = re.search(r"^## (\S+) - ", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest[1] == project["version"]


PARSERS = dict(surface.parsers())


def grammar(program, arguments):
    """The parser of a command, and its arguments."""
    default = {"model": "train", "export": "module", "common.own": "run"}.get(program)
    named = [default, *arguments] if default and arguments[0].startswith("-") else arguments
    return PARSERS[f"python -m {program} {named[0]}"], named[1:]


def check(command):
    program, *arguments = command.words
    if program.startswith("examples/"):
        assert program == "examples/NAME.py" or (REPOSITORY / program).exists()
        return
    if program in ("pytest", "pip"):
        return
    if program.startswith(("benchmarks", "tests", "model.configs")):
        text = (REPOSITORY / f"{program.replace('.', '/')}.py").read_text()
        for word in arguments:
            name = word.partition("=")[0].removeprefix("--")
            assert not word.startswith("--") or re.search(rf"\b{name}\b", text), word
        return
    parser, arguments = grammar(program, arguments)
    if not command.is_whole:
        given = {word.partition("=")[0] for word in arguments if word.startswith("--")}
        assert given <= parser._option_string_actions.keys()
    elif program == "data_pipeline":
        _, beam = parser.parse_known_args(arguments)
        pipeline_options(beam)
    elif program == "common.own":
        given, others = parser.parse_known_args(arguments)
        parser, arguments = grammar("data_pipeline", [given.format, *others])
        parser.parse_args([*arguments, "--input", *given.input, "--output", "pairs/"])
    else:
        given = parser.parse_args(arguments)
        if hasattr(given, "experiment"):
            names = {"config_files": "config_file", "params_override": "params_override"}
            parts = {name: getattr(given, option, ()) for name, option in names.items()}
            parsing.parse(experiment=given.experiment, **parts)


@pytest.mark.parametrize("command", COMMANDS, ids=identify)
def test_a_command_can_be_parsed(command, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    check(command)


def test_some_commands_are_run():
    assert len([one for one in COMMANDS if runs(one)]) > 15
    assert PROGRAMS


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(scope="module")
def workplace(ready, tmp_path_factory):
    """A folder with what the documents' commands read, under the names that they use."""
    here = tmp_path_factory.mktemp("documents")
    copies = {
        **{name: ready / name for name in ("pairs", "nli")},
        **{"run": ready / "run0", "module": ready / "module0", "results": ready / "results0"},
        **{"other_results": ready / "results1", "pretrained_results": ready / "results1"},
        "stsb": ready / "world" / "stsb",
        **{"semeval_cqa": ready / "world" / "semeval_cqa", "dumps": ready / "world" / "reddit"},
    }
    for name, source in copies.items():
        shutil.copytree(source, here / name)
    shutil.copytree(ready / "results0", here / "regressors" / "results")
    posts = lines({"id": f"{i}", "title": f"what is {i}"} for i in range(9))
    (here / "dumps" / "RS_2020-01.zst").write_bytes(zstd.compress(posts.encode()))
    nli = (ready / "world" / "nli" / "snli_1.0_train.jsonl").read_text()
    write(here / "snli_1.0_train.jsonl.gz", nli)
    talk = [
        (i, i - 1 if i % 9 else None, f"we all like number {i} " + "ab"[i % 2]) for i in range(90)
    ]
    keys = ("message_id", "in_reply_to", "said", "day", "nick")
    messages = (dict(zip(keys, (*one, one[0] // 9, "Ann"), strict=True)) for one in talk)
    write(here / "chat" / "a.jsonl.gz", lines(messages))
    turns = "".join(f"{i // 9},{i},{text}\n" for i, _, text in talk)
    write(here / "dialogues.csv", f"dialogue,turn,text\n{turns}")
    said = [{"channel": 1, "sent_at": 10**9 + i, "text": t, "user": i % 2} for i, _, t in talk]
    write(here / "channels" / "a.jsonl", lines(said))
    tickets = "".join(f"{i},what is {i} about,it is {i}\n" for i, *_ in talk)
    write(here / "tickets.csv", f"ticket,question,answer\n{tickets}")
    write(here / "faq.csv", f"id,question,answer\n{tickets}")
    scored = "".join(f"{text},we like it,{i % 5}\n" for i, _, text in talk)
    write(here / "pairs.csv", f"sentence1,sentence2,score\n{scored}")
    write(here / "queries.tsv", "q1\twhat do we like\nq2\tnumber 7\n")
    write(here / "documents.jsonl", lines({"id": f"d{i}", "text": text} for i, _, text in talk))
    write(here / "qrels.txt", "q1 0 d1 1\nq2 0 d7 1\n")
    exports = REPOSITORY / "tests" / "data_pipeline" / "sources" / "exports"
    shutil.copytree(exports / "mbox", here / "archive")
    shutil.copytree(exports / "stackexchange", here / "stackexchange")
    for name in ("replies.txt", "questions/a.txt"):
        write(here / name, "".join(f"{text}\n" for *_, text in talk))
    return here


@pytest.mark.slow
@pytest.mark.parametrize("command", DIFFERENT.values(), ids=map(identify, DIFFERENT.values()))
def test_a_command_runs_as_it_stands(command, workplace, run, tmp_path):
    here = tmp_path / "here"
    shutil.copytree(workplace, here)
    words = command.words
    if words[0] != "evaluation" and "--output" in words:
        shutil.rmtree(here / words[words.index("--output") + 1], ignore_errors=True)
    log = tmp_path / "log"
    assert run(words, log, here) == 0, log.read_text()
    assert "Traceback" not in log.read_text()


@pytest.mark.slow
def test_the_quickstarts_run_one_after_the_other(tmp_path):
    path = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"  # noqa: PTH120
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(REPOSITORY)}
    shell = ("bash", "-euo", "pipefail", "-c")
    said = {}
    for name, heading in QUICKSTARTS.items():
        (block,) = blocks(section(README.read_text(), heading))
        program = (sys.executable, "-c") if name == "downstream" else shell
        done = subprocess.run(
            [*program, block],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        said[name] = done.stdout
    assert '"train_pairs"' in said["data engineer"]
    assert "P@1" in said["trainer"]
    expected = re.findall(r"print\(.*\)  # (.*)", block)
    assert len(expected) == 2
    assert said["downstream"].splitlines() == expected


TRAINING_PAGE = (REPOSITORY / "docs" / "training.md").read_text()
PROGRAMS = [block for block in blocks(TRAINING_PAGE) if "import" in block]


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.splitlines()[0])
def test_a_program_of_the_training_page_runs(program, tmp_path):
    pairs = (
        "import tensorflow as tf\n"
        "pairs = tf.data.Dataset.from_tensors(('any question', 'its answer')).repeat(256)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-W", "ignore", "-c", pairs + program]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
