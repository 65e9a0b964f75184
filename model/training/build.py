"""The parts of a run, built from its parameters: state, data, checkpoints, Orbit's controller."""

from pathlib import Path

import orbit
import tensorflow as tf
from official.core import base_task, config_definitions

from common.errors import InputError
from model.checkpoints import files, model_dir
from model.checkpoints.manager import BestCheckpoint, Checkpoints
from model.configs import schema
from model.data import tfrecords
from model.data.task_sampler import TaskSampler
from model.training.asynchronous import AsynchronousTrainer
from model.training.monitoring import LearningCheck
from model.training.signals import Signals
from model.training.state import Run, make_state
from model.training.synchronous import SynchronousTrainer
from model.training.validation import Validator

TRAIN, EVAL = "train", "eval"


def make_run(
    params: config_definitions.ExperimentConfig,
    strategy: tf.distribute.Strategy,
    tasks: list[base_task.Task],
    *,
    mode: str,
    folder: Path,
) -> Run:
    """Checks the data and the folder, and makes the parts of a run.

    Raises:
      InputError: if the data are unusable, or the folder has another run or nothing to evaluate.
    """
    _check_data(tasks, mode=mode, folder=folder, replicas=strategy.num_replicas_in_sync)
    if EVAL in mode:
        _require_metric(params, tasks)
    data = {}
    if TRAIN in mode:
        for task in tasks:
            section = f"{task.section}.train_data"
            data[section] = tfrecords.identities(section, task.task_config.train_data)
    of_run = model_dir.prepare(params, mode=mode, folder=folder, data=data)
    begins = TRAIN in mode and files.last(folder) is None
    state = make_state(params, strategy, tasks, initialize=begins)
    writes = bool(strategy.extended.should_checkpoint)
    return Run(
        params=params,
        mode=mode,
        folder=folder,
        strategy=strategy,
        tasks=tasks,
        record=of_run,
        sampler=TaskSampler(
            data=[task.task_config.train_data for task in tasks],
            shares=[further.share for further in schema.further_tasks(params.task).values()],
            seed=params.task.seed,
        ),
        state=state,
        checkpoints=Checkpoints(
            tf.train.Checkpoint(**state._asdict()),
            global_step=state.global_step,
            folder=folder,
            config=params.trainer,
            writes=writes and TRAIN in mode,
        ),
        best=BestCheckpoint(
            tf.train.Checkpoint(model=state.model, average=state.average),
            global_step=state.global_step,
            folder=folder,
            params=params,
            writes=writes and EVAL in mode and mode != EVAL,
        ),
        check=LearningCheck(state.global_step),
        signals=Signals(),
    )


def _check_data(tasks: list[base_task.Task], *, mode: str, folder: Path, replicas: int) -> None:
    """Checks the data that a mode reads, before anything is built."""
    for task in tasks:
        for use in (TRAIN, EVAL):
            if use not in mode:
                continue
            name = {TRAIN: "train_data", EVAL: "validation_data"}[use]
            section, data = f"{task.section}.{name}", getattr(task.task_config, name)
            sizes = [data.global_batch_size, *data.batch_sizes] if use == TRAIN else []
            if uneven := [size for size in sizes if size % replicas]:
                raise InputError(
                    f"{section}.global_batch_size: {uneven[0]}; accepted: multiples of the "
                    f"{replicas} replicas"
                )
            task.check_data(section, data)
            tfrecords.require_apart(section, data, str(folder))
        if EVAL in mode and mode != EVAL:  # the best checkpoint is chosen
            tfrecords.require_held_out(task.section, task.task_config)


def _require_metric(
    params: config_definitions.ExperimentConfig, tasks: list[base_task.Task]
) -> None:
    """Checks that validation has the metric that chooses the best checkpoint."""
    named = params.trainer.best_checkpoint_eval_metric
    metrics = ["validation_loss", *(name for task in tasks for name in task.metrics)]
    if params.task.sts_dev:
        metrics.append("sts_dev_pearson")
    if named and named not in metrics:
        raise InputError(
            f"trainer.best_checkpoint_eval_metric: {named!r}; accepted: {', '.join(metrics)}"
        )


def make_controller(run: Run) -> orbit.Controller:
    """Orbit's loop, its state restored from the last checkpoint."""
    config = run.params.trainer
    # One process of a cluster writes events.
    train, validation = (
        str(run.folder / name) if run.strategy.extended.should_save_summary else None
        for name in (TRAIN, config.validation_summary_subdir)
    )
    is_asynchronous = isinstance(run.strategy, tf.distribute.ParameterServerStrategy)
    make_trainer = AsynchronousTrainer if is_asynchronous else SynchronousTrainer
    then = run.best.offer if run.mode != EVAL else None
    return orbit.Controller(
        global_step=run.state.global_step,
        trainer=make_trainer(run) if TRAIN in run.mode else None,
        evaluator=Validator(run, then=then) if EVAL in run.mode else None,
        strategy=run.strategy,
        # Up to the next multiple, wherever the run was stopped.
        steps_per_loop=lambda step: until_multiple(step, config.steps_per_loop),
        checkpoint_manager=run.checkpoints,
        enable_async_checkpointing=config.async_checkpoints,
        summary_interval=config.summary_interval,
        summary_dir=train,
        eval_summary_dir=validation,
    )


def until_multiple(step: int, of: int) -> int:
    """Number of steps from a step to the next multiple of `of`."""
    return of - int(step) % of
