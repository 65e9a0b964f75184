"""One run of an experiment: what it is made of, and Orbit's loop around it."""

import contextlib
import re
import time
from posixpath import join
from typing import NamedTuple

import orbit
import tensorflow as tf
from absl import logging
from official.common import distribute_utils
from official.core import config_definitions
from official.modeling import performance

from model.checkpoints import files, model_dir
from model.checkpoints.manager import BestCheckpoint, Checkpoints
from model.checkpoints.state import State, make_state
from model.configs import schema
from model.data import tfrecords
from model.data.task_sampler import Schedule
from model.distribute import cluster
from model.errors import InputError, StoppedError, TrainingError
from model.tasks.tasks import Part, parts_of
from model.training import optimizer
from model.training import progress as console
from model.training.async_trainer import AsynchronousTrainer
from model.training.learning import Learning
from model.training.profiler import Profiler
from model.training.progress import BesideProgress, Progress
from model.training.signals import Signals
from model.training.sts import StsPairs
from model.training.sync_trainer import Trainer
from model.training.validation import Validator

_NO_REASON = re.compile(r" *$|Graph execution error:|Detected at |  File ")
"""What stands before the reason in TensorFlow's errors."""


class Run(NamedTuple):
    """One run and all that it is made of."""

    params: config_definitions.ExperimentConfig
    mode: str
    folder: str
    """`--model_dir`."""
    strategy: tf.distribute.Strategy
    parts: list[Part]
    schedule: Schedule
    state: State
    checkpoints: Checkpoints
    best: BestCheckpoint
    learning: Learning
    signals: Signals
    profiler: Profiler

    @property
    def step(self) -> int:
        """How many steps are done."""
        return int(self.state.global_step.numpy())

    @property
    def last_checkpoint(self) -> str | None:
        """The one to go on from; workers other than the chief keep none of their own."""
        return files.last(self.folder)

    def close(self) -> None:
        """Removes what workers wrote that is not for the model folder."""
        self.checkpoints.close()
        self.best.close()


def run(params: config_definitions.ExperimentConfig, *, mode: str, folder: str) -> None:
    """Trains, validates or both; goes on from the last checkpoint of the model folder.

    Raises:
      InputError: if there are no data or too few, the parameters do not fit together, the
        folder holds another run, or there is nothing to evaluate.
      TrainingError: if a loss is not finite, a checkpoint cannot be written, or the run ends as
        one that learns nothing any more.
      StoppedError: if a signal said to stop; what was trained up to then is saved.
      ClaimedError: if another run trains in the folder.
    """
    logging.set_verbosity(logging.WARNING)
    tf.get_logger().setLevel("ERROR")  # it warns of an optimizer that evaluating does not restore
    with contextlib.ExitStack() as stack:
        try:
            strategy = _strategy(params.runtime)  # first of all: it configures the devices
            if "train" in mode and strategy.extended.should_checkpoint:
                stack.enter_context(model_dir.claimed(folder))
            made = _make_run(params, strategy, mode=mode, folder=folder)
            stack.enter_context(contextlib.closing(made))
            controller = _controller(made)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"the parameters do not fit together: {error}") from error
        except tf.errors.OpError as error:
            raise TrainingError(f"before the first step {_reason(error)}") from error
        if mode == "eval":
            with contextlib.redirect_stdout(BesideProgress()):
                controller.evaluate(steps=params.trainer.validation_steps)
            made.learning.require()
        elif made.step >= params.trainer.train_steps:
            print(f"{folder} is trained already, to step {made.step}; nothing to do")
        else:
            _train(made, controller)


def _make_run(
    params: config_definitions.ExperimentConfig,
    strategy: tf.distribute.Strategy,
    *,
    mode: str,
    folder: str,
) -> Run:
    with strategy.scope():
        parts = parts_of(params.task)
    for part in parts:
        if "train" in mode:
            where = f"{part.where}.train_data"
            tfrecords.check(where, part.train_data, part.task.parse)
            tfrecords.require_apart(where, part.train_data, folder)
        if "eval" in mode:
            where = f"{part.where}.validation_data"
            tfrecords.check(where, part.validation_data, part.task.parse)
            tfrecords.require_apart(where, part.validation_data, folder)
    model_dir.prepare(params, mode=mode, folder=folder)
    state, signals = make_state(params, strategy, folder, parts), Signals()
    writes = strategy.extended.should_checkpoint and "train" in mode
    return Run(
        params=params,
        mode=mode,
        folder=folder,
        strategy=strategy,
        parts=parts,
        schedule=Schedule(
            data=[part.train_data for part in parts],
            share=params.task.nli.share if isinstance(params.task, schema.Multitask) else 0.0,
            seed=params.task.seed,
        ),
        state=state,
        checkpoints=Checkpoints(
            tf.train.Checkpoint(**state._asdict()),
            global_step=state.global_step,
            folder=folder,
            config=params.trainer,
            writes=writes,
        ),
        best=BestCheckpoint(
            tf.train.Checkpoint(model=state.model, average=state.average),
            global_step=state.global_step,
            folder=folder,
            params=params,
            writes=writes,
        ),
        learning=Learning(state.global_step),
        signals=signals,
        profiler=Profiler(
            join(folder, "train"), steps=params.trainer.profile_steps, signals=signals
        ),
    )


def _strategy(runtime: config_definitions.RuntimeConfig) -> tf.distribute.Strategy:
    cluster.require_whole(runtime)
    if runtime.enable_xla:
        tf.config.optimizer.set_jit("autoclustering")  # leaves collectives as they are
    if runtime.mixed_precision_dtype:
        performance.set_mixed_precision_policy(runtime.mixed_precision_dtype)
    with cluster.term_stays_ours():
        return distribute_utils.get_distribution_strategy(
            distribution_strategy=runtime.distribution_strategy,
            num_gpus=runtime.num_gpus,
            all_reduce_alg=runtime.all_reduce_alg,
            tpu_address=runtime.tpu,
        )


def _controller(run: Run) -> orbit.Controller:
    """Orbit's loop, its state restored from the last checkpoint."""
    trainer = run.params.trainer
    writes = run.strategy.extended.should_save_summary
    return orbit.Controller(
        global_step=run.state.global_step,
        trainer=_trainer(run) if "train" in run.mode else None,
        evaluator=_validator(run) if "eval" in run.mode else None,
        strategy=run.strategy,
        # Up to the next multiple of it, wherever the run was stopped.
        steps_per_loop=lambda step: _until_multiple(step, trainer.steps_per_loop),
        checkpoint_manager=run.checkpoints,
        enable_async_checkpointing=trainer.async_checkpoints,
        summary_interval=trainer.summary_interval,
        summary_dir=join(run.folder, "train") if writes else None,
        eval_summary_dir=join(run.folder, trainer.validation_summary_subdir) if writes else None,
    )


def _trainer(run: Run) -> orbit.AbstractTrainer:
    state = run.state
    if isinstance(run.strategy, tf.distribute.ParameterServerStrategy):
        return AsynchronousTrainer(
            run.parts,
            schedule=run.schedule,
            strategy=run.strategy,
            model=state.model,
            optimizer=state.optimizer,
            global_step=state.global_step,
            task_steps=state.task_steps,
            signals=run.signals,
        )
    return Trainer(
        run.parts,
        schedule=run.schedule,
        strategy=run.strategy,
        model=state.model,
        optimizer=state.optimizer,
        average=state.average,
        global_step=state.global_step,
        signals=run.signals,
        profiler=run.profiler,
    )


def _validator(run: Run) -> Validator:
    sts_dev = run.params.task.sts_dev
    return Validator(
        run.parts,
        model=run.state.model,
        average=run.state.average,
        sts=StsPairs.read(sts_dev, run.parts[0].task.text) if sts_dev else None,
        learning=run.learning,
        then=run.best.offer if "train" in run.mode else None,
    )


def _train(run: Run, controller: orbit.Controller) -> None:
    trainer, begin, began = run.params.trainer, run.step, time.monotonic()
    restored = run.last_checkpoint
    if run.strategy.extended.should_checkpoint:
        model_dir.write_params(run.params, run.folder)
        notice = optimizer.notice(trainer)
        if notice:
            print(notice)
    progress = Progress(run.schedule, steps=trainer.train_steps, global_step=run.state.global_step)
    controller.train_actions = (progress, run.learning)
    validated: dict[str, float] = {}
    with (
        run.signals,
        contextlib.closing(progress),
        contextlib.redirect_stdout(BesideProgress()),
        contextlib.closing(run.profiler),
    ):
        try:
            # Variables of the optimizer are restored only when the first step makes them.
            with files.damage_named(restored, name="--model_dir"):
                if run.mode == "train":
                    controller.train(steps=trainer.train_steps)
                else:
                    validated = _train_and_validate(run, controller)
        except StoppedError as stopped:
            run.checkpoints.save(run.step, check_interval=False)
            said = f"{stopped} at step {run.step}, which is saved; the same command goes on"
            raise StoppedError(said, status=stopped.status) from stopped
        except tf.errors.OpError as error:
            last = run.last_checkpoint or "none yet"
            raise TrainingError(
                f"{_reason(error)}. The last checkpoint is {last}; the same command goes on"
            ) from error
        except TrainingError as error:
            last = run.last_checkpoint or "none yet"
            raise TrainingError(f"{error}. The last checkpoint is {last}") from error
    print(_summary(run, progress.logs, validated, begin, time.monotonic() - began))
    run.learning.require()


def _train_and_validate(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Validates at the multiples of `validation_interval` and at the end.

    A run that goes on from such a step validates there too: it may have been killed before it
    kept the best.

    Orbit's `train_and_evaluate` counts from where it begins: a resumed run would validate, and
    keep the best, at other steps than an undisturbed one.
    """
    trainer = run.params.trainer
    validated: dict[str, float] = {}
    if run.step and run.step % trainer.validation_interval == 0:
        controller.evaluate(steps=trainer.validation_steps)
    while run.step < trainer.train_steps:
        until = run.step + _until_multiple(run.step, trainer.validation_interval)
        until = min(until, trainer.train_steps)
        controller.train(steps=until, checkpoint_at_completion=False)
        validated = controller.evaluate(steps=trainer.validation_steps)
    controller.save_checkpoint()
    run.checkpoints.sync()
    return validated


def _until_multiple(step: int, of: int) -> int:
    """How many steps there are from a step to the next multiple of a number."""
    return of - int(step) % of


def _reason(error: tf.errors.OpError) -> str:
    """TensorFlow's error in one line."""
    name, peer = type(error).__name__, cluster.named_in(error.message)
    if peer and isinstance(error, tf.errors.UnavailableError | tf.errors.AbortedError):
        return f"{peer} does not answer ({name})"
    root = re.search(r"\(0\) *(.*)", error.message)
    if root:
        return f"a step failed: {name}: {root[1]}"
    lines = [line for line in error.message.splitlines() if not _NO_REASON.match(line)]
    return f"a step failed: {name}: {' '.join(lines[:1])}"


def _summary(
    run: Run, training: dict[str, float], validated: dict[str, float], begin: int, seconds: float
) -> str:
    """What came of a run, for people."""
    facts: dict[str, object] = {"steps": f"{begin:,} to {run.step:,}"}
    for task, part in enumerate(run.parts):
        # Where workers step each for itself nothing but their count tells.
        steps = int(run.state.task_steps[task].numpy()) or run.schedule.steps(task, 0, run.step)
        facts[f"of {part.task.name}"] = f"{steps:,}"
    facts["minutes"] = f"{seconds / 60:.1f}"
    if run.best.best:
        facts["best"] = "{metric} {value:.4f} at step {step:,}".format(**run.best.best)
    facts["last checkpoint"] = run.last_checkpoint
    return console.summary(facts, trained=training, validated=validated)
