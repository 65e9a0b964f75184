"""A run that is killed and started again ends with the very numbers of an undisturbed one."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from model.__main__ import main
from model.training.ema import WeightAverage

REPOSITORY = Path(__file__).parents[3]

AVERAGING = {
    "task__model__encoder__averaging__word_dropout": 0.2,
    "task__model__encoder__averaging__bigram_dropout": 0.3,
}
TRANSFORMER = {
    "task__model__encoder__type": "transformer",
    "task__model__encoder__transformer__layers": 1,
    "task__model__encoder__transformer__heads": 2,
    "task__model__encoder__transformer__hidden": 16,
    "task__model__encoder__transformer__filter": 32,
    "task__model__encoder__transformer__embedding_dim": 12,
    "task__model__encoder__transformer__dropout": 0.1,
    "task__model__encoder__transformer__word_dropout": 0.1,
}
SHARED = {
    "task__nli__share": 0.3,
    "task__model__nli__dropout": 0.1,
    "task__model__nli__feature_dropout": 0.1,
}
THREE = SHARED | {"task__teacher__share": 0.4}
# Windows of 100 records: 100 steps end within one, and within an epoch.
EVERY_100 = {
    "task__train_data__shuffle_buffer_size": 100,
    "trainer__average_decay": 0.9,
    "trainer__steps_per_loop": 10,
    "trainer__summary_interval": 10,
    "trainer__checkpoint_interval": 100,
    "trainer__max_to_keep": 100,
}
SAVES = "save_counter/.ATTRIBUTES/VARIABLE_VALUE"
"""How often a run was saved, which is all that being stopped may change."""


def started(arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "model", *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def run_to_the_end(arguments):
    with started(arguments) as process:
        assert process.wait(300) == 0


def wait_for(condition, process):
    while not condition():
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.002)


class Killed(BaseException):
    """Ends a run in this process; what it leaves on the disk is what a kill leaves."""


def kill_at(step, arguments, monkeypatch):
    step_of_average = WeightAverage.step

    def last_step(average, number):
        step_of_average(average, number)
        if number == step:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(WeightAverage, "step", last_step)
        with pytest.raises(Killed):
            main(arguments)


def newest(folder):
    """The step of the newest checkpoint that looks complete."""
    return max((int(path.stem[5:]) for path in folder.glob("ckpt-*.index")), default=0)


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
    [
        ("reddit", AVERAGING),
        ("reddit", TRANSFORMER),
        ("reddit_nli", AVERAGING | SHARED),
        ("reddit_nli_teacher", AVERAGING | THREE),
    ],
    ids=["reddit", "transformer", "reddit_nli", "reddit_nli_teacher"],
)
def test_a_killed_run_goes_on_as_if_nothing_had_happened(
    arguments, tmp_path, monkeypatch, experiment, changes
):
    changes = changes | EVERY_100 | {"trainer__train_steps": 200}
    main(arguments(tmp_path / "whole", experiment, **changes))
    folder = tmp_path / "killed"
    kill_at(125, arguments(folder, experiment, **changes), monkeypatch)
    assert last_saved(folder) == 100
    main(arguments(folder, experiment, **changes))
    assert_same(folder, tmp_path / "whole")


@pytest.mark.slow
def test_killed_or_stopped_at_random_moments(arguments, tmp_path):
    """While it trains, validates, writes a checkpoint or deletes one; the best is the same too."""
    changes = AVERAGING | EVERY_100 | {"trainer__train_steps": 500, "mode": "train_and_eval"}
    changes |= {"trainer__checkpoint_interval": 20, "trainer__max_to_keep": 2}
    changes |= {"trainer__validation_interval": 130}
    main(arguments(tmp_path / "whole", **changes))
    folder, seed = tmp_path / "disturbed", 7
    steps = []
    draw = random.Random(seed).uniform
    kill, stop = (signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143)
    for number, status in (kill, stop, kill):
        before = newest(folder)
        with started(arguments(folder, **changes)) as process:
            wait_for(lambda before=before: newest(folder) > before, process)
            time.sleep(draw(0, 0.5))
            process.send_signal(number)
            assert process.wait(60) == status
        steps.append(last_saved(folder))
        print(f"seed {seed}: stopped behind steps {steps}")
    assert steps == sorted(steps)
    run_to_the_end(arguments(folder, **changes))
    assert_same(folder, tmp_path / "whole")
    best = [(run / "best" / "best.json").read_text() for run in (folder, tmp_path / "whole")]
    assert best[0] == best[1]
    assert last_saved(folder / "best") == last_saved(tmp_path / "whole" / "best")
