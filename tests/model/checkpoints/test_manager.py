"""When a checkpoint is due, which are kept, which validated best; lost and damaged files."""

import math

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from model.checkpoints import files, model_dir
from model.checkpoints.manager import BestCheckpoint, Checkpoints, best_metric
from model.checkpoints.model_dir import Record
from model.configs import schema
from model.tasks import registry
from tests.conftest import steps_of


class Run:
    """A run that counts its steps; its one weight is the step as soon as it is synchronized."""

    def __init__(self, folder, *, keep=2, directory=None):
        self.step, self.weight = tf.Variable(0, dtype=tf.int64), tf.Variable(0.0)
        self.checkpoints = Checkpoints(
            tf.train.Checkpoint(weight=self.weight, global_step=self.step),
            folder=folder,
            directory=directory or folder,
            config=schema.Trainer(checkpoint_interval=10, max_to_keep=keep),
            synchronize=self.weight.assign,
        )
        self.restored = self.checkpoints.restore_or_initialize()

    def save_at(self, step, **options):
        self.step.assign(step)
        return self.checkpoints.save(step, **options)


def test_one_is_due_when_the_interval_has_passed(tmp_path):
    run = Run(tmp_path, keep=9)
    saved = [step for step in (0, 9, 10, 11, 19, 25, 29, 50, 55) if run.save_at(step)]
    assert saved == [10, 25, 50]
    assert run.save_at(56, check_interval=False) == f"{tmp_path}/ckpt-56"
    assert steps_of(tmp_path) == [10, 25, 50, 56]


def test_a_run_goes_on_from_the_last_one(tmp_path):
    first = Run(tmp_path)
    assert first.restored is None
    for step in (5, 8, 14):
        first.save_at(step, check_interval=False)
    assert steps_of(tmp_path) == [8, 14]
    again = Run(tmp_path)
    assert again.restored == f"{tmp_path}/ckpt-14"
    assert (int(again.step), float(again.weight)) == (14, 14.0)
    # The one that is there is not written again.
    assert again.save_at(14, check_interval=False) is None
    assert again.save_at(19) is None
    assert again.save_at(20) == f"{tmp_path}/ckpt-20"  # due though 14 was saved
    (data,) = tmp_path.glob("ckpt-20.data-*")
    data.write_bytes(data.read_bytes()[:2])
    with pytest.raises(InputError, match=f"{tmp_path}/ckpt-20"):
        Run(tmp_path)


def test_another_worker_reads_the_folder_and_never_writes_there(tmp_path):
    Run(tmp_path).save_at(10)
    worker = Run(tmp_path, directory=tmp_path / "scratch")
    assert (int(worker.step), float(worker.weight)) == (10, 10.0)
    assert worker.save_at(15) is None
    assert worker.save_at(20) == f"{tmp_path}/scratch/ckpt-20"
    assert steps_of(tmp_path) == [10]


@pytest.fixture
def offers(parse, tmp_path):
    """Offers validations, a dictionary of metrics each; returns the step of the best after each.

    Steps are counted from 1. With `directory` as a worker that is not the chief.
    """
    model_dir.write(parse(), tmp_path, Record())

    def steps_of_the_best(*validations, directory=tmp_path, **overrides):
        params, step = parse(**overrides), tf.Variable(0, dtype=tf.int64)
        best = BestCheckpoint(
            tf.train.Checkpoint(global_step=step, model=tf.Module(), average=tf.Module()),
            folder=tmp_path,
            directory=directory,
            metric=best_metric(params, registry.tasks_of(params.task)),
        )
        steps = []
        for logs in validations:
            step.assign_add(1)
            best.offer(logs)
            steps.append(best.best and best.best.step)
        return steps

    return steps_of_the_best


LOWEST = {"trainer__best_checkpoint_eval_metric": "validation_loss"}


@pytest.mark.parametrize(
    ("metric", "values", "steps", "overrides"),
    [
        # The first is the best of one, however low; what is no number never is.
        ("p_at_1", [math.nan, -0.5, -0.5, math.nan, -0.4], [None, 2, 2, 2, 5], {}),
        ("validation_loss", [4.5, math.nan, 4.25, 4.25, 4.375], [1, 1, 3, 3, 3], LOWEST),
    ],
)
def test_the_best_so_far_is_kept(offers, tmp_path, capsys, metric, values, steps, overrides):
    assert offers(*({metric: value} for value in values), **overrides) == steps
    best = tmp_path / "best"
    found = Record.read(best).best
    assert (found.step, found.metric, found.value) == (steps[-1], metric, values[steps[-1] - 1])
    assert steps_of(best) == [steps[-1]]
    assert (best / "params.yaml").read_text() == (tmp_path / "params.yaml").read_text()
    # After a resume, too; values of another metric are not compared.
    assert offers({metric: found.value}, **overrides) == [steps[-1]]
    assert capsys.readouterr().out == ""
    other = {} if overrides else LOWEST
    assert offers({"p_at_1": -9.0, "validation_loss": 9.0}, **other) == [1]
    assert "is replaced" in capsys.readouterr().out


def test_sts_decides_before_p_at_1_and_that_before_accuracy(parse):
    def chosen(*experiment, **overrides):
        params = parse(*experiment, **overrides)
        return best_metric(params, registry.tasks_of(params.task))

    assert chosen("nli") == "nli_accuracy"
    assert chosen("reddit_nli") == "p_at_1"
    assert chosen("reddit_nli", task__sts_dev="sts.csv") == "sts_dev_pearson"


def test_another_worker_decides_alike_and_writes_nothing(offers, tmp_path):
    offers({"p_at_1": 0.5})
    assert offers({"p_at_1": 0.4}, {"p_at_1": 0.6}, directory=tmp_path / "scratch") == [1, 2]
    assert steps_of(tmp_path / "best") == [1]
    assert Record.read(tmp_path / "best").best.value == 0.5


def write(folder, *steps):
    """Checkpoints of one table, which has a checksum in each."""
    for step in steps:
        table = tf.Variable(np.full([50, 4], step, np.float32))
        tf.train.Checkpoint(table=table).write(f"{folder}/ckpt-{step}")


LOSSES = {
    "removed": lambda path: path.unlink(),
    "garbage": lambda path: path.write_bytes(b"\xff\x00garbage"),
    "of another text": lambda path: path.write_text("what is this\n"),
    "of one that is gone": lambda path: path.write_text('model_checkpoint_path: "ckpt-60"\n'),
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
def test_the_last_is_found_without_the_file_that_names_it(tmp_path, capsys, lose):
    write(tmp_path, 100, 20, 40)
    state = tmp_path / "checkpoint"
    state.write_text("")
    lose(state)
    last = f"{tmp_path}/ckpt-100"
    assert files.last(tmp_path) == last
    files.tidy(tmp_path)
    assert last in capsys.readouterr().out
    assert files.last(tmp_path) == last
    named = tf.train.get_checkpoint_state(str(tmp_path)).all_model_checkpoint_paths
    assert list(named) == [f"{tmp_path}/ckpt-{step}" for step in (20, 40, 100)]


def test_what_the_file_names_is_the_last_though_a_newer_one_was_begun(tmp_path):
    write(tmp_path, 20, 40)
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "ckpt-20"\n')
    assert files.last(tmp_path) == f"{tmp_path}/ckpt-20"
    assert files.last(tmp_path / "nowhere") is None


def test_what_a_killed_run_has_begun_to_write_is_removed(tmp_path):
    write(tmp_path, 20)
    before = {path.name for path in tmp_path.iterdir()} | {"checkpoint"}
    (tmp_path / "ckpt-40_temp").mkdir()
    (tmp_path / "ckpt-40_temp" / "part").write_text("")
    (tmp_path / ".run.json.abc").mkdir()
    (tmp_path / "checkpoint.tmp1").write_text("")
    files.tidy(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == before


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DATA, INDEX = "ckpt-40.data-00000-of-00001", "ckpt-40.index"
DAMAGES = {
    "data cut": (DATA, lambda path: path.write_bytes(path.read_bytes()[:-100])),
    "data missing": (DATA, lambda path: path.unlink()),
    "index missing": (INDEX, lambda path: path.unlink()),
    "index cut": (INDEX, lambda path: path.write_bytes(path.read_bytes()[:99])),
    "a byte": (DATA, flip),
}


def restore(checkpoint):
    variable = tf.Variable(np.zeros([50, 4], np.float32))
    tf.train.Checkpoint(table=variable).restore(checkpoint).assert_consumed()


@pytest.mark.parametrize(("name", "damage"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_checkpoint_is_named_with_what_to_use_instead(tmp_path, name, damage):
    write(tmp_path, 20, 40)
    damage(tmp_path / name)
    checkpoint = f"{tmp_path}/ckpt-40"
    named = pytest.raises(InputError, match=f"{checkpoint} .* {tmp_path}/ckpt-20")
    with named, files.restoring(checkpoint):
        restore(checkpoint)
