"""Checkpoints whose files are lost or damaged: found, or named; never begun anew in silence."""

import shutil

import numpy as np
import pytest
import tensorflow as tf

from model.checkpoints import files as checkpoint_files
from model.checkpoints import model_dir, trained
from model.errors import InputError
from model.training import run as training

WORDS = "model/encoder/_words/table/.ATTRIBUTES/VARIABLE_VALUE"
SLOT = "model/encoder/_words/table/.OPTIMIZER_SLOT/optimizer/accumulator/.ATTRIBUTES/VARIABLE_VALUE"


@pytest.fixture(scope="session")
def of_40_steps(parse, tmp_path_factory):
    """A run with ckpt-20, ckpt-40 and a best one."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    params = parse(trainer__train_steps=40, trainer__validation_interval=20)
    training.run_experiment(params, mode="train_and_eval", folder=str(folder))
    return folder


@pytest.fixture
def run(of_40_steps, tmp_path):
    """A copy of that run, to be damaged."""
    return shutil.copytree(of_40_steps, tmp_path / "run")


def steps_of(folder):
    return sorted(int(path.name[5:-6]) for path in folder.glob("ckpt-*.index"))


def damaged(folder, variable):
    """Flips a byte of a variable of ckpt-40."""
    value = tf.train.load_checkpoint(str(folder)).get_tensor(variable).tobytes()
    path = folder / "ckpt-40.data-00000-of-00001"
    content = bytearray(path.read_bytes())
    content[content.find(value) + len(value) // 2] ^= 1
    path.write_bytes(content)


LOSSES = {
    "removed": lambda path: path.unlink(),
    "empty": lambda path: path.write_text(""),
    "garbage": lambda path: path.write_bytes(b"\xff\x00garbage"),
    "of another text": lambda path: path.write_text("what is this\n"),
    "of one that is gone": lambda path: path.write_text('model_checkpoint_path: "ckpt-60"\n'),
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_the_last_is_found_without_the_file_that_names_it(tmp_path, lose):
    variable = tf.train.Checkpoint(variable=tf.Variable(1.0))
    for step in (100, 20, 40):
        variable.write(f"{tmp_path}/ckpt-{step}")
    state = tmp_path / "checkpoint"
    state.write_text("")
    lose(state)
    folder = str(tmp_path)
    assert checkpoint_files.last(folder) == f"{folder}/ckpt-100"
    assert checkpoint_files.notice(folder) == (
        f"{folder}/checkpoint names no checkpoint that is there; the last one is "
        f"{folder}/ckpt-100, found by its file name"
    )
    checkpoint_files.tidy(folder)
    assert checkpoint_files.notice(folder) is None
    found = tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths
    assert list(found) == [f"{folder}/ckpt-{step}" for step in (20, 40, 100)]


def test_what_the_file_names_is_the_last_though_a_newer_one_was_begun(tmp_path):
    variable = tf.train.Checkpoint(variable=tf.Variable(1.0))
    for step in (20, 40):
        variable.write(f"{tmp_path}/ckpt-{step}")
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "ckpt-20"\n')
    assert checkpoint_files.last(str(tmp_path)) == f"{tmp_path}/ckpt-20"
    assert checkpoint_files.last(str(tmp_path / "nowhere")) is None


@pytest.mark.slow
def test_a_run_goes_on_without_that_file(ends, run):
    (run / "checkpoint").unlink()
    kept = (run / "best" / "best.json").read_text()
    (run / "ckpt-1_temp").mkdir()
    (run / "ckpt-1_temp" / "part-00000-of-00001.index").write_text("")
    (run / "best" / "best.json.new").write_text("{")
    status, output = ends(run, trainer__train_steps=60)
    assert status == 0
    assert f"the last one is {run}/ckpt-40, found by its file name" in output.out
    assert "40 to 60" in output.out
    assert steps_of(run) == [20, 40, 60]
    assert (run / "best" / "best.json").read_text() == kept
    assert not list(run.glob("*_temp"))
    # Whoever validates owns best/, and tidies it.
    assert list(run.glob("best/*.new"))
    assert ends(run, mode="train_and_eval", trainer__train_steps=80)[0] == 0
    assert not list(run.glob("best/*.new"))


def test_evaluating_and_exporting_find_it_too_and_write_nothing(ends, run, of_40_steps, capfd):
    (run / "checkpoint").write_bytes(b"\xff\x00garbage")
    before = sorted(run.rglob("*"))
    status, output = ends(run, mode="eval")
    assert status == 0
    assert f"the last one is {run}/ckpt-40" in output.out
    model, _ = trained.load(run)
    assert f"the last one is {run}/ckpt-40" in capfd.readouterr().out
    expected = tf.train.load_checkpoint(str(of_40_steps)).get_tensor(WORDS)
    np.testing.assert_array_equal(model.encoder.tables["words"], expected)
    files = [path for path in sorted(run.rglob("*")) if "events" not in path.name]
    assert files == [path for path in before if "events" not in path.name]


def cut(run):
    path = run / "ckpt-40.data-00000-of-00001"
    path.write_bytes(path.read_bytes()[:-1000])


DAMAGES = {
    "data cut": (cut, "ckpt-40.data-00000-of-00001 is damaged"),
    "data empty": (
        lambda run: (run / "ckpt-40.data-00000-of-00001").write_text(""),
        "ckpt-40.data-00000-of-00001 is damaged",
    ),
    "data missing": (
        lambda run: (run / "ckpt-40.data-00000-of-00001").unlink(),
        r"ckpt-40.data-\* is missing",
    ),
    "index missing": (lambda run: (run / "ckpt-40.index").unlink(), "ckpt-40.index is missing"),
    "index cut": (
        lambda run: (run / "ckpt-40.index").write_bytes((run / "ckpt-40.index").read_bytes()[:99]),
        "ckpt-40.index is damaged",
    ),
    "a byte": (
        lambda run: damaged(run, WORDS),
        r"ckpt-40.data-00000-of-00001 is damaged \(.*(?i:checksum)",
    ),
}


@pytest.mark.parametrize(("damage", "said"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_named_with_what_to_use_instead(run, damage, said):
    damage(run)
    way_out = rf"Remove {run}/ckpt-40\.\* to use ckpt-20 or use {run}/best, which"
    with pytest.raises(InputError, match=rf"--model_dir: {run}/{said}.*\. {way_out}"):
        trained.load(run)


def test_what_training_has_deleted_is_not_blamed_for_another_error(run):
    error = ValueError("of something else")
    for name in ("ckpt-20.index", "ckpt-20.data-00000-of-00001"):
        (run / name).unlink()
    with (
        pytest.raises(ValueError, match="of something else"),
        checkpoint_files.damage_named(f"{run}/ckpt-20", name="--model_dir", while_last=True),
    ):
        raise error
    with (
        pytest.raises(InputError, match=r"ckpt-20\.index is missing"),
        checkpoint_files.damage_named(f"{run}/ckpt-20", name="--model_dir"),
    ):
        raise error


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_so_it_is_by_training_and_evaluating(ends, run, mode):
    cut(run)
    status, output = ends(run, mode=mode, trainer__train_steps=60)
    assert status == 1
    lines = [line for line in output.err.splitlines() if line.startswith("error:")]
    assert lines[0].startswith(f"error: --model_dir: {run}/ckpt-40.data-00000-of-00001 is damaged")
    assert "Traceback" not in output.err
    assert steps_of(run) == [20, 40]


@pytest.mark.slow
def test_so_it_is_if_only_the_optimizer_reads_the_damage(ends, run):
    """What it keeps of a table is read when the first step makes it."""
    damaged(run, SLOT)
    status, output = ends(run, trainer__train_steps=60)
    assert status == 1
    assert f"error: --model_dir: {run}/ckpt-40.data-00000-of-00001 is damaged" in output.err
    assert steps_of(run) == [20, 40]


def test_without_the_damaged_files_the_one_before_is_used(ends, run):
    for path in run.glob("ckpt-40.*"):
        path.unlink()
    status, output = ends(run, trainer__train_steps=40)
    assert status == 0
    assert f"the last one is {run}/ckpt-20" in output.out
    assert "20 to 40" in output.out


def test_a_whole_checkpoint_of_another_model_is_not_called_damaged(run, parse):
    model_dir.write_params(parse(task__model__text__word_buckets=50), str(run))
    with pytest.raises(InputError, match=r"does not fit the model of its params\.yaml"):
        trained.load(run)


def test_a_run_without_checkpoints_does_not_keep_the_best_of_another(parse, run, capfd):
    for path in run.glob("ckpt*"):
        path.unlink()
    with pytest.raises(InputError, match=r"best' holds a run with other parameters: task.seed was"):
        model_dir.prepare(parse(task__seed=5), mode="train", folder=str(run))
    capfd.readouterr()
    model_dir.prepare(parse(), mode="train", folder=str(run))
    assert "has no checkpoint except" in capfd.readouterr().out


def test_a_damaged_best_json_is_named(ends, run):
    (run / "best" / "best.json").write_text('{"step": 20')
    status, output = ends(run, mode="train_and_eval", trainer__train_steps=60)
    assert status == 1
    assert f"error: --model_dir: '{run}/best/best.json' does not say how well" in output.err


@pytest.mark.slow
def test_what_was_not_validated_before_a_kill_is_validated_when_it_goes_on(ends, run):
    shutil.rmtree(run / "best")
    changes = {"trainer__train_steps": 60, "trainer__validation_interval": 20}
    status, output = ends(run, mode="train_and_eval", **changes)
    assert status == 0
    assert output.out.count("validation: ") == 2  # of steps 40 and 60
