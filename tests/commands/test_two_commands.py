"""Two commands started together on one folder: the folder is whole and of one job, or untouched."""

import json
import random

import google_crc32c
import pytest
import yaml

SEED = 20
KINDS = ("reddit", "snli", "vocabulary", "sample", "model", "export", "sts", "report")
SECONDS_APART = 3.0
pytestmark = pytest.mark.slow


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
