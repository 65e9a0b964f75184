"""Which task each step trains, and on how many records."""

import numpy as np
import pytest

from model.configs import schema
from model.data.task_sampler import Phase, TaskSampler


def sampler(*, share=0.3, seed=7, sizes=(10, 4), boundaries=(), later=()):
    first = schema.Data(
        global_batch_size=sizes[0], batch_boundaries=list(boundaries), batch_sizes=list(later)
    )
    return TaskSampler([first, schema.Data(global_batch_size=sizes[1])], [share], seed)


def test_one_task_has_all_steps():
    one = TaskSampler([schema.Data(global_batch_size=128)], [], 0)
    assert one.tasks(5, 8).tolist() == [0, 0, 0]
    assert one.records(0, before=1000) == 128_000


def test_each_further_task_has_its_share_of_the_steps():
    data = [schema.Data(global_batch_size=size) for size in (10, 4, 6)]
    three = TaskSampler(data, [0.3, 0.5], 7)
    drawn = three.tasks(0, 100_000)
    assert [(drawn == task).mean() for task in range(3)] == pytest.approx([0.2, 0.3, 0.5], abs=0.01)
    assert [three.steps(task, 0, 100_000) for task in range(3)] == np.bincount(drawn).tolist()
    assert three.records(2, before=100_000) == 6 * int((drawn == 2).sum())
    # The second task has the steps that it has without a third.
    np.testing.assert_array_equal(drawn == 1, sampler().tasks(0, 100_000) == 1)


def test_a_draw_depends_on_the_seed_and_the_step_alone():
    whole = sampler().tasks(0, 3_000_000)
    for start, stop in ((0, 1), (1_048_570, 1_048_590), (2_999_000, 3_000_000), (17, 17)):
        np.testing.assert_array_equal(sampler().tasks(start, stop), whole[start:stop])
    assert (sampler(seed=8).tasks(0, 1000) != whole[:1000]).any()


def test_the_draws_are_the_same_on_every_machine():
    # NumPy's Philox with the key (seed, block); computed once.
    found = sampler()
    assert found.tasks(0, 12).tolist() == [0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0]
    assert found.tasks(1 << 20, (1 << 20) + 12).tolist() == [0] * 11 + [1]
    assert found.tasks(1 << 21, (1 << 21) + 12).tolist() == [0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1]


def test_a_batch_grows_within_the_run():
    growing = sampler(share=0.0, sizes=(128, 1), boundaries=[30, 50], later=[256, 512])
    sizes = [growing.batch_size(0, step) for step in (0, 29, 30, 49, 50)]
    assert sizes == [128, 128, 256, 256, 512]
    assert growing.records(0, before=30) == 30 * 128
    assert growing.records(0, before=60) == 30 * 128 + 20 * 256 + 10 * 512
    assert growing.phases(0, 10) == [Phase(20, 128), Phase(20, 256), Phase(None, 512)]
    assert growing.phases(0, 30) == [Phase(20, 256), Phase(None, 512)]
    assert growing.phases(0, 99) == [Phase(None, 512)]


def test_phases_count_only_the_steps_of_their_task():
    mixed = sampler(boundaries=[1000], later=[20])
    ones = int(mixed.tasks(400, 1000).sum())
    assert mixed.phases(0, 400) == [Phase(600 - ones, 10), Phase(None, 20)]
    assert mixed.phases(1, 400) == [Phase(None, 4)]
    second = schema.Data(global_batch_size=4, batch_boundaries=[1000], batch_sizes=[8])
    grows = TaskSampler([schema.Data(global_batch_size=10), second], [0.3], 7)
    assert grows.phases(1, 400) == [Phase(ones, 4), Phase(None, 8)]
    assert grows.records(1, before=1000) == 4 * int(grows.tasks(0, 1000).sum())
    assert grows.records(1, before=1100) == (
        4 * int(grows.tasks(0, 1000).sum()) + 8 * int(grows.tasks(1000, 1100).sum())
    )
