"""One run: its parameters and tasks, all that training changes, and what watches it."""

import signal
from pathlib import Path
from types import FrameType
from typing import NamedTuple, Self

import orbit
import tensorflow as tf
import tf_keras
from official.core import config_definitions

from model import dual_encoder, optimizer
from model.checkpoints import trained
from model.checkpoints.manager import BestCheckpoint, Checkpoints
from model.checkpoints.record import Record
from model.columns import Columns
from model.data.task_sampler import TaskSampler
from model.ema import WeightAverage
from model.initializers import word_vectors
from model.tasks.pair_task import PairTask


class State(NamedTuple):
    """What a checkpoint holds. The position in the data is not in it: it follows from the step."""

    model: tf_keras.Model
    optimizer: tf_keras.optimizers.legacy.Optimizer
    average: WeightAverage
    global_step: tf.Variable


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


class Run(NamedTuple):
    """One run and its parts."""

    params: config_definitions.ExperimentConfig
    mode: str
    folder: Path
    """`--model_dir`."""
    strategy: tf.distribute.Strategy
    tasks: list[PairTask]
    record: Record
    """What the run knows of itself."""
    sampler: TaskSampler
    state: State
    columns: Columns
    checkpoints: Checkpoints
    best: BestCheckpoint
    signals: Signals

    @property
    def step(self) -> int:
        """Number of steps done."""
        return int(self.state.global_step.numpy())

    @property
    def main_metrics(self) -> list[str]:
        """The main metric of each task."""
        return [task.main for task in self.tasks]


def make_state(
    params: config_definitions.ExperimentConfig, tasks: list[PairTask], *, initialize: bool
) -> State:
    """Makes the variables of a run; called under its strategy.

    A run that starts at step 0 is initialized from `task.init_checkpoint` or from the training
    texts of its first task. They may be gone by the time a run is resumed.
    """
    config = params.task
    model = dual_encoder.build(config.model, seed=config.seed)
    if initialize and config.init_checkpoint:
        trained.initialize(model, config.init_checkpoint)
    elif initialize:
        word_vectors.begin(model, tasks[0])
    built = optimizer.build(params)
    # Otherwise the first step makes them, and a damaged checkpoint shows only then. Workers of
    # parameter servers cannot make variables.
    built._create_all_weights(model.trainable_variables)
    return State(
        model=model,
        optimizer=built,
        average=WeightAverage(model, params.trainer),
        global_step=orbit.utils.create_global_step(),
    )


def shared_columns(state: State, strategy: tf.distribute.Strategy) -> Columns:
    """What replicas have to exchange before their weights are read."""
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
