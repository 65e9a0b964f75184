"""What the commands say of bad input: docs/bad_input.md, which is what this test saw.

Each command ends with one line and a status other than 0. `WRITE_DOCS=1` in the environment writes
the page anew instead of comparing it.
"""

import gzip
import json
import os
import re
import shlex
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "bad_input.md"
HEAD = """\
# Bad input, and what the commands say

Every command prints one line to standard error, exits with a status other than 0, and leaves the
files that were there as they were. Where an option is missing, or its value is none of a list, the
usage comes before that line. `tests/commands/test_bad_input.py` runs every row and compares
this page with the result. `world/`, `pairs/`, `nli/`, `run0/`, `module0/` and `results0/` belong to
a sample that the test makes first.

| given | command (`python -m ...`) | what it says | status |
|---|---|---|---|
"""
COMMENT = {
    "id": "c1",
    "parent_id": "t1_c0",
    "link_id": "t3_p",
    "subreddit": "news",
    "author": "someone",
    "body": "the words of somebody",
}
SUBMISSION = {"id": "p", "title": "a title", "selftext": "words", "subreddit": "news"}
TICKET = {"ticket": 7, "question": "where is it", "answer": "over there"}


_CHECKSUM = re.compile(r"\b(?:[0-9a-f]{40,}|\d{8,})\b")
"""They follow from the last digits of a training, which differ between machines."""


def lines(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


class Case(NamedTuple):
    given: str
    command: str
    make: Callable[[Path, Path], object] | None = None
    """Of the folder of what is ready and of the one to work in."""


def file(name, content):
    return lambda ready, here: (here / name).write_bytes(content)


def zipped(ready, here):
    with zipfile.ZipFile(here / "RC.zip", "w") as archive:
        archive.writestr("RC", "x")


def in_output(ready, here):
    (here / "out").mkdir()
    (here / "out" / "train-RC-of-2015.json").write_bytes(lines(COMMENT))


def of_another_job(ready, here):
    shutil.copytree(ready / "pairs", here / "out")


def model_dir(change):
    def make(ready, here):
        shutil.copytree(ready / "run0", here / "run")
        change(here / "run")

    return make


def cut_off(folder):
    (data,) = folder.glob("ckpt-40.data*")
    data.write_bytes(data.read_bytes()[:-100])


def flipped(folder):
    (data,) = folder.glob("ckpt-40.data*")
    content = bytearray(data.read_bytes())
    content[len(content) // 2] ^= 255
    data.write_bytes(content)


def results(change):
    def make(ready, here):
        shutil.copytree(ready / "results0", here / "results")
        path = here / "results" / "sts-test.json"
        path.write_text(change(path.read_text()))

    return make


def without(key):
    def change(text):
        result = json.loads(text)
        del result[key]
        return json.dumps(result)

    return change


def sts(rows):
    def make(ready, here):
        for name in ("train", "dev", "test"):
            (here / f"sts-{name}.csv").write_text(rows)

    return make


def not_a_module(ready, here):
    (here / "module").mkdir()
    (here / "module" / "notes.txt").write_text("mine")


REDDIT = "data_pipeline reddit --output out --input"
MODEL = (
    "model --experiment reddit --mode train --model_dir run --config_file {ready}/tiny.yaml "
    "--params_override task.train_data.input_path={ready}/pairs/train-*"
)
STS = "evaluation sts --module {ready}/module0 --output results --data"
RATE = "trainer.optimizer_config.learning_rate"
CASES = [
    # The pipeline
    Case("a pattern that matches nothing", f"{REDDIT} nowhere/RC_*"),
    Case("a folder instead of files", f"{REDDIT} {{ready}}/world/reddit"),
    Case("a zip archive", f"{REDDIT} RC.zip", zipped),
    Case(
        "UTF-16 text",
        f"{REDDIT} RC.json",
        file("RC.json", lines(COMMENT).decode().encode("utf-16")),
    ),
    Case("a dump of submissions", f"{REDDIT} RS.json", file("RS.json", lines(*[SUBMISSION] * 3))),
    Case("an export of tickets", f"{REDDIT} t.jsonl", file("t.jsonl", lines(*[TICKET] * 3))),
    Case("comments without a pair", f"{REDDIT} RC.json", file("RC.json", lines(COMMENT))),
    Case(
        "an archive that is cut off",
        f"{REDDIT} RC.gz",
        file("RC.gz", gzip.compress(lines(COMMENT))[:-9]),
    ),
    Case("gzip under a plain name", f"{REDDIT} RC", file("RC", gzip.compress(lines(COMMENT)))),
    Case("an empty archive", f"{REDDIT} RC.zst", file("RC.zst", b"")),
    Case("the input in the output folder", f"{REDDIT} out/train-RC-of-2015.json", in_output),
    Case("the output of another job", f"{REDDIT} {{ready}}/world/reddit/RC_*", of_another_job),
    Case(
        "somebody's file in the way",
        f"{REDDIT} {{ready}}/world/reddit/RC_*",
        lambda ready, here: (
            (here / "out").mkdir() or (here / "out/statistics.json").write_text("1")
        ),
    ),
    Case("a fraction beyond 1", f"{REDDIT} {{ready}}/world/reddit/RC_* --test_fraction 1.5"),
    Case(
        "a subreddit that is not there", f"{REDDIT} {{ready}}/world/reddit/RC_* --subreddits nosuch"
    ),
    Case("an unknown option", f"{REDDIT} {{ready}}/world/reddit/RC_* --speed 9"),
    Case("an unknown runner", f"{REDDIT} {{ready}}/world/reddit/RC_* --runner NoSuchRunner"),
    Case("a store without its client", f"{REDDIT} nosuch://bucket/RC_*"),
    Case(
        "conversations without parents",
        "data_pipeline conversations --input t.jsonl --output out --id_field ticket "
        "--text_field answer",
        file("t.jsonl", lines(*[TICKET] * 3)),
    ),
    Case(
        "a field that no row has",
        "data_pipeline pairs --input t.jsonl --output out --input_field question "
        "--response_field reply",
        file("t.jsonl", lines(*[TICKET] * 3)),
    ),
    Case(
        "a CSV file without a header",
        "data_pipeline pairs --input t.csv --output out --input_field question "
        "--response_field answer",
        file("t.csv", b"7,where is it,over there\n8,when,now\n"),
    ),
    Case(
        "NLI lines of another form",
        "data_pipeline snli --input n.jsonl --output out",
        file("n.jsonl", lines(*[TICKET] * 3)),
    ),
    Case(
        "a file of no known kind",
        "data_pipeline snli --input n.csv --output out",
        file("n.csv", b"a,b\n"),
    ),
    Case(
        "words of a file that holds no pairs",
        "data_pipeline vocabulary --input w.jsonl --output out",
        file("w.jsonl", lines(TICKET)),
    ),
    Case("a sample of no comments", "data_pipeline sample --output out --comments 0"),
    # Training
    Case("an unknown experiment", "model --experiment nosuch --mode train --model_dir run"),
    Case("an unknown parameter", f"{MODEL} --params_override task.model.score_scal=5"),
    Case("a value of another type", f"{MODEL} --params_override task.model.score_scale=abc"),
    Case(
        "a negative rate",
        f"{MODEL},{RATE}.type=constant,{RATE}.constant.learning_rate=-0.1",
    ),
    Case(
        "dropout beyond 1",
        f"{MODEL} --params_override task.model.encoder.averaging.word_dropout=1.5",
    ),
    Case("no training data", "model --experiment reddit --mode train --model_dir run"),
    Case(
        "test files to train on",
        f"{MODEL} --params_override task.train_data.input_path={{ready}}/pairs/test-*",
    ),
    Case(
        "records of NLI for a model of replies",
        f"{MODEL} --params_override task.train_data.input_path={{ready}}/nli/nli-*",
    ),
    Case(
        "pairs in the model folder", MODEL.replace("--model_dir run", "--model_dir {ready}/pairs")
    ),
    Case("a run with other parameters", f"{MODEL},task.seed=9", model_dir(lambda folder: None)),
    Case(
        "a checkpoint that is cut off",
        f"{MODEL},task.seed=1,trainer.train_steps=50",
        model_dir(cut_off),
    ),
    Case(
        "nothing to evaluate",
        MODEL.replace("--mode train", "--mode eval")
        + ",task.validation_data.input_path={ready}/pairs/test-*",
    ),
    Case(
        "texts for a teacher that are not there",
        "model teacher --encoder {ready}/module0 --texts nowhere.txt --output out",
    ),
    Case(
        "a folder of pairs for a teacher's embeddings",
        "model teacher --encoder {ready}/module0 --texts {ready}/pairs/train-* --output out",
        of_another_job,
    ),
    # The exporter
    Case("a folder without a model", "export --model_dir nowhere --output module"),
    Case(
        "a checkpoint with flipped bytes",
        "export --model_dir run --output module",
        model_dir(flipped),
    ),
    Case(
        "an output that is not a module",
        "export --model_dir {ready}/run0 --output module",
        not_a_module,
    ),
    Case(
        "results of another module",
        "export card --module {ready}/module0 --results {ready}/results1",
    ),
    Case(
        "a file that is not a matrix",
        "export --model_dir {ready}/run0 --output module --with_sts_matrix m.npz",
        file("m.npz", b"x"),
    ),
    Case(
        "responses without a text",
        "export index --module {ready}/module0 --responses r.txt",
        file("r.txt", b"\n\n"),
    ),
    # The evaluation
    Case(
        "a folder that is not a module",
        "evaluation sts --module nowhere --data {ready}/world/stsb --output results",
    ),
    Case("no data", "evaluation sts --module {ready}/module0 --data nowhere --output results"),
    Case(
        "a score beyond the scale",
        "evaluation sts --module {ready}/module0 --data . --output results",
        sts("g\tf\t1\t1\t7.5\ta b\tc d\n"),
    ),
    Case(
        "too few columns",
        "evaluation sts --module {ready}/module0 --data . --output results",
        sts("g\tf\t1\n"),
    ),
    Case(
        "a negative seed",
        f"{STS} {{ready}}/world/stsb --seed -1",
    ),
    Case(
        "an output below a file",
        "evaluation sts --module {ready}/module0 --data {ready}/world/stsb --output f.csv/x",
        file("f.csv", b""),
    ),
    Case(
        "more ranks than candidates",
        "evaluation response_ranking --module {ready}/module0 --data {ready}/pairs "
        "--output results --at 200",
    ),
    Case("an empty folder of results", "evaluation report --results . --output report.html"),
    Case(
        "a result without a field",
        "evaluation report --results results --output report.html",
        results(without("metrics")),
    ),
    Case(
        "a result that is cut off",
        "evaluation report --results results --output report.html",
        results(lambda text: text[:100]),
    ),
    Case(
        "an unknown system",
        "evaluation compare {ready}/results0 {ready}/results1 --system_a nosuch",
    ),
    Case("results that are not there", "evaluation compare {ready}/results0 nowhere"),
    Case(
        "a file that is not a CQA file",
        "evaluation cqa --module {ready}/module0 --data q.xml --output results",
        file("q.xml", b"<xml>"),
    ),
    Case(
        "an unknown row",
        "model.sts_regression run --data . --vectors glove.txt --output out --rows nosuch",
    ),
]


def said(case, server, ready, here):
    """What a command printed, its paths shortened, and its status."""
    here.mkdir()
    if case.make is not None:
        case.make(ready, here)
    os.chdir(here)
    log = here.with_suffix(".log")
    argv = shlex.split(case.command.format(ready=ready))
    (status,) = server.run({"argv": argv, "log": log, "folder": here})
    text = log.read_text()
    assert "Traceback" not in text, text
    (error,) = [line for line in text.splitlines() if re.search(r"\berror: ", line)]
    for folder in (here, ready):
        error = error.replace(f"{folder}/", "").replace(str(folder), ".")
    return _CHECKSUM.sub("...", error), status


def row(case, error, status):
    command = case.command.replace("{ready}/", "")
    cells = (case.given, f"`{command}`", error.replace("|", "\\|"), status)
    return "| {} | {} | {} | {} |".format(*cells)


def test_the_page_says_what_the_commands_say(server, ready, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = []
    for number, case in enumerate(CASES):
        error, status = said(case, server, ready.folder, tmp_path / str(number))
        assert status in (1, 2), (case, error)
        rows.append(row(case, error, status))
    assert len(rows) >= 40
    page = HEAD + "\n".join(rows) + "\n"
    if os.environ.get("WRITE_DOCS"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page
