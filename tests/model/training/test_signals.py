"""A run that is told to stop saves where it stands, and goes on from there."""

import os
import re
import signal
import threading
from contextlib import contextmanager

import pytest
import tensorflow as tf

from model.__main__ import main

# More bytes than an events file begins with, and fewer than a loop writes.
HEADER = 200
# Long enough to be disturbed, with no checkpoint but that of the end.
LONG = {"trainer__train_steps": 400, "trainer__checkpoint_interval": 100_000}


def written(folder):
    """Bytes of the events, which training writes after each loop."""
    return sum(path.stat().st_size for path in folder.glob("train/events.*"))


@contextmanager
def told(folder, *numbers):
    """Sends this process signals while it trains, each one a loop after the one before.

    They are listened to in training only: afterwards who listened before does so again.
    """
    over = threading.Event()

    def tell():
        for number in numbers:
            before = written(folder)
            while written(folder) <= before + HEADER:
                if over.wait(0.002):
                    return
            os.kill(os.getpid(), number)

    # Where training does not listen, this process must not die of it.
    def survive(*_):
        pass

    handlers = {number: signal.signal(number, survive) for number in numbers}
    thread = threading.Thread(target=tell)
    thread.start()
    try:
        yield
        assert {signal.getsignal(number) for number in numbers} == {survive}
    finally:
        over.set()
        thread.join()
        for number, handler in handlers.items():
            signal.signal(number, handler)


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
    ends, arguments, tmp_path, capfd
):
    folder = tmp_path / "run"
    with told(folder, signal.SIGTERM):
        status, output = ends(folder, **LONG)
    assert status == 143
    step = stopped_at(output.err, "SIGTERM")
    assert 20 < step < 400
    assert saved(folder) == [step]
    stands = tf.train.load_variable(str(folder), "global_step/.ATTRIBUTES/VARIABLE_VALUE")
    assert stands == step
    main(arguments(folder, **LONG))
    assert f"restored model from {folder}/ckpt-{step}." in capfd.readouterr().out
    assert sorted(saved(folder)) == [step, 400]


@pytest.mark.slow
def test_int_too(ends, tmp_path):
    folder = tmp_path / "run"
    with told(folder, signal.SIGINT):
        status, output = ends(folder, **LONG)
    assert status == 130
    assert saved(folder) == [stopped_at(output.err, "SIGINT")]
