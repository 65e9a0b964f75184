"""The folder of a run is refused for another run."""

import pytest
import tensorflow as tf

from common.errors import InputError
from model.checkpoints import model_dir, record
from model.checkpoints.record import Best, Record

SECTION = "task.train_data"
DATA = {SECTION: {"a": [3, "ab"], "b": [5, None]}}
RATE = "trainer__optimizer_config__learning_rate"


def begin(folder, params):
    tf.train.Checkpoint(variable=tf.Variable(1.0)).save(f"{folder}/ckpt")
    model_dir.write(params, folder, Record(data=DATA))
    return folder


@pytest.fixture
def begun(parse, tmp_path):
    """A folder with parameters, a record and a checkpoint."""
    return begin(tmp_path, parse())


@pytest.mark.parametrize(
    "changes",
    [
        {"task__seed": 5},
        {"task__model__score_scale": 5.0},
        {"task__train_data__global_batch_size": 16},
        {"task__objective__margin": 0.5},
        {f"{RATE}__constant__learning_rate": 0.1},
        {"trainer__average_decay": 0.5},
        {"trainer__optimizer_config__optimizer__type": "sgd"},
    ],
)
def test_what_decides_the_weights_may_not_change(begun, parse, changes):
    (name,) = (name.replace("__", ".") for name in changes)
    with pytest.raises(InputError, match=f"{name} was .*, now "):
        model_dir.prepare(parse(**changes), mode="train", folder=begun)


def test_its_length_and_machine_may_change_and_to_evaluate_all_but_the_model(begun, parse):
    changes = {
        "trainer__train_steps": 500,
        "trainer__checkpoint_interval": 7,
        "trainer__max_to_keep": 1,
        "runtime__distribution_strategy": "mirrored",
    }
    model_dir.prepare(parse(**changes), mode="train_and_eval", folder=begun, data=DATA)
    model_dir.prepare(parse(task__seed=5), mode="eval", folder=begun)
    for changes in ({"task__model__score_scale": 5.0}, {"trainer__average_decay": 0.5}):
        with pytest.raises(InputError, match=next(iter(changes)).replace("__", ".")):
            model_dir.prepare(parse(**changes), mode="eval", folder=begun)


@pytest.mark.parametrize(
    ("records", "name"),
    [
        ({"a": [3, "ac"], "b": [5, None]}, "a"),
        ({"a": [3, "ab"], "b": [6, None]}, "b"),
        ({"a": [3, "ab"]}, "b"),
        ({"a": [3, "ab"], "b": [5, None], "c": [1, None]}, "c"),
    ],
)
def test_a_run_goes_on_with_the_records_that_it_began_with(begun, parse, records, name):
    with pytest.raises(InputError, match=f"{SECTION}.input_path: '{name}' is"):
        model_dir.prepare(parse(), mode="train", folder=begun, data={SECTION: records})


def test_the_folders_that_no_run_goes_on_in(begun, parse, tmp_path, capsys):
    (begun / record.FILE).rename(begun / "elsewhere")
    with pytest.raises(InputError, match=record.FILE):
        model_dir.prepare(parse(), mode="train", folder=begun)
    model_dir.prepare(parse(), mode="eval", folder=begun)
    for path in begun.glob("ckpt*"):
        path.unlink()
    with pytest.raises(InputError, match=record.FILE):
        model_dir.prepare(parse(), mode="train", folder=begun)
    (begun / "elsewhere").rename(begun / record.FILE)
    # As a run that was killed at once has left it.
    model_dir.prepare(parse(), mode="train", folder=begun)
    with pytest.raises(InputError, match="no checkpoint to evaluate"):
        model_dir.prepare(parse(), mode="eval", folder=begun)
    # A best checkpoint alone: the run begins anew, unless it is another one.
    best = begin(begun / "best", parse())
    record.write(best, Record(best=Best(step=1, metric="p_at_1", value=0.5)))
    model_dir.prepare(parse(), mode="train", folder=begun)
    assert "restarts at step 0" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"task\.seed was 0, now 5"):
        model_dir.prepare(parse(task__seed=5), mode="train", folder=begun)
    for mode in ("train", "train_and_eval"):
        with pytest.raises(InputError, match="best checkpoint"):
            model_dir.prepare(parse(), mode=mode, folder=best)
    model_dir.prepare(parse(), mode="eval", folder=best)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("params.yaml", b"\xff\xfe\x00"),
        ("params.yaml", b"[]"),
        ("run.json", b"{"),
        ("run.json", b'{"best": {"step": "x"}}'),
    ],
)
def test_a_damaged_file_is_named(begun, parse, name, content):
    (begun / name).write_bytes(content)
    with pytest.raises(InputError, match=name):
        model_dir.prepare(parse(), mode="train", folder=begun)


STEPS, ALL = f"{RATE}__polynomial__decay_steps", "trainer__train_steps"


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ({}, {ALL: 90}),
        ({STEPS: 60}, {STEPS: 0, ALL: 90}),
        ({STEPS: 60}, {STEPS: 90, ALL: 90}),
        ({}, {STEPS: 60}),
        ({STEPS: 60}, {STEPS: 60, ALL: 90}),
        ({STEPS: 60}, {STEPS: 30}),
    ],
)
def test_a_decay_over_all_steps_follows_a_longer_run(tmp_path, parse, earlier, now):
    decay = {f"{RATE}__type": "polynomial", f"{RATE}__polynomial__initial_learning_rate": 0.1}
    begin(tmp_path, parse(**decay, **earlier))
    params = parse(**decay, **now)
    if now.get(STEPS) == 30:
        with pytest.raises(InputError, match="decay_steps was 60, now 30"):
            model_dir.prepare(params, mode="train", folder=tmp_path)
    else:
        model_dir.prepare(params, mode="train", folder=tmp_path)
