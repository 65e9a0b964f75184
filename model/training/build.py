"""The parts of a run, built from its parameters: state, data, checkpoints, Orbit's controller."""

from pathlib import Path

import orbit
import tensorflow as tf
from official.core import config_definitions

from common.fields import refused
from model import EVAL, TRAIN, TRAIN_AND_EVAL
from model.checkpoints import files, model_dir
from model.checkpoints.manager import BestCheckpoint, Checkpoints, best_metric
from model.configs import schema
from model.data.task_sampler import TaskSampler
from model.tasks.pair_task import PairTask
from model.training.asynchronous import AsynchronousTrainer
from model.training.state import Run, Signals, make_state, shared_columns
from model.training.synchronous import SynchronousTrainer
from model.training.validation import Validator


def make_run(
    params: config_definitions.ExperimentConfig,
    strategy: tf.distribute.Strategy,
    tasks: list[PairTask],
    *,
    mode: str,
    folder: Path,
    directory: Path,
) -> Run:
    """Checks the data and `--model_dir`, the folder, and makes the parts of a run.

    In `directory` this process writes checkpoints: in the folder, or where nobody reads them.

    Raises:
      InputError: if the data are unusable, or the folder has another run or nothing to evaluate.
    """
    _check_data(tasks, mode=mode, folder=folder, replicas=strategy.num_replicas_in_sync)
    trained_on = [task.train for task in tasks if TRAIN in mode]
    data = {records.name: records.identities() for records in trained_on}
    of_run = model_dir.prepare(params, mode=mode, folder=folder, data=data)
    metric = best_metric(params, tasks)
    with strategy.scope():
        begins = TRAIN in mode and files.last(folder) is None
        state = make_state(params, tasks, initialize=begins)
    columns = shared_columns(state, strategy)
    saved = state._asdict()
    if TRAIN not in mode:
        del saved["optimizer"]  # that of the run may be another
    return Run(
        params=params,
        mode=mode,
        folder=folder,
        strategy=strategy,
        tasks=tasks,
        record=of_run,
        sampler=TaskSampler(
            data=[task.train.config for task in tasks],
            shares=[further.share for further in schema.further_tasks(params.task).values()],
            seed=params.task.seed,
        ),
        state=state,
        columns=columns,
        checkpoints=Checkpoints(
            tf.train.Checkpoint(**saved),
            global_step=state.global_step,
            folder=folder,
            directory=directory,
            config=params.trainer,
            synchronize=columns.synchronize,
        ),
        best=BestCheckpoint(
            tf.train.Checkpoint(model=state.model, average=state.average),
            global_step=state.global_step,
            folder=folder,
            directory=directory,
            metric=metric,
        ),
        signals=Signals(),
    )


def _check_data(tasks: list[PairTask], *, mode: str, folder: Path, replicas: int) -> None:
    """Checks the data that a mode reads, before anything is built."""
    for task in tasks:
        if TRAIN in mode:
            config, name = task.train.config, f"{task.train.name}.global_batch_size"
            for size in (config.global_batch_size, *config.batch_sizes):
                if size % replicas:
                    raise refused(name, size, f"multiples of the {replicas} replicas")
        for records, use in ((task.train, TRAIN), (task.validation, EVAL)):
            if use in mode:
                task.check(records)
                records.require_outside(str(folder))
        if mode == TRAIN_AND_EVAL:
            task.validation.require_others_than(task.train)


def make_controller(run: Run) -> orbit.Controller:
    """Orbit's loop, its state restored from the last checkpoint."""
    config = run.params.trainer
    # One process of a cluster writes events.
    train, validation = (
        str(run.folder / name) if run.strategy.extended.should_save_summary else None
        for name in (TRAIN, "validation")
    )
    is_asynchronous = isinstance(run.strategy, tf.distribute.ParameterServerStrategy)
    make_trainer = AsynchronousTrainer if is_asynchronous else SynchronousTrainer
    return orbit.Controller(
        global_step=run.state.global_step,
        trainer=make_trainer(run) if TRAIN in run.mode else None,
        evaluator=Validator(run) if EVAL in run.mode else None,
        strategy=run.strategy,
        # Up to the next multiple, wherever the run was stopped.
        steps_per_loop=lambda step: until_multiple(step, config.steps_per_loop),
        checkpoint_manager=run.checkpoints,
        summary_dir=train,
        eval_summary_dir=validation,
    )


def until_multiple(step: int, of: int) -> int:
    """Number of steps from a step to the next multiple of `of`."""
    return of - int(step) % of
