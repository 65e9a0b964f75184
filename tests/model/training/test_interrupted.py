"""What ends a run early: a signal, a full disk, a loss that is not finite. It can go on."""

import re
import resource
import signal
from contextlib import contextmanager

import numpy as np
import pytest
import tensorflow as tf

from model.__main__ import main
from model.checkpoints.model_dir import Record
from model.ema import WeightAverage
from tests.conftest import steps_of
from tests.model.training.test_resume import variables

# No checkpoint but that of the end, and that of a step at which the run is stopped.
LONG = {"trainer__train_steps": 60, "trainer__checkpoint_interval": 100_000}
STEP = 30  # within the second loop


def the_error(output):
    """The last line, which tells the error; all above it is the bar."""
    assert "Traceback" not in output.err
    (line,) = [line for line in output.err.splitlines() if line.startswith("error: ")]
    assert output.err.endswith(f"{line}\n")
    return line


@contextmanager
def survived(number):
    """Checks that afterwards who listened to a signal before does so again."""

    # Where training does not listen, this process must not die of it.
    def survive(*_):
        pass

    before = signal.signal(number, survive)
    try:
        yield
        assert signal.getsignal(number) == survive
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow)],
)
def test_a_signal_saves_where_the_run_stands_and_the_same_command_goes_on(
    ends, arguments, tmp_path, monkeypatch, capfd, number, status
):
    folder, step_of_average = tmp_path / "run", WeightAverage.step

    def step(average, global_step):
        step_of_average(average, global_step)
        if global_step == STEP:
            signal.raise_signal(number)

    with monkeypatch.context() as patched, survived(number):
        patched.setattr(WeightAverage, "step", step)
        found, output = ends(folder, **LONG)
    assert found == status
    name = signal.Signals(number).name
    assert f"stopped by {name} at step {STEP}, which is saved" in output.err.splitlines()[-1]
    assert steps_of(folder) == [STEP]
    stands = tf.train.load_variable(str(folder), "global_step/.ATTRIBUTES/VARIABLE_VALUE")
    assert stands == STEP
    main(arguments(folder, **LONG))
    assert f"restored model from {folder}/ckpt-{STEP}." in capfd.readouterr().out
    assert steps_of(folder) == [STEP, 60]


@contextmanager
def files_up_to(size):
    """No file of this process becomes larger; Python ignores the signal that would end it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_fills_up_leaves_what_was_steps_of(ends, arguments, begun, tmp_path):
    before, changes = variables(begun), {"trainer__checkpoint_interval": 40}
    with files_up_to(200_000):  # a checkpoint of the tiny model has twice as many
        status, output = ends(begun, **changes)
        assert status == 1
        assert the_error(output).endswith(f"The last checkpoint is {begun}/ckpt-20")
        best = {"trainer__validation_interval": 20, "trainer__checkpoint_interval": 1000}
        status, output = ends(tmp_path / "other", mode="train_and_eval", **best)
        assert status == 1
        assert f"{tmp_path}/other/best" in the_error(output)
    assert Record.read(tmp_path / "other/best") is None
    assert steps_of(begun) == [20]
    for name, value in variables(begun).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    with files_up_to(100):
        status, output = ends(tmp_path / "third")
    assert status == 1
    assert "third" in the_error(output)
    main(arguments(begun, **changes))
    assert steps_of(begun) == [20, 40, 60]


# Layers that are multiplied by each other: a rate that is too high squares their size each step.
LAST_GOOD = 27
BLOWN_UP = {
    "task__model__response_network__hidden": "[8,8]",
    "task__model__response_network__activation": "linear",
    "task__model__response_network__normalize": False,
    "task__model__score_scale": 1.0,
    "task__nli__share": 0.2,
    "task__seed": 3,
    "trainer__optimizer_config__optimizer__type": "sgd",
    "trainer__optimizer_config__learning_rate__type": "stepwise",
    "trainer__optimizer_config__learning_rate__stepwise__boundaries": f"[{LAST_GOOD}]",
    "trainer__optimizer_config__learning_rate__stepwise__values": "[0.05,100.0]",
}


def test_a_loss_that_is_not_finite_names_its_step_and_the_checkpoint(ends, tmp_path):
    folder = tmp_path / "run"
    status, output = ends(folder, "reddit_nli", **BLOWN_UP)
    assert status == 1
    found = re.search(r"step (\d+), of (response_selection|nli),", the_error(output))
    assert LAST_GOOD + 2 <= int(found[1]) <= 40
    assert f"{folder}/ckpt-20" in the_error(output)
    assert steps_of(folder) == [20]
