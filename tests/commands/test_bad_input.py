"""Each kind of bad input ends in one line that names it, a status other than 0, and no new output.

A case for each mechanism of docs/bad_input.md; the tests of each program have more. Of two commands
started together on one folder, it is whole and of one job, or untouched.
"""

import gzip
import json
import random
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import google_crc32c
import pytest
import yaml

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


def cut_off(name):
    def change(folder):
        (path,) = folder.glob(name)
        path.write_bytes(path.read_bytes()[:100])

    return change


def not_a_module(ready, here):
    (here / "module").mkdir()
    (here / "module" / "notes.txt").write_text("mine")


REDDIT = "data_pipeline reddit --output out --input"
MODEL = (
    "model --experiment reddit --mode train --model_dir run --config_file {ready}/tiny.yaml "
    "--params_override task.train_data.input_path={ready}/pairs/train-*"
)
STS = "evaluation sts --module {ready}/module0 --output results --data"
CASES = [
    # Options: an unknown one, one that is missing, a value out of its range
    Case("--speed", f"{REDDIT} {{ready}}/world/reddit/RC_* --speed 9"),
    Case("--output", "data_pipeline snli --input n.jsonl"),
    Case("--test_fraction", f"{REDDIT} {{ready}}/world/reddit/RC_* --test_fraction 1.5"),
    Case("NoSuchRunner", f"{REDDIT} {{ready}}/world/reddit/RC_* --runner NoSuchRunner"),
    Case("task.model.score_scal", f"{MODEL} --params_override task.model.score_scal=5"),
    Case("task.train_data.input_path", "model --experiment reddit --mode train --model_dir run"),
    Case("nosuch", "model.sts_regression run --data . --vectors g.txt --output out --rows nosuch"),
    # Files and folders that are not there, or cannot be read
    Case("nowhere/RC_*", f"{REDDIT} nowhere/RC_*"),
    Case("RC.gz", f"{REDDIT} RC.gz", file("RC.gz", gzip.compress(lines(COMMENT))[:-9])),
    Case("nosuch", f"{REDDIT} nosuch://bucket/RC_*"),
    Case("nowhere.txt", "model teacher --encoder {ready}/module0 --texts nowhere.txt --output out"),
    Case("nowhere", "export --model_dir nowhere --output module"),
    Case("ckpt-40", "export --model_dir run --output module", copied("run0", "run", flipped)),
    Case(
        "ckpt-40",
        f"{MODEL},task.seed=1,trainer.train_steps=50",
        copied("run0", "run", cut_off("ckpt-40.data*")),
    ),
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
    Case("r.txt", "export index --module {ready}/module0 --texts r.txt", file("r.txt", b"\n\n")),
    # What would be lost, or mixed
    Case("out/train-RC-of-2015.json", f"{REDDIT} out/train-RC-of-2015.json", in_output),
    Case("--overwrite", f"{REDDIT} {{ready}}/world/reddit/RC_*", copied("pairs", "out")),
    Case("--model_dir", MODEL.replace("--model_dir run", "--model_dir {ready}/pairs")),
    Case("task.seed", f"{MODEL},task.seed=9", copied("run0", "run")),
    Case("module", "export --model_dir {ready}/run0 --output module", not_a_module),
    Case("results1", "export card --module {ready}/module0 --results {ready}/results1"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.command.split()[0]}-{case.named}")
def test_bad_input_ends_in_one_line_that_names_it(case, run, ready, tmp_path):
    here, log = tmp_path / "here", tmp_path / "log"
    here.mkdir()
    if case.make is not None:
        case.make(ready.folder, here)
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    argv = shlex.split(case.command.format(ready=ready.folder))
    (status,) = run({"argv": argv, "log": log, "folder": here})
    text = log.read_text()
    assert status in (1, 2), text
    assert "Traceback" not in text, text
    (error,) = [line for line in text.splitlines() if re.search(r"\berror: ", line)]
    assert case.named in error
    found = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    assert {path: found.get(path) for path in before} == before
    assert not [path for path in found.keys() - before.keys() if path.name == "COMPLETED"]


SEED = 20
KINDS = ("reddit", "snli", "vocabulary", "sample", "model", "export", "sts", "report")
SECONDS_APART = 3.0


def require_whole(folder, ready, logs):
    """Whatever lies in the folder is whole, and of one command of its kind."""
    names = {path.name for path in folder.iterdir()}
    assert not any(name.endswith((".partial", ".tmp", ".new")) for name in names), names
    assert "_claim" not in names
    assert "_incomplete" not in names
    if "COMPLETED" in names:
        require_whole_output(folder, names)
    else:
        assert not [name for name in names if name.endswith(".tfrecord")], logs
    if "params.yaml" in names:
        require_whole_run(folder, ready.folder)
    if "saved_model.pb" in names:
        require_whole_module(folder)
    for path in folder.glob("*.json"):
        json.loads(path.read_text())
    if "report.html" in names:
        assert (folder / "report.html").read_text().rstrip().endswith("</html>")


def require_whole_output(folder, names):
    outputs = json.loads((folder / "COMPLETED").read_text())["outputs"]
    for name, said in outputs.items():
        content = (folder / name).read_bytes()
        assert said["bytes"] == len(content)
        assert said["crc32c"] == f"{google_crc32c.value(content):08x}"
    assert {name for name in names if name.endswith(".tfrecord")} <= outputs.keys()


def require_whole_run(folder, ready):
    import tensorflow as tf

    seed = yaml.safe_load((folder / "params.yaml").read_text())["task"]["seed"]
    last = tf.train.latest_checkpoint(str(folder))
    if last is None:  # refused or stopped before its first checkpoint
        return
    assert last.endswith("ckpt-40")
    reference = tf.train.load_checkpoint(str(ready / f"run{seed - 1}"))
    found = tf.train.load_checkpoint(last)
    for name in found.get_variable_to_shape_map():
        if name.startswith("model/"):
            assert (found.get_tensor(name) == reference.get_tensor(name)).all(), name


def require_whole_module(folder):
    from common.saved_model import fingerprint
    from export.card import identity

    assert identity.read(folder)["fingerprint"] == fingerprint(folder)


def drawn(number):
    """Two commands, and after how many seconds each starts: most draws pair a kind with itself."""
    draw = random.Random(SEED * 1000 + number)
    first = second = KINDS[number]
    if number % 4 == 3:
        second = draw.choice([other for other in KINDS if other != first])
    return [
        (first, 0, draw.uniform(0, SECONDS_APART) * draw.randint(0, 1)),
        (second, 1, draw.uniform(0, SECONDS_APART)),
    ]


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_two_commands_on_one_folder(run, ready, tmp_path_factory, number):
    folder = tmp_path_factory.mktemp("draw") / "shared"
    pair = drawn(number)
    logs = [folder.with_name(f"log{index}") for index in range(len(pair))]
    statuses = run(
        *(
            {"argv": ready.argv(kind, version, folder), "after": after, "log": log}
            for (kind, version, after), log in zip(pair, logs, strict=True)
        )
    )
    said = {f"{pair[i]} -> {statuses[i]}": logs[i].read_text()[-2000:] for i in range(len(pair))}
    report = "\n".join(f"{name}\n{text}" for name, text in said.items())
    assert 0 in statuses, report
    for status, log in zip(statuses, logs, strict=True):
        text = log.read_text()
        assert "Traceback" not in text, report
        if status:
            (error,) = [line for line in text.splitlines() if line.startswith("error: ")]
            assert str(folder) in error, report
    require_whole(folder, ready, report)
