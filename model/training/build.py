"""The parts of a run, built from its parameters: state, data, checkpoints, Orbit's controller."""

from posixpath import join
from typing import NamedTuple

import orbit
import tensorflow as tf
from official.core import base_task, config_definitions

from model.checkpoints import files, model_dir
from model.checkpoints.manager import BestCheckpoint, Checkpoints
from model.configs import schema
from model.data import tfrecords
from model.data.task_sampler import TaskSampler
from model.errors import InputError
from model.training import tensorboard
from model.training.async_trainer import AsynchronousTrainer
from model.training.monitoring import LearningCheck
from model.training.signals import Signals
from model.training.state import State, make_state
from model.training.sync_trainer import SynchronousTrainer
from model.training.validation import StsPairs, Validator

TRAIN, EVAL = "train", "eval"


class Run(NamedTuple):
    """One run and its parts."""

    params: config_definitions.ExperimentConfig
    mode: str
    folder: str
    """`--model_dir`."""
    strategy: tf.distribute.Strategy
    tasks: list[base_task.Task]
    sampler: TaskSampler
    state: State
    checkpoints: Checkpoints
    best: BestCheckpoint
    check: LearningCheck
    signals: Signals

    @property
    def last_checkpoint(self) -> str | None:
        """The one to resume from; workers other than the chief keep none of their own."""
        return files.last(self.folder)

    def close(self) -> None:
        """Removes temporary checkpoints."""
        self.checkpoints.close()
        self.best.close()


def make_run(
    params: config_definitions.ExperimentConfig,
    strategy: tf.distribute.Strategy,
    tasks: list[base_task.Task],
    *,
    mode: str,
    folder: str,
) -> Run:
    """Checks the data and the folder, and makes the parts of a run.

    Raises:
      InputError: if the data are unusable, or the folder has another run or nothing to evaluate.
    """
    _check_data(tasks, mode=mode, folder=folder, replicas=strategy.num_replicas_in_sync)
    if EVAL in mode:
        _require_metric(params, tasks)
    model_dir.prepare(params, mode=mode, folder=folder)
    if TRAIN in mode:
        model_dir.require_data(training_records(tasks), folder)
    begins = "train" in mode and files.last(folder) is None
    state = make_state(params, strategy, tasks, initialize=begins)
    writes = bool(strategy.extended.should_checkpoint)
    return Run(
        params=params,
        mode=mode,
        folder=folder,
        strategy=strategy,
        tasks=tasks,
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
            writes=writes and "train" in mode,
        ),
        best=BestCheckpoint(
            tf.train.Checkpoint(model=state.model, average=state.average),
            global_step=state.global_step,
            folder=folder,
            params=params,
            writes=writes and EVAL in mode and mode != EVAL,
            trains=TRAIN in mode,
        ),
        check=LearningCheck(state.global_step),
        signals=Signals(),
    )


def training_records(tasks: list[base_task.Task]) -> model_dir.Records:
    """The record files that each task trains on."""
    sections = {f"{task.section}.train_data": task.task_config.train_data for task in tasks}
    return {name: tfrecords.identities(name, data) for name, data in sections.items()}


def _check_data(tasks: list[base_task.Task], *, mode: str, folder: str, replicas: int) -> None:
    """Checks the data that a mode reads, before anything is built."""
    used = [
        name for name, part in (("train_data", TRAIN), ("validation_data", EVAL)) if part in mode
    ]
    for task in tasks:
        for name in used:
            section, data = f"{task.section}.{name}", getattr(task.task_config, name)
            if data.is_training:  # a validation is of one replica
                _require_whole_shares(section, data, replicas=replicas)
            task.check_data(section, data)
            tfrecords.require_apart(section, data, folder)
        if EVAL in mode and mode != EVAL:  # the best checkpoint is chosen
            tfrecords.require_held_out(task.section, task.task_config)


def _require_whole_shares(section: str, data: schema.Data, *, replicas: int) -> None:
    """Checks that each replica gets as many records of a batch as the others."""
    sizes = {"global_batch_size": [data.global_batch_size], "batch_sizes": data.batch_sizes}
    for name, values in sizes.items():
        if uneven := [size for size in values if size % replicas]:
            raise InputError(
                f"{section}.{name}: {uneven[0]}; accepted: multiples of the {replicas} replicas"
            )


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
    trainer = run.params.trainer
    step = run.state.global_step
    train, validation = (
        folder if run.strategy.extended.should_save_summary else None
        for folder in (join(run.folder, TRAIN), validation_events(run))
    )
    return orbit.Controller(
        global_step=step,
        trainer=_trainer(run) if "train" in run.mode else None,
        evaluator=_validator(run) if "eval" in run.mode else None,
        strategy=run.strategy,
        # Up to the next multiple, wherever the run was stopped.
        steps_per_loop=lambda step: until_multiple(step, trainer.steps_per_loop),
        checkpoint_manager=run.checkpoints,
        enable_async_checkpointing=trainer.async_checkpoints,
        summary_interval=trainer.summary_interval,
        summary_dir=train,
        eval_summary_dir=validation,
        summary_manager=tensorboard.summary_manager(train, step),
        eval_summary_manager=tensorboard.summary_manager(validation, step),
    )


def validation_events(run: Run) -> str:
    """The folder of the events of validations."""
    return join(run.folder, run.params.trainer.validation_summary_subdir)


def _trainer(run: Run) -> orbit.AbstractTrainer:
    state = run.state
    if isinstance(run.strategy, tf.distribute.ParameterServerStrategy):
        return AsynchronousTrainer(
            run.tasks,
            sampler=run.sampler,
            strategy=run.strategy,
            model=state.model,
            optimizer=state.optimizer,
            global_step=state.global_step,
            task_steps=state.task_steps,
            signals=run.signals,
        )
    return SynchronousTrainer(
        run.tasks,
        sampler=run.sampler,
        strategy=run.strategy,
        model=state.model,
        optimizer=state.optimizer,
        average=state.average,
        global_step=state.global_step,
        signals=run.signals,
    )


def _validator(run: Run) -> Validator:
    sts_dev = run.params.task.sts_dev
    return Validator(
        run.tasks,
        model=run.state.model,
        average=run.state.average,
        sts=StsPairs.read(sts_dev, run.tasks[0].text) if sts_dev else None,
        check=run.check,
        then=run.best.offer if run.mode != EVAL else None,
        # Several workers save together: those stop at a step that they agree on.
        signals=None if run.strategy.extended._in_multi_worker_mode() else run.signals,
    )


def until_multiple(step: int, of: int) -> int:
    """Number of steps from a step to the next multiple of `of`."""
    return of - int(step) % of
