"""When a checkpoint is due, which are kept, and which validated best."""

import math

import pytest
import tensorflow as tf

from common.errors import InputError
from model.checkpoints import model_dir, record
from model.checkpoints.manager import BestCheckpoint, Checkpoints
from model.configs import schema
from model.errors import TrainingError


class Run:
    """A run that counts its steps and does nothing else; its one weight is the step."""

    def __init__(self, folder, *, interval=10, keep=2, writes=True):
        self.step, self.weight = tf.Variable(0, dtype=tf.int64), tf.Variable(0.0)
        self.checkpoints = Checkpoints(
            tf.train.Checkpoint(weight=self.weight, step=self.step),
            global_step=self.step,
            folder=folder,
            config=schema.Trainer(checkpoint_interval=interval, max_to_keep=keep),
            writes=writes,
        )
        self.restored = self.checkpoints.restore_or_initialize()

    def save_at(self, step, **options):
        self.step.assign(step)
        self.weight.assign(step)
        return self.checkpoints.save(step, **options)


def kept(folder):
    return sorted(path.name for path in folder.glob("*.index"))


def test_one_is_due_when_the_interval_has_passed(tmp_path):
    run = Run(tmp_path, keep=9)
    saved = [step for step in (0, 9, 10, 11, 19, 25, 29, 50, 55) if run.save_at(step)]
    assert saved == [10, 25, 50]
    assert run.save_at(56, check_interval=False) == f"{tmp_path}/ckpt-56"
    assert kept(tmp_path) == [f"ckpt-{step}.index" for step in (10, 25, 50, 56)]


def test_a_run_goes_on_from_the_last_one(tmp_path):
    first = Run(tmp_path)
    assert first.restored is None
    for step in (5, 8, 14):
        first.save_at(step, check_interval=False)
    assert kept(tmp_path) == ["ckpt-14.index", "ckpt-8.index"]
    again = Run(tmp_path)
    assert again.restored == f"{tmp_path}/ckpt-14"
    assert (int(again.step), float(again.weight)) == (14, 14.0)
    # The one that is there is not written again.
    assert again.save_at(14, check_interval=False) is None
    assert again.save_at(23) is None
    assert again.save_at(24) == f"{tmp_path}/ckpt-24"
    (data,) = tmp_path.glob("ckpt-24.data-*")
    data.write_bytes(data.read_bytes()[:2])
    with pytest.raises(InputError, match=str(data)):
        Run(tmp_path)


def test_another_worker_reads_the_folder_and_never_writes_there(tmp_path):
    Run(tmp_path).save_at(10)
    worker = Run(tmp_path, writes=False)
    assert (int(worker.step), float(worker.weight)) == (10, 10.0)
    assert worker.save_at(15) is None
    *_, path = (worker.save_at(step) for step in (20, 30))
    scratch = path.rpartition("/")[0]
    assert [name for name in tf.io.gfile.listdir(scratch) if "index" in name] == ["ckpt-30.index"]
    worker.checkpoints.close()
    assert not tf.io.gfile.exists(scratch)
    assert kept(tmp_path) == ["ckpt-10.index"]


@pytest.fixture
def offers(parse, tmp_path):
    """Offers validations, a dictionary of metrics each; returns the step of the best after each.

    Steps are counted from 1. With `writes=False` as a worker that is not the chief.
    """
    model_dir.write(parse(), tmp_path, record.Record())

    def steps_of_the_best(*validations, writes=True, **overrides):
        step = tf.Variable(0, dtype=tf.int64)
        best = BestCheckpoint(
            tf.train.Checkpoint(step=step),
            global_step=step,
            folder=tmp_path,
            params=parse(**overrides),
            writes=writes,
        )
        steps = []
        for logs in validations:
            step.assign_add(1)
            best.offer(logs)
            steps.append(best.best and best.best.step)
        best.close()
        return steps

    return steps_of_the_best


LOWEST = {
    "trainer__best_checkpoint_eval_metric": "validation_loss",
    "trainer__best_checkpoint_metric_comp": "lower",
}


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
    found = record.read(best).best
    assert (found.step, found.metric, found.value) == (steps[-1], metric, values[steps[-1] - 1])
    assert kept(best) == [f"ckpt-{steps[-1]}.index"]
    assert (best / "params.yaml").read_text() == (tmp_path / "params.yaml").read_text()
    # After a resume, too.
    assert offers({metric: found.value}, **overrides) == [steps[-1]]
    assert capsys.readouterr().out == ""


def test_parameters_of_the_best_are_replaced_and_never_half_written(offers, tmp_path):
    offers({"p_at_1": 0.1})
    before, now = tmp_path / "before.yaml", tmp_path / "params.yaml"
    before.hardlink_to(tmp_path / "best" / "params.yaml")
    now.write_text("trainer: {}\n")
    offers({"p_at_1": 0.2})
    assert (tmp_path / "best" / "params.yaml").read_text() == now.read_text() != before.read_text()


def test_sts_decides_before_p_at_1_and_that_before_accuracy(offers):
    both = {"nli_accuracy": 0.9, "p_at_1": 0.1}
    assert offers(both, both | {"nli_accuracy": 1.0}, both | {"p_at_1": 0.2}) == [1, 1, 3]
    sts = both | {"sts_dev_pearson": 0.2}
    assert offers(sts, sts | {"p_at_1": 0.9}, sts | {"sts_dev_pearson": 0.3}) == [1, 1, 3]


@pytest.mark.parametrize(
    "changes", [LOWEST, {"trainer__validation_steps": 1}], ids=["metric", "validation"]
)
def test_values_of_other_validations_are_not_compared(offers, capsys, changes):
    logs = {"p_at_1": 0.9, "validation_loss": 1.0}
    assert offers(logs) == [1]
    assert offers(logs, {"p_at_1": 0.1, "validation_loss": 2.0}, **changes) == [1, 1]
    assert "is replaced" in capsys.readouterr().out


def test_another_worker_decides_alike_and_writes_nothing(offers, tmp_path):
    offers({"p_at_1": 0.5})
    assert offers({"p_at_1": 0.4}, {"p_at_1": 0.6}, writes=False) == [1, 2]
    assert kept(tmp_path / "best") == ["ckpt-1.index"]
    assert record.read(tmp_path / "best").best.value == 0.5


def test_a_checkpoint_that_cannot_be_written_ends_the_run(offers, tmp_path):
    (tmp_path / "best").write_text("")
    (tmp_path / "taken").write_text("")
    with pytest.raises(TrainingError, match="taken"):
        Run(tmp_path / "taken").save_at(10)
    with pytest.raises((TrainingError, OSError), match="best"):
        offers({"p_at_1": 0.5})
