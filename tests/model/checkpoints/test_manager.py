"""When a checkpoint is due, which are kept, and what is said when one cannot be written."""

import json
import math

import pytest
import tensorflow as tf

from model.checkpoints.manager import BestCheckpoint, Checkpoints
from model.configs import schema
from model.errors import InputError, TrainingError, message_of


class Run:
    """A run that counts its steps and does nothing else; its one weight is the step."""

    def __init__(self, folder, *, interval=10, keep=2, writes=True):
        self.step, self.weight = tf.Variable(0, dtype=tf.int64), tf.Variable(0.0)
        self.checkpoints = Checkpoints(
            tf.train.Checkpoint(weight=self.weight, step=self.step),
            global_step=self.step,
            folder=str(folder),
            config=schema.Trainer(checkpoint_interval=interval, max_to_keep=keep),
            writes=writes,
        )

    def save_at(self, step, **options):
        self.step.assign(step)
        self.weight.assign(step)
        return self.checkpoints.save(step, **options)


def kept(folder):
    return sorted(path.name for path in folder.glob("*.index"))


def test_the_multiples_of_the_interval_are_due_wherever_it_is_asked(tmp_path):
    run = Run(tmp_path, keep=9)
    steps = [0, 9, 10, 11, 19, 25, 29, 50, 55]
    saved = [step for step in steps if run.save_at(step)]
    assert saved == [10, 25, 50]
    assert kept(tmp_path) == ["ckpt-10.index", "ckpt-25.index", "ckpt-50.index"]


def test_one_can_be_had_between_them(tmp_path):
    run = Run(tmp_path)
    assert run.save_at(5) is None
    assert run.save_at(6, check_interval=False) == str(tmp_path / "ckpt-6")
    assert run.save_at(9) is None
    assert run.save_at(10) == str(tmp_path / "ckpt-10")


def test_the_last_ones_are_kept(tmp_path):
    run = Run(tmp_path, interval=1, keep=2)
    assert [run.save_at(step) for step in (1, 2, 3)] == [
        str(tmp_path / f"ckpt-{step}") for step in (1, 2, 3)
    ]
    assert kept(tmp_path) == ["ckpt-2.index", "ckpt-3.index"]


def test_a_run_goes_on_from_the_last_one_and_its_multiples(tmp_path):
    Run(tmp_path).save_at(14, check_interval=False)
    assert Run(tmp_path / "none").checkpoints.restore_or_initialize() is None
    again = Run(tmp_path)
    assert again.checkpoints.restore_or_initialize() == str(tmp_path / "ckpt-14")
    assert (int(again.step), float(again.weight)) == (14, 14.0)
    # The one that is there is not written again.
    assert again.save_at(14, check_interval=False) is None
    assert again.save_at(19) is None
    assert again.save_at(20) == str(tmp_path / "ckpt-20")


def test_a_damaged_one_is_named(tmp_path):
    Run(tmp_path).save_at(14, check_interval=False)
    (data,) = tmp_path.glob("ckpt-14.data-*")
    data.write_bytes(data.read_bytes()[:2])
    with pytest.raises(InputError, match=rf"^--model_dir: {data} is damaged"):
        Run(tmp_path).checkpoints.restore_or_initialize()


def test_another_worker_reads_the_folder_and_never_writes_there(tmp_path):
    Run(tmp_path).save_at(10)
    worker = Run(tmp_path, writes=False)
    worker.checkpoints.restore_or_initialize()
    assert (int(worker.step), float(worker.weight)) == (10, 10.0)
    assert worker.save_at(15) is None
    paths = [worker.save_at(20), worker.save_at(30)]
    scratch = tf.io.gfile.listdir(paths[1].rpartition("/")[0])
    assert [name for name in scratch if name.endswith(".index")] == ["ckpt-30.index"]
    assert kept(tmp_path) == ["ckpt-10.index"]
    worker.checkpoints.close()
    assert not tf.io.gfile.exists(paths[1].rpartition("/")[0])
    Run(tmp_path).checkpoints.close()  # which has nothing to remove
    assert kept(tmp_path) == ["ckpt-10.index"]


@pytest.fixture
def no_folder(tmp_path):
    """A folder that is a file."""
    path = tmp_path / "taken"
    path.write_text("")
    return path


def test_what_cannot_be_written_is_one_line(no_folder):
    run = Run(no_folder)
    with pytest.raises(TrainingError) as found:
        run.save_at(10)
    assert str(found.value).startswith("a checkpoint cannot be written: ")
    assert str(no_folder) in str(found.value)
    assert isinstance(found.value.__cause__, tf.errors.OpError)


def test_a_reason_is_without_the_operation_of_the_graph():
    message = "{{function_node __wrapped__SaveV2}} No space left on device [Op:SaveV2]"
    assert message_of(tf.errors.OpError(None, None, message, 8)) == "No space left on device"


class Best:
    """The best of a model of one number."""

    def __init__(self, params, folder, *, writes=True):
        self.step = tf.Variable(0, dtype=tf.int64)
        self.checkpoint = BestCheckpoint(
            tf.train.Checkpoint(step=self.step),
            global_step=self.step,
            folder=str(folder),
            params=params,
            writes=writes,
        )

    def offer(self, step, **logs):
        self.step.assign(step)
        self.checkpoint.offer(logs)
        return self.checkpoint.best


def test_the_highest_so_far_is_the_best(parse, tmp_path):
    best = Best(parse(), tmp_path)
    assert best.checkpoint.best is None
    # The first is the best of one, however low; what is no number never is.
    assert best.offer(1, p_at_1=math.nan) is None
    assert best.offer(2, p_at_1=-0.5)["step"] == 2
    assert [best.offer(3, p_at_1=value)["step"] for value in (-0.5, math.nan)] == [2, 2]
    assert best.offer(4, p_at_1=-0.4)["step"] == 4
    said = json.loads((tmp_path / "best" / "best.json").read_text())
    assert {"step": 4, "metric": "p_at_1", "value": -0.4}.items() <= said.items()
    assert kept(tmp_path / "best") == ["ckpt-4.index"]
    assert (tmp_path / "best" / "params.yaml").read_text().startswith("runtime:")


def test_the_lowest_is_the_best_where_that_is_asked_for(parse, tmp_path, capsys):
    lowest = parse(
        trainer__best_checkpoint_eval_metric="validation_loss",
        trainer__best_checkpoint_metric_comp="lower",
    )
    best = Best(lowest, tmp_path)
    losses = [4.5, math.nan, 4.25, 4.25, 4.375]
    steps = [best.offer(step, validation_loss=loss)["step"] for step, loss in enumerate(losses)]
    assert steps == [0, 0, 2, 2, 2]
    kept = {"step": 2, "metric": "validation_loss", "value": 4.25, "comp": "lower"}
    found = Best(lowest, tmp_path).checkpoint.best
    assert found == kept | {"validation": "test-* by 32, -1 steps"}
    assert capsys.readouterr().out == ""
    # Another metric cannot be compared with it: it is replaced, and that is said.
    again = Best(parse(), tmp_path)
    assert again.offer(7, p_at_1=0.125) == {
        "step": 7,
        "metric": "p_at_1",
        "value": 0.125,
        "comp": "higher",
        "validation": "test-* by 32, -1 steps",
    }
    assert capsys.readouterr().out == (
        f"{tmp_path}/best was kept for the lower validation_loss (4.2500 at step 2); from now on "
        "the higher p_at_1 decides, and it is replaced\n"
    )


@pytest.mark.parametrize("said", ["nonsense", "[]", '{"step": 1}', '{"step": "x"}'])
def test_a_damaged_note_of_the_best_is_named(parse, tmp_path, said):
    (tmp_path / "best").mkdir()
    (tmp_path / "best" / "best.json").write_text(said)
    with pytest.raises(InputError, match=r"best\.json' does not say how well"):
        Best(parse(), tmp_path)


def test_a_note_from_before_the_lower_could_be_asked_for_is_of_the_higher(parse, tmp_path):
    (tmp_path / "best").mkdir()
    note = {"step": 3, "metric": "p_at_1", "value": 0.5}
    (tmp_path / "best" / "best.json").write_text(json.dumps(note))
    more = {"comp": "higher", "validation": None}
    assert Best(parse(), tmp_path).checkpoint.best == note | more


@pytest.mark.parametrize(
    ("logs", "metric"),
    [
        ({"nli_accuracy": 0.9}, "nli_accuracy"),
        ({"nli_accuracy": 0.9, "p_at_1": 0.1}, "p_at_1"),
        ({"nli_accuracy": 0.9, "p_at_1": 0.1, "sts_dev_pearson": 0.2}, "sts_dev_pearson"),
    ],
)
def test_sts_decides_before_p_at_1_and_that_before_accuracy(parse, tmp_path, logs, metric):
    assert Best(parse(), tmp_path).offer(1, **logs)["metric"] == metric


def test_another_worker_decides_alike_and_writes_nothing(parse, tmp_path):
    Best(parse(), tmp_path).offer(1, p_at_1=0.5)
    worker = Best(parse(), tmp_path, writes=False)
    assert worker.checkpoint.best["value"] == 0.5
    assert worker.offer(2, p_at_1=0.4)["step"] == 1
    assert worker.offer(3, p_at_1=0.6)["step"] == 3
    worker.checkpoint.close()
    assert kept(tmp_path / "best") == ["ckpt-1.index"]
    assert json.loads((tmp_path / "best" / "best.json").read_text())["step"] == 1
    Best(parse(), tmp_path).checkpoint.close()
    assert kept(tmp_path / "best") == ["ckpt-1.index"]


def test_a_best_that_cannot_be_written_is_one_line(parse, no_folder):
    with pytest.raises(TrainingError, match=r"^the best checkpoint cannot be written: .*taken"):
        Best(parse(), no_folder).offer(1, p_at_1=0.5)


def test_values_of_other_validations_are_not_compared(parse, tmp_path, capsys):
    Best(parse(trainer__validation_steps=1), tmp_path).offer(1, p_at_1=0.98)
    best = Best(parse(), tmp_path)
    assert best.offer(2, p_at_1=0.95)["step"] == 2
    said = "was kept by another validation (test-* by 32, 1 steps, now test-* by 32, -1 steps), and"
    assert said in capsys.readouterr().out
    assert best.offer(3, p_at_1=0.94)["step"] == 2
