import dataclasses
import json
from pathlib import Path

import pytest

from evaluation.__main__ import main
from evaluation.analysis import snli_sweep
from evaluation.data.files import Source
from evaluation.errors import InputError
from evaluation.report import pictures
from evaluation.results import store
from evaluation.results.claim import claim

# Stand in for the three commands: each notes its arguments; the scores grow with the NLI files.
MODEL = """\
import json, pathlib, sys
arguments = dict(zip(sys.argv[1::2], sys.argv[2::2]))
folder = pathlib.Path(arguments["--model_dir"])
with open("calls.txt", "a") as file:
    file.write(f"model {folder.parent.name}\\n")
if pathlib.Path("fail").exists():
    sys.exit("first line\\nerror: no space left")
folder.mkdir(exist_ok=True)
(folder / "params.json").write_text(pathlib.Path(arguments["--config_file"]).read_text())
"""
EXPORT = """\
import pathlib, shutil, sys
_, _, model, _, module = sys.argv
with open("calls.txt", "a") as file:
    file.write(f"export {pathlib.Path(model).parent.name}\\n")
shutil.copytree(model, module)
"""
EVALUATION = """\
import json, pathlib, sys
assert sys.argv[1] == "sts"
arguments = dict(zip(sys.argv[2::2], sys.argv[3::2]))
task = json.loads((pathlib.Path(arguments["--module"]) / "params.json").read_text())["task"]
files = len(task["nli"]["train_data"]["input_path"])
r = 0.0 if "share" in task["nli"] else files / 20
results = pathlib.Path(arguments["--output"])
results.mkdir(exist_ok=True)
for name, more in (("sts-dev", 0.01), ("sts-test", 0.0)):
    found = {"task": "sts", "name": name, "system": "module", "n": 9}
    found["metrics"] = {"pearson": r + more}
    found["intervals"] = {"pearson": [r - 0.1, r + 0.1]}
    captions = {"metrics": {"pearson": r + 0.2}, "intervals": {"pearson": [r, r + 0.3]}}
    found["groups"] = {"main-captions": {"n": 5, **captions}}
    (results / f"{name}.json").write_text(json.dumps(found))
"""


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    """A sweep in a folder where the commands are the ones above; 25 NLI records in two files."""
    import tensorflow as tf

    monkeypatch.chdir(tmp_path)
    for name, code in (("model", MODEL), ("export", EXPORT), ("evaluation", EVALUATION)):
        Path(name).mkdir()
        Path(name, "__main__.py").write_text(code)
    for name, numbers in (("nli-0", range(13)), ("nli-1", range(13, 25))):
        with tf.io.TFRecordWriter(f"{name}.tfrecord") as writer:
            for number in numbers:
                writer.write(b"pair %d" % number)
    Path("preset.yaml").write_text("")
    Path("stsb").mkdir()
    for split in ("dev", "test"):
        Path("stsb", f"sts-{split}.csv").touch()
    Path("reddit").mkdir()
    return snli_sweep.Sweep(
        work=tmp_path / "work",
        init_checkpoint=tmp_path / "reddit",
        config_files=[tmp_path / "preset.yaml"],
        params_override="",
        pairs="pairs/train-*",
        nli=Source("nli", (tmp_path / "nli-0.tfrecord", tmp_path / "nli-1.tfrecord")),
        sts=tmp_path / "stsb",
        shares=(0, 50, 100),
        seed=3,
    )


def calls():
    found = Path("calls.txt").read_text().splitlines() if Path("calls.txt").exists() else []
    Path("calls.txt").unlink(missing_ok=True)
    return found


def run(sweep, **arguments):
    lines = []
    snli_sweep.run(sweep, processes=1, say=lines.append, **arguments)
    return lines


def test_every_share_is_trained_exported_and_scored(sweep):
    run(sweep)
    assert calls() == [
        f"{command} share-{share}"
        for share in ("000", "050", "100")
        for command in ("model", "export")
    ]
    found = snli_sweep.summary(sweep)
    assert [item["share"] for item in found.items] == [0.0, 0.5, 1.0]
    assert found.items[1]["dev"]["pearson"] == pytest.approx(0.26)
    assert found.items[2]["test"] == {
        "pearson": 0.5,
        "interval": [0.4, 0.6],
        "captions": 0.7,
        "captions_interval": [0.5, 0.8],
    }
    left = sorted(path.name for path in sweep.folder(50).iterdir())
    assert left == ["log.txt", "params.yaml", "results"]


def test_parameters_name_the_share(sweep):
    run(sweep)
    (half, nothing) = (
        json.loads((sweep.folder(share) / "params.yaml").read_text())["task"] for share in (50, 0)
    )
    assert half["init_checkpoint"] == str(sweep.init_checkpoint)
    assert half["train_data"]["input_path"] == "pairs/train-*"
    paths = half["nli"]["train_data"]["input_path"]
    assert [Path(path).name for path in paths] == [f"tenth-{i}.tfrecord" for i in range(5)]
    assert "share" not in half["nli"]
    assert nothing["nli"]["share"] == 0.0


def test_tenths_hold_every_record_once(sweep):
    import tensorflow as tf

    run(sweep)
    files = sorted((sweep.work / "nli").iterdir())
    tenths = [list(tf.data.TFRecordDataset(str(file)).as_numpy_iterator()) for file in files]
    assert [len(tenth) for tenth in tenths] == [3, 3, 3, 3, 3, 2, 2, 2, 2, 2]
    records = [record for tenth in tenths for record in tenth]
    assert sorted(records) == sorted(b"pair %d" % number for number in range(25))
    assert records != [b"pair %d" % number for number in range(25)]


def test_what_is_finished_is_not_done_again(sweep):
    run(sweep)
    calls()
    lines = run(dataclasses.replace(sweep, shares=(0, 50, 70, 100)))
    assert calls() == ["model share-070", "export share-070"]
    assert lines[0] == "0%: there already"
    # A module that was exported before the crash is only scored.
    (sweep.folder(70) / "results" / "sts-test.json").unlink()
    params = (sweep.folder(70) / "params.yaml").read_text()
    (sweep.folder(70) / "module").mkdir()
    (sweep.folder(70) / "module" / "params.json").write_text(params)
    run(dataclasses.replace(sweep, shares=(70,)))
    assert calls() == []


def test_a_failure_is_one_line_and_loses_nothing(sweep):
    run(dataclasses.replace(sweep, shares=(0,)))
    Path("fail").touch()
    with pytest.raises(InputError, match=r"log\.txt: python -m model failed with status 1: er"):
        run(sweep)
    Path("fail").unlink()
    calls()
    run(sweep)
    assert "model share-000" not in calls()


def test_another_sweep_is_refused(sweep):
    run(sweep)
    with pytest.raises(InputError, match="a sweep with seed 3, not 4; name another --work_dir"):
        run(dataclasses.replace(sweep, seed=4))
    (sweep.init_checkpoint / "ckpt-7.index").write_text("of other weights")
    with pytest.raises(InputError, match="a sweep with checkpoints "):
        run(sweep)
    (sweep.init_checkpoint / "ckpt-7.index").unlink()
    Path("preset.yaml").write_text("trainer: {train_steps: 7}")
    with pytest.raises(InputError, match="a sweep with config "):
        run(sweep)


@pytest.mark.parametrize(("name", "what"), [("sts-test.csv", "sts_files"), ("p-0", "pairs_files")])
def test_other_files_of_the_same_name_are_another_sweep(sweep, tmp_path, name, what):
    sweep = dataclasses.replace(sweep, sts=tmp_path, pairs=f"{tmp_path}/p-*")
    (tmp_path / name).write_text("before")
    run(sweep)
    (tmp_path / name).write_text("afterwards")
    with pytest.raises(InputError, match=f"a sweep with {what} "):
        run(sweep)


def test_the_command_writes_result_and_figure(sweep, tmp_path, capsys):
    argv = ["snli_sweep", "--init_checkpoint", "reddit", "--config_file", "preset.yaml"]
    argv += [
        "--pairs",
        "nli-*.tfrecord",
        "--nli",
        "nli-*.tfrecord",
        "--sts",
        "stsb",
        "--output",
        "out",
    ]
    assert main([*argv, "--shares", "0,100"]) == 0
    assert "0.5000 [0.400, 0.600]" in capsys.readouterr().out
    found = store.read(tmp_path / "out" / "snli_sweep.json")
    assert found.n == 2
    assert found.data["files"] == ["nli-0.tfrecord", "nli-1.tfrecord"]
    assert (tmp_path / "out" / "snli_sweep.svg").read_text().startswith("<?xml")
    for wrong in ("5", "a", "110"):
        assert main([*argv, "--shares", wrong]) == 1
        assert f"--shares is '{wrong}'" in capsys.readouterr().err


def test_figure_8_draws_what_there_is(sweep):
    run(sweep)
    found = snli_sweep.summary(sweep)
    drawn = pictures.nli_share(found.items)
    assert drawn.startswith("<?xml")
    for label in ("dev, all", "test, captions", "share of the NLI training data, %"):
        assert label in drawn
    items = [
        item | {split: item[split] | {"captions": None} for split in ("dev", "test")}
        for item in found.items
    ]
    assert "captions" not in pictures.nli_share(items)


def test_two_sweeps_do_not_share_a_work_folder(sweep, fails, tmp_path):
    argv = ["snli_sweep", "--init_checkpoint", "reddit", "--config_file", "preset.yaml"]
    argv += [
        "--pairs",
        "nli-*.tfrecord",
        "--nli",
        "nli-*.tfrecord",
        "--sts",
        "stsb",
        "--output",
        "out",
    ]
    with claim(tmp_path / "shared", command="points", folder=True):
        assert "is in use by process" in fails(*argv, "--work_dir", tmp_path / "shared")
