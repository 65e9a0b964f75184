"""Each kind of bad input ends in one line that names it, a status other than 0, and no new output.

A case for each mechanism of docs/bad_input.md; the tests of each program have more.
"""

import gzip
import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from common.files import CLAIM, claim
from tests.commands.conftest import words_of

pytestmark = pytest.mark.slow

COMMENT = {
    "id": "c1",
    "parent_id": "t1_c0",
    "link_id": "t3_p",
    "subreddit": "news",
    "author": "someone",
    "body": "the words of somebody",
}
TICKET = {"ticket": 7, "question": "where is it", "answer": "over there"}


def lines(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


class Case(NamedTuple):
    named: str
    """What the line must name."""
    command: str
    make: Callable[[Path, Path], object] | None = None
    """Of the folder of what is ready and of the one to work in."""


def file(name, content):
    return lambda ready, here: (here / name).write_bytes(content)


def in_output(ready, here):
    (here / "out").mkdir()
    (here / "out" / "train-RC-of-2015.json").write_bytes(lines(COMMENT))


def copied(source, target, change=lambda folder: None):
    def make(ready, here):
        shutil.copytree(ready / source, here / target)
        change(here / target)

    return make


def flipped(folder):
    (data,) = folder.glob("ckpt-40.data*")
    content = bytearray(data.read_bytes())
    content[len(content) // 2] ^= 255
    data.write_bytes(content)


REDDIT = "data_pipeline reddit --output out --input"
MODEL = (
    "model --experiment reddit --mode train --model_dir run --config_file {ready}/tiny.yaml "
    "--params_override task.train_data.input_path={ready}/pairs/train-*"
)
STS = "evaluation sts --module {ready}/module0 --output results --data"
CASES = [
    # Options: one that is missing, a value out of its range
    Case("--output", "data_pipeline snli --input n.jsonl"),
    Case("--test_fraction", f"{REDDIT} {{ready}}/world/reddit/RC_* --test_fraction 1.5"),
    Case("task.model.score_scal", f"{MODEL} --params_override task.model.score_scal=5"),
    Case("task.train_data.input_path", "model --experiment reddit --mode train --model_dir run"),
    Case("nosuch", "model.sts_regression run --data . --vectors g.txt --output out --rows nosuch"),
    # Files that are not there, or cannot be read
    Case("RC.gz", f"{REDDIT} RC.gz", file("RC.gz", gzip.compress(lines(COMMENT))[:-9])),
    Case("nowhere.txt", "model teacher --encoder {ready}/module0 --texts nowhere.txt --output out"),
    Case("ckpt-40", "export --model_dir run --output module", copied("run0", "run", flipped)),
    Case(
        "m.npz",
        "export --model_dir {ready}/run0 --output module --with_sts_matrix m.npz",
        file("m.npz", b"x"),
    ),
    # Lines that cannot be read, or all of them without a use
    Case("t.jsonl", f"{REDDIT} t.jsonl", file("t.jsonl", lines(*[TICKET] * 3))),
    Case("n.jsonl", "data_pipeline snli --input n.jsonl --output out", file("n.jsonl", b"{}\n")),
    Case("pairs", f"{REDDIT} RC.json", file("RC.json", lines(COMMENT))),
    Case(
        "reply",
        "data_pipeline pairs --input t.jsonl --output out --input_field question "
        "--response_field reply",
        file("t.jsonl", lines(*[TICKET] * 3)),
    ),
    Case("sts-dev.csv:1", f"{STS} sts-dev.csv", file("sts-dev.csv", b"g\tf\t1\t1\t7.5\ta\tb\n")),
    # What would be lost, or mixed
    Case("out/train-RC-of-2015.json", f"{REDDIT} out/train-RC-of-2015.json", in_output),
    Case("--overwrite", f"{REDDIT} {{ready}}/world/reddit/RC_*", copied("pairs", "out")),
    Case("--model_dir", MODEL.replace("--model_dir run", "--model_dir {ready}/pairs")),
    Case("task.seed", f"{MODEL},task.seed=9", copied("run0", "run")),
    Case("results1", "export card --module {ready}/module0 --results {ready}/results1"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.command.split()[0]}-{case.named}")
def test_bad_input_ends_in_one_line_that_names_it(case, run, ready, tmp_path):
    here, log = tmp_path / "here", tmp_path / "log"
    here.mkdir()
    if case.make is not None:
        case.make(ready, here)
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    argv = shlex.split(case.command.format(ready=ready))
    status = run(argv, log, here)
    text = log.read_text()
    assert status in (1, 2), text
    assert "Traceback" not in text, text
    (error,) = [line for line in text.splitlines() if re.search(r"\berror: ", line)]
    assert case.named in error
    found = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert {path: found.get(path) for path in before} == before
    assert not [path for path in found.keys() - before.keys() if path.name == "COMPLETED"]


CLAIMS = dict.fromkeys(("reddit", "snli", "vocabulary", "sample", "model", "export"), CLAIM)
CLAIMS |= {"sts": ".sts-dev.claim"}
"""What each command holds while it works in a folder."""


@pytest.mark.parametrize("kind", CLAIMS)
def test_a_folder_that_another_command_works_in_is_left_alone(kind, run, ready, tmp_path):
    folder, log = tmp_path / "shared", tmp_path / "log"
    with claim(folder, name=CLAIMS[kind]):
        status = run(words_of(kind, folder, ready=ready), log)
        assert [path.name for path in folder.iterdir()] == [CLAIMS[kind]]
    text = log.read_text()
    assert status == 1, text
    assert "Traceback" not in text, text
    (error,) = [line for line in text.splitlines() if line.startswith("error: ")]
    assert str(folder) in error
