"""One run: its parameters and tasks, all that training changes, and what watches it."""

import signal
from pathlib import Path
from types import FrameType
from typing import Self

import orbit
import tensorflow as tf
from official.core import config_definitions

from common.fields import refused
from model import EVAL, TRAIN, TRAIN_AND_EVAL, dual_encoder, optimizer
from model.checkpoints import files, model_dir, trained
from model.checkpoints.manager import BestCheckpoint, Checkpoints, best_metric
from model.columns import Columns
from model.configs import schema
from model.data.task_sampler import TaskSampler
from model.ema import WeightAverage
from model.initializers import word_vectors
from model.tasks import registry
from model.tasks.pair_task import PairTask


class Signals:
    """Notes TERM, which schedulers send first, and INT (Ctrl-C) that arrive while it is entered.

    Training asks between two steps.
    """

    def __init__(self) -> None:
        self.stop: signal.Signals | None = None
        """The signal to stop, if one has arrived."""

    def __enter__(self) -> Self:
        stop = (signal.SIGTERM, signal.SIGINT)
        self._before = {number: signal.signal(number, self._note) for number in stop}
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.stop is not None:
            raise KeyboardInterrupt  # the second signal stops at once
        self.stop = signal.Signals(number)

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


class Run:
    """One run and its parts.

    Args:
      params: the parameters.
      strategy: under which it trains or validates.
      mode: one of `model.MODES`.
      folder: `--model_dir`.
      directory: where this process writes checkpoints: the folder, or where nobody reads them.

    Raises:
      InputError: if the data are unusable, or the folder has another run or nothing to evaluate.
    """

    def __init__(
        self,
        params: config_definitions.ExperimentConfig,
        strategy: tf.distribute.Strategy,
        *,
        mode: str,
        folder: Path,
        directory: Path,
    ):
        self.params, self.strategy, self.mode, self.folder = params, strategy, mode, folder
        trains = TRAIN in mode
        with strategy.scope():
            self.tasks = registry.tasks_of(params.task)
        self._check_data()
        trained_on = [task.train for task in self.tasks if trains]
        data = {records.name: records.identities() for records in trained_on}
        self.record = model_dir.prepare(params, mode=mode, folder=folder, data=data)
        metric = best_metric(params, self.tasks)
        with strategy.scope():
            begins = trains and files.last(folder) is None
            self.state = make_state(params, self.tasks, trains=trains, begins=begins)
        self.columns = _shared_columns(self.state, strategy)
        self.sampler = TaskSampler(
            data=[task.train.config for task in self.tasks],
            shares=[further.share for further in schema.further_tasks(params.task).values()],
            seed=params.task.seed,
        )
        self.checkpoints = Checkpoints(
            self.state,
            folder=folder,
            directory=directory,
            config=params.trainer,
            synchronize=self.columns.synchronize,
        )
        self.best = BestCheckpoint(self.state, folder=folder, directory=directory, metric=metric)
        self.signals = Signals()

    def _check_data(self) -> None:
        """Checks the data that the mode reads, before anything is built."""
        replicas = self.strategy.num_replicas_in_sync
        for task in self.tasks:
            if TRAIN in self.mode:
                config, name = task.train.config, f"{task.train.name}.global_batch_size"
                for size in (config.global_batch_size, *config.batch_sizes):
                    if size % replicas:
                        raise refused(name, size, f"multiples of the {replicas} replicas")
            for records, use in ((task.train, TRAIN), (task.validation, EVAL)):
                if use in self.mode:
                    task.check(records)
                    records.require_outside(str(self.folder))
            if self.mode == TRAIN_AND_EVAL:
                task.validation.require_others_than(task.train)

    @property
    def step(self) -> int:
        """Number of steps done."""
        return int(self.state.global_step.numpy())

    @property
    def main_metrics(self) -> list[str]:
        """The main metric of each task."""
        return [task.main for task in self.tasks]


def make_state(
    params: config_definitions.ExperimentConfig,
    tasks: list[PairTask],
    *,
    trains: bool = True,
    begins: bool = True,
) -> tf.train.Checkpoint:
    """What a checkpoint holds: `model`, `average`, `global_step` and, to train, `optimizer`.

    The position in the data is not in it: it follows from the step. Called under the strategy. A
    run that begins is initialized from `task.init_checkpoint` or from the training texts of its
    first task. They may be gone by the time a run is resumed.
    """
    config = params.task
    model = dual_encoder.build(config.model, seed=config.seed)
    if begins and config.init_checkpoint:
        trained.initialize(model, config.init_checkpoint)
    elif begins:
        word_vectors.begin(model, tasks[0])
    state = tf.train.Checkpoint(model=model)
    if trains:  # for a validation it may be another
        state.optimizer = optimizer.build(params)
        # Otherwise the first step makes them, and a damaged checkpoint shows only then. Workers of
        # parameter servers cannot make variables.
        state.optimizer._create_all_weights(model.trainable_variables)
    state.average = WeightAverage(model, params.trainer)
    state.global_step = orbit.utils.create_global_step()
    return state


def _shared_columns(state: tf.train.Checkpoint, strategy: tf.distribute.Strategy) -> Columns:
    """What replicas have to exchange before their weights are read: nothing if none trains."""
    if not hasattr(state, "optimizer"):
        return Columns(strategy, shared=[], others=[])
    optimizer, average = state.optimizer, state.average
    tables = state.model.encoder.shared_tables
    of_tables = [
        optimizer.get_slot(table, name) for table in tables for name in optimizer.get_slot_names()
    ]
    shared = [*tables, *average.of(tables), *(slot for slot in of_tables if len(slot.shape) > 1)]
    known = {id(variable) for variable in shared}
    all_variables = [*state.model.trainable_variables, *optimizer.variables(), *average.values]
    others = [variable for variable in all_variables if id(variable) not in known]
    return Columns(strategy, shared=shared, others=others)
