"""A run that is killed and started again ends with the very numbers of an undisturbed one."""

import signal
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from model.__main__ import main
from tests.conftest import REPOSITORY

AVERAGING = {
    "task__model__encoder__averaging__word_dropout": 0.2,
    "task__model__encoder__averaging__bigram_dropout": 0.3,
}
SIZES = {"layers": 1, "heads": 2, "hidden": 16, "filter": 32, "embedding_dim": 12}
TRANSFORMER = {
    "task__model__encoder__type": "transformer",
    **{f"task__model__encoder__transformer__{name}": size for name, size in SIZES.items()},
    **dict.fromkeys((f"task__model__encoder__transformer__{x}dropout" for x in ("", "word_")), 0.1),
}
THREE = {
    "task__nli__share": 0.3,
    "task__model__nli__dropout": 0.1,
    "task__model__nli__feature_dropout": 0.1,
    "task__teacher__share": 0.4,
}
# Windows of 100 records: 60 steps end within one, and within an epoch.
EVERY_60 = {
    "task__train_data__shuffle_buffer_size": 100,
    "trainer__average_decay": 0.9,
    "trainer__steps_per_loop": 10,
    "trainer__checkpoint_interval": 60,
    "trainer__max_to_keep": 100,
}
SIGNALLED = """
import signal, sys
from model.__main__ import main
from importlib import import_module

number, module, owner, name, calls, *arguments = sys.argv[1:]
place = getattr(import_module(module), owner) if owner else import_module(module)
function, left = getattr(place, name), int(calls)

def signalled(*given, **more):
    global left
    left -= 1
    if left == 0:
        signal.raise_signal(int(number))
    return function(*given, **more)

setattr(place, name, signalled)
main(arguments)
"""
"""`python -m model`, which gets a signal when a function is called for the nth time."""
MOMENTS = [
    (
        *(signal.SIGKILL, "tensorflow.python.checkpoint.checkpoint_management", ""),
        *("update_checkpoint_state_internal", 3),
    ),
    (signal.SIGTERM, "model.training.validation", "Validator", "_measured", 1),
    (signal.SIGKILL, "model.ema", "WeightAverage", "step", 47),
]
"""A signal, and the function and the call that it arrives in."""
SAVES = "save_counter/.ATTRIBUTES/VARIABLE_VALUE"
"""How often a run was saved, which is all that being stopped may change."""


def run_in_process(program, *arguments):
    """The exit status of `python PROGRAM ARGUMENTS`."""
    command = [sys.executable, *program, *map(str, arguments)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.run(command, cwd=REPOSITORY, timeout=300, check=False, **quiet).returncode


def signalled(moment, arguments):
    """Runs the command up to a moment."""
    status = run_in_process(["-c", SIGNALLED], *moment, *arguments)
    assert status == (143 if moment[0] == signal.SIGTERM else -moment[0])


def last_saved(folder):
    return int(tf.train.latest_checkpoint(str(folder)).rpartition("-")[2])


def variables(folder):
    reader = tf.train.load_checkpoint(str(folder))
    names = set(reader.get_variable_to_shape_map()) - {"_CHECKPOINTABLE_OBJECT_GRAPH", SAVES}
    return {name: reader.get_tensor(name) for name in names}


def assert_same(folder, other):
    assert last_saved(folder) == last_saved(other)
    found, expected = variables(folder), variables(other)
    assert found.keys() == expected.keys()
    kinds = ("average/values/", "/.OPTIMIZER_SLOT/optimizer/accumulator/", "/random_state/")
    assert all(any(kind in name for name in found) for kind in kinds)
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("experiment", "changes"),
    [("reddit", TRANSFORMER), ("reddit_nli_teacher", AVERAGING | THREE)],
    ids=["reddit", "reddit_nli_teacher"],
)
def test_a_killed_run_goes_on_as_if_nothing_had_happened(arguments, tmp_path, experiment, changes):
    changes = changes | EVERY_60 | {"trainer__train_steps": 120}
    main(arguments(tmp_path / "whole", experiment, **changes))
    folder = tmp_path / "killed"
    moment = (signal.SIGKILL, "model.ema", "WeightAverage", "step", 75)
    signalled(moment, arguments(folder, experiment, **changes))
    assert last_saved(folder) == 60
    main(arguments(folder, experiment, **changes))
    assert_same(folder, tmp_path / "whole")


@pytest.mark.slow
def test_killed_and_stopped_at_any_moment(arguments, tmp_path):
    """While it writes a checkpoint, validates and trains; the best is the same too."""
    changes = AVERAGING | EVERY_60 | {"trainer__train_steps": 300, "mode": "train_and_eval"}
    changes |= {"trainer__checkpoint_interval": 20, "trainer__max_to_keep": 2}
    changes |= {"trainer__validation_interval": 130}
    main(arguments(tmp_path / "whole", **changes))
    folder = tmp_path / "disturbed"
    steps = []
    for moment in MOMENTS:
        signalled(moment, arguments(folder, **changes))
        steps.append(last_saved(folder))
        if len(steps) == 1:
            assert (folder / "ckpt-40.index").exists()
    # That of step 40 was written, but not yet named as the last one; the third run did 47 steps.
    assert steps == [20, 130, 160]
    assert run_in_process(["-m", "model"], *arguments(folder, **changes)) == 0
    assert_same(folder, tmp_path / "whole")
    best = [(run / "best" / "run.json").read_text() for run in (folder, tmp_path / "whole")]
    assert best[0] == best[1]
    assert last_saved(folder / "best") == last_saved(tmp_path / "whole" / "best")
