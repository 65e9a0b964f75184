"""A loss that is not finite stops the run, which names step, records and the last checkpoint."""

import re

import numpy as np
import pytest
import tensorflow as tf

from model.data import input_pipeline
from model.data.input_pipeline import ids_of
from model.data.task_sampler import Phase, TaskSampler
from model.tasks.multitask import tasks_of

LAST_GOOD = 27
# Layers that are multiplied by each other: a rate that is too high squares their size each step.
MULTIPLIED = {
    "task__model__response_network__hidden": "[8,8]",
    "task__model__response_network__activation": "linear",
    "task__model__response_network__normalize": False,
    "task__model__score_scale": 1.0,
    "trainer__optimizer_config__optimizer__type": "sgd",
}
BLOWN_UP = MULTIPLIED | {
    "task__seed": 3,
    "trainer__optimizer_config__learning_rate__type": "stepwise",
    "trainer__optimizer_config__learning_rate__stepwise__boundaries": f"[{LAST_GOOD}]",
    "trainer__optimizer_config__learning_rate__stepwise__values": "[0.05,100.0]",
}


def batch_ids(params, step):
    """The ids of the batch of a step, by reading all that come before it."""
    tasks = tasks_of(params.task)
    shares = [params.task.nli.share] if len(tasks) > 1 else []
    data = [task.task_config.train_data for task in tasks]
    drawn = TaskSampler(data, shares, params.task.seed).tasks(0, step)
    task, before = tasks[drawn[-1]], int(np.sum(drawn[:-1] == drawn[-1]))
    source = input_pipeline.make_source("any", data[drawn[-1]], seed=params.task.seed)
    phase = Phase(before + 1, data[drawn[-1]].global_batch_size)
    *_, batch = source.shard(tf.distribute.InputContext()).batches(0, [phase])
    return task.name, [own.decode() for own in ids_of(task, batch).numpy()]


@pytest.mark.parametrize(
    ("experiment", "changes"),
    [
        pytest.param("reddit", {}, id="reddit"),
        pytest.param(
            "reddit_nli", {"task__nli__share": 0.2}, id="reddit_nli", marks=pytest.mark.slow
        ),
    ],
)
def test_the_step_its_records_and_the_checkpoint_are_named(
    ends, parse, tmp_path, experiment, changes
):
    folder, changes = tmp_path / "run", BLOWN_UP | changes
    status, output = ends(folder, experiment, **changes)
    assert status == 1
    said = output.err.strip().splitlines()[-1]
    pattern = (
        r"error: the loss of step (\d+) is (?:nan|inf); its batch of (\w+) has the records (.+)\. "
        rf"The last checkpoint is {folder}/ckpt-20"
    )
    found = re.fullmatch(pattern, said)
    assert found, said
    step = int(found[1])
    assert LAST_GOOD + 2 <= step <= 40
    name, ids = batch_ids(parse(experiment, **changes), step)
    assert (found[2], found[3].split(", ")) == (name, ids)
    assert len(set(ids)) == (32 if name == "response_selection" else 16)
    assert [path.name for path in folder.glob("ckpt-*.index")] == ["ckpt-20.index"]
    assert "Traceback" not in output.err


@pytest.mark.slow
def test_before_the_first_checkpoint_there_is_none_to_name(ends, tmp_path):
    rate = "trainer__optimizer_config__learning_rate__constant__learning_rate"
    status, output = ends(tmp_path / "run", **MULTIPLIED | {rate: 100.0})
    assert status == 1
    assert output.err.strip().splitlines()[-1].endswith("The last checkpoint is none yet")
    assert not list((tmp_path / "run").glob("ckpt*"))
