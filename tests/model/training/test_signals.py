"""A run that is told to stop saves where it stands, and goes on from there."""

import re
import signal
from contextlib import contextmanager

import pytest
import tensorflow as tf

from model.__main__ import main
from model.tasks.response_selection import ResponseSelectionTask
from model.training.ema import WeightAverage

# No checkpoint but that of the end, and that of a step at which the run is stopped.
LONG = {"trainer__train_steps": 60, "trainer__checkpoint_interval": 100_000}
STEP = 30  # within the second loop


@contextmanager
def told(monkeypatch, number):
    """Sends this process a signal during step 30; nobody listens to it afterwards."""
    step_of_average = WeightAverage.step

    def step(average, global_step):
        step_of_average(average, global_step)
        if global_step == STEP:
            signal.raise_signal(number)

    with monkeypatch.context() as patched, listening_in_training_only(number):
        patched.setattr(WeightAverage, "step", step)
        yield


@contextmanager
def listening_in_training_only(number):
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


def stopped_at(err, name):
    """The step that the last line names; all above it is the bar."""
    *bar, said = err.strip().splitlines()
    assert all(line.split("\r")[-1].startswith("training: ") for line in bar if line)
    found = re.fullmatch(rf"stopped by {name} at step (\d+), which is saved; .*goes on", said)
    assert found, said
    return int(found[1])


def saved(folder):
    return [int(path.stem[5:]) for path in folder.glob("ckpt-*.index")]


def test_term_saves_where_the_run_stands_and_the_same_command_goes_on(
    ends, arguments, tmp_path, monkeypatch, capfd
):
    folder = tmp_path / "run"
    with told(monkeypatch, signal.SIGTERM):
        status, output = ends(folder, **LONG)
    assert status == 143
    assert stopped_at(output.err, "SIGTERM") == STEP
    assert saved(folder) == [STEP]
    stands = tf.train.load_variable(str(folder), "global_step/.ATTRIBUTES/VARIABLE_VALUE")
    assert stands == STEP
    main(arguments(folder, **LONG))
    assert f"restored model from {folder}/ckpt-{STEP}." in capfd.readouterr().out
    assert sorted(saved(folder)) == [STEP, 60]


@pytest.mark.slow
def test_a_signal_ends_a_validation_too(ends, arguments, tmp_path, monkeypatch, capfd):
    folder, number = tmp_path / "run", signal.SIGTERM
    changes = LONG | {"mode": "train_and_eval", "trainer__validation_interval": STEP}
    batches = []

    def step(task, batch, model):
        batches.append(1)
        signal.raise_signal(number)
        return validation_step(task, batch, model)

    validation_step = ResponseSelectionTask.validation_step
    with monkeypatch.context() as patched, listening_in_training_only(number):
        patched.setattr(ResponseSelectionTask, "validation_step", step)
        status, output = ends(folder, **changes)
    assert status == 143
    assert stopped_at(output.err, "SIGTERM") == STEP
    assert (saved(folder), len(batches)) == ([STEP], 1)
    assert not (folder / "best" / "best.json").exists()
    main(arguments(folder, **changes))
    assert capfd.readouterr().out.count("validation: ") == 2
    assert (folder / "best" / "best.json").exists()


@pytest.mark.slow
def test_int_too(ends, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    with told(monkeypatch, signal.SIGINT):
        status, output = ends(folder, **LONG)
    assert status == 130
    assert stopped_at(output.err, "SIGINT") == STEP
    assert saved(folder) == [STEP]
