"""Which task each step trains; every record once an epoch, from any position on."""

import numpy as np
import pytest
import tensorflow as tf

from common.errors import InputError
from common.tfrecord import frame
from model.configs import schema
from model.data import input_pipeline
from model.data.input_pipeline import Source
from model.data.task_sampler import Phase, TaskSampler
from model.tasks.registry import tasks_of

SIZES = [5, 0, 9, 13, 2, 7, 11]
RECORDS = sum(SIZES)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Seven files of numbers from 0 to 46, read three at once, shuffled by tens."""
    folder = tmp_path_factory.mktemp("numbers")
    numbers = iter(range(RECORDS))
    files = []
    for index, size in enumerate(SIZES):
        path = folder / f"{index}.tfrecord"
        path.write_bytes(b"".join(frame(b"%d" % next(numbers)) for _ in range(size)))
        files.append(str(path))
    return Source(files, SIZES, window=10, files_at_once=3, seed=1)


def numbers(source, position, count):
    """So many records."""
    batches = source.batches(position, [Phase(None, 1)]).take(count)
    return [int(record) for (record,) in batches.as_numpy_iterator()]


def test_every_epoch_has_every_record_once_in_an_order_of_its_own(source):
    epochs = [numbers(source, start, RECORDS) for start in (0, RECORDS, 2 * RECORDS)]
    assert all(sorted(epoch) == list(range(RECORDS)) for epoch in epochs)
    assert len(set(map(tuple, epochs))) == 3
    assert numbers(source, 0, RECORDS) == epochs[0]
    assert numbers(source._replace(seed=2), 0, RECORDS) != epochs[0]


def test_reading_goes_on_from_any_position(source):
    whole = numbers(source, 0, 2 * RECORDS + 20)
    for position in [0, 1, 9, 10, 11, 26, 27, 28, 46, 47, 48, 93, 94]:
        assert numbers(source, position, 20) == whole[position : position + 20], position


def test_what_was_read_is_not_parsed_again(source, monkeypatch):
    """Files of groups that were read are not even opened: a broken one goes unnoticed."""
    order = [numbers(source._replace(window=1), 0, RECORDS)[at] for at in (0, 40)]
    first, late = (next(i for i in range(7) if n < sum(SIZES[: i + 1])) for n in order)
    assert first != late
    files = [*source.files]
    files[first] = "/no/such/file"
    broken = source._replace(files=files, window=1)
    assert len(numbers(broken, 40, 5)) == 5
    with pytest.raises(tf.errors.NotFoundError):
        numbers(broken, 0, 5)


def test_batches_span_windows_and_epochs_and_change_sizes_without_losing_a_record(source):
    batches = source.batches(3, [Phase(4, 2), Phase(2, 5), Phase(None, 16)]).take(13)
    batches = [[int(record) for record in batch.numpy()] for batch in batches]
    assert [len(batch) for batch in batches] == [2] * 4 + [5] * 2 + [16] * 7
    assert [number for batch in batches for number in batch] == numbers(source, 3, 130)


@pytest.mark.parametrize("start", [1, 3, 9])
def test_each_of_two_workers_goes_on_from_a_step(source, start):
    sampler = TaskSampler([schema.Data(global_batch_size=4)], [], 0)
    for worker in range(2):  # with two replicas each
        context = tf.distribute.InputContext(2, worker, 4)

        def records(start, steps, context=context):
            batches = input_pipeline.training_batches(
                source, tf.identity, sampler=sampler, index=0, start=start, context=context
            )
            return [int(record) for batch in batches.take(2 * steps) for record in batch.numpy()]

        assert records(start, 10) == records(0, start + 10)[2 * start :]


@pytest.mark.parametrize("workers", [2, 3])
def test_over_an_epoch_the_workers_read_every_record_once(source, workers):
    seen = []
    for worker in range(workers):
        part = source.shard(tf.distribute.InputContext(workers, worker, workers))
        seen += numbers(part, 0, sum(part.sizes))
    assert sorted(seen) == list(range(RECORDS))


def test_more_workers_than_files_are_refused(source):
    with pytest.raises(InputError, match=r"7 files .* 9 workers"):
        source.shard(tf.distribute.InputContext(9, 8, 9))


def test_replicas_of_one_process_read_different_records(parse):
    (task,) = tasks_of(parse().task)
    source = input_pipeline.make_source(task.train, seed=0)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    def dataset(context):
        sampler = TaskSampler([task.train.config], [], 0)
        return input_pipeline.training_batches(
            source, task.parse, sampler=sampler, index=0, start=0, context=context
        )

    batches = iter(strategy.distribute_datasets_from_function(dataset))
    seen = []
    for _ in range(400 // 32):  # all steps of an epoch that are whole
        replicas = strategy.experimental_local_results(next(batches)["input_key"])
        assert [len(keys) for keys in replicas] == [16, 16]
        seen += [key for keys in replicas for key in keys.numpy().tolist()]
    assert len(set(seen)) == len(seen) == 384


def test_validation_is_one_pass_without_the_short_batch(parse):
    (task,) = tasks_of(parse(task__validation_data__global_batch_size=30).task)
    batches = input_pipeline.validation_batches(task.validation)
    assert [len(batch["input_key"]) for batch in batches] == [30, 30]


def sampler(*, share=0.3, seed=7, sizes=(10, 4), boundaries=(), later=()):
    first = schema.Data(
        global_batch_size=sizes[0], batch_boundaries=list(boundaries), batch_sizes=list(later)
    )
    return TaskSampler([first, schema.Data(global_batch_size=sizes[1])], [share], seed)


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
