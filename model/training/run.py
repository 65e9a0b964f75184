"""Runs an experiment: Orbit's loop in one of three modes, with errors in one line."""

import contextlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import orbit
import tensorflow as tf
import tf_keras
from absl import logging
from official.core import config_definitions

from common.errors import InputError
from common.fields import refused
from common.files import claim
from model import BEST, EVAL, MODES, TRAIN, TRAIN_AND_EVAL, cluster, optimizer
from model.checkpoints import files, model_dir
from model.configs import parsing
from model.errors import StoppedError, TrainingError
from model.training.asynchronous import AsynchronousTrainer
from model.training.monitoring import BesideBar, overfitting, progress
from model.training.state import Run
from model.training.trainer import SynchronousTrainer
from model.training.validation import Validator


def train(
    experiment: str,
    *,
    model_dir: str,
    mode: str = TRAIN_AND_EVAL,
    config_files: Sequence[str] = (),
    params_override: str | Sequence[str] = "",
) -> dict[str, float]:
    """Trains, validates or both, as `python -m model` does; resumes from the last checkpoint.

    In a cluster of parameter servers, a process that is not the chief serves it until it gets TERM.

    Args:
      experiment: one of `model.EXPERIMENTS`.
      model_dir: for checkpoints, `params.yaml` and events.
      mode: `train`, `eval` or `train_and_eval`.
      config_files: YAML files that override the experiment's parameters.
      params_override: further overrides, such as `trainer.train_steps=100,task.seed=1`, or several.

    Returns:
      The metrics of the last validation, by name; empty if there was none.

    Raises:
      InputError: if a parameter or the data are invalid, the folder holds another run, another
        process trains in it, or there is no checkpoint to evaluate.
      TrainingError: if a loss is not finite, a checkpoint cannot be written, or the run no longer
        learns.
      StoppedError: if a signal stopped the run; its state is saved.
    """
    params = parsing.parse(
        experiment=experiment, config_files=config_files, params_override=params_override
    )
    if cluster.serves(params.runtime):
        cluster.serve(params.runtime)
        return {}
    return run_experiment(params, mode=mode, folder=model_dir)


def run_experiment(
    params: config_definitions.ExperimentConfig, *, mode: str, folder: str | Path
) -> dict[str, float]:
    """As `train`, with parsed parameters."""
    if mode not in MODES:
        raise InputError(f"mode: {mode!r}; accepted: {', '.join(MODES)}")
    if mode == TRAIN and (patience := params.trainer.early_stopping_patience):
        accepted = f"0 in mode {TRAIN}, which does not validate"
        raise refused("trainer.early_stopping_patience", patience, accepted)
    logging.set_verbosity(logging.WARNING)
    tf.get_logger().setLevel("ERROR")
    folder = Path(folder)
    with contextlib.ExitStack() as stack:
        policy = tf_keras.mixed_precision.global_policy()
        stack.callback(tf_keras.mixed_precision.set_global_policy, policy)
        try:
            strategy = cluster.strategy(params.runtime)
            directory = folder
            if not strategy.extended.should_checkpoint:
                directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            elif TRAIN in mode:
                stack.enter_context(claim(folder))
                for written in (folder, folder / BEST):
                    files.tidy(written)
            run = Run(params, strategy, mode=mode, folder=folder, directory=directory)
            controller = _controller(run)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"the parameters do not fit together: {error}") from error
        except tf.errors.OpError as error:
            raise TrainingError(f"before the first step {cluster.reason(error)}") from error
        if TRAIN not in mode:
            return _validate(run, controller)
        is_done = mode == TRAIN or run.record.validated == run.step
        if is_done and (run.step >= params.trainer.train_steps or _stops_early(run)):
            if run.record.failure:
                raise TrainingError(run.record.failure)
            print(f"{folder} is already trained to step {run.step}; nothing to do")
            return {}
        return _train(run, controller)


def _controller(run: Run) -> orbit.Controller:
    """Orbit's loop, its state restored from the last checkpoint."""
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
        steps_per_loop=lambda step: _until_multiple(step, run.params.trainer.steps_per_loop),
        checkpoint_manager=run.checkpoints,
        summary_dir=train,
        eval_summary_dir=validation,
    )


def _until_multiple(step: int, of: int) -> int:
    """Number of steps from a step to the next multiple of `of`."""
    return of - int(step) % of


def _validate(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Validates the last checkpoint."""
    with contextlib.redirect_stdout(BesideBar()):
        try:
            validated = _evaluate(run, controller)
        except tf.errors.OpError as error:
            raise TrainingError(f"while validating {cluster.reason(error)}") from error
    if failure := _failure(controller):
        raise TrainingError(failure)
    return validated


def _train(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Trains to the last step; returns the last validation."""
    config, begin, began = run.params.trainer, run.step, time.monotonic()
    writes = run.strategy.extended.should_checkpoint
    if writes:
        model_dir.write(run.params, run.folder, run.record)
        for notice in optimizer.notices(config):
            print(notice)
    with (
        run.signals,
        progress(config.train_steps, run.state.global_step, run.main_metrics) as advance,
        _last_checkpoint_told(run),
    ):
        controller.train_actions = (advance,)
        validated: dict[str, float] = {}
        if run.mode == TRAIN:
            controller.train(steps=config.train_steps)
        else:
            validated = _train_and_validate(run, controller)
    minutes = (time.monotonic() - began) / 60
    print(f"trained from step {begin} to {run.step} in {minutes:.1f} minutes")
    if best := run.best.best:
        print(f"best validation: {best.metric} {best.value:.4f} at step {best.step}")
        if validated and best.step < run.step:
            value = f"{best.metric} {validated[best.metric]:.4f} at step {run.step}"
            print(
                f"warning: validation is worse now, {value}; `--checkpoint best` exports the best"
            )
    if writes:
        run.record.failure = _failure(controller)
        if run.mode == TRAIN_AND_EVAL:
            run.record.validated = run.step
        run.record.write(run.folder)
    if failure := _failure(controller):
        raise TrainingError(failure)
    return validated


def _failure(controller: orbit.Controller) -> str:
    """Why the model is of no use, by the last validation or the last loops; empty if it is."""
    parts = (controller.evaluator, controller.trainer)
    return next((part.failure for part in parts if part and part.failure), "")


@contextlib.contextmanager
def _last_checkpoint_told(run: Run) -> Iterator[None]:
    """Saves if a signal stops the run; what ends it otherwise names the last checkpoint."""
    try:
        yield
    except StoppedError as stopped:
        run.checkpoints.save(run.step, check_interval=False)
        where = f" at step {run.step}, which is saved; run the same command to continue"
        raise StoppedError(stopped.number, where) from stopped
    except (TrainingError, tf.errors.OpError) as error:
        why = cluster.reason(error) if isinstance(error, tf.errors.OpError) else str(error)
        # Workers other than the chief keep none of their own.
        last = files.last(run.folder) or "none yet"
        raise TrainingError(f"{why}. The last checkpoint is {last}") from error


def _train_and_validate(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Validates at the multiples of `validation_interval` and at the end.

    A run that resumes at one of these steps validates there too: it may have been killed before it
    kept the best.

    Orbit's `train_and_evaluate` counts from the step where it starts: a resumed run would validate
    at other steps than an undisturbed one.
    """
    config, step = run.params.trainer, run.step
    validated: dict[str, float] = {}
    if step and (step % config.validation_interval == 0 or step >= config.train_steps):
        validated = _evaluate(run, controller)
    while run.step < config.train_steps and not (validated and _stops_early(run)):
        until = run.step + _until_multiple(run.step, config.validation_interval)
        controller.train(steps=min(until, config.train_steps), checkpoint_at_completion=False)
        validated = _evaluate(run, controller)
    controller.save_checkpoint()
    return validated


def _evaluate(run: Run, controller: orbit.Controller) -> dict[str, float]:
    validated = controller.evaluate(steps=run.params.trainer.validation_steps)
    if run.mode == TRAIN_AND_EVAL:
        run.best.offer(validated)
        candidates = (
            run.sampler.batch_size(0, run.step - 1) // run.strategy.num_replicas_in_sync,
            run.tasks[0].validation.config.global_batch_size,
        )
        logs = controller.trainer.logs
        if found := overfitting(logs, validated, run.main_metrics, candidates=candidates):
            print(f"warning: {found}")
    return validated


def _stops_early(run: Run) -> bool:
    """Whether the last `early_stopping_patience` validations brought no new best.

    It follows from steps alone: a resumed run stops where an undisturbed one does.
    """
    config, best = run.params.trainer, run.best.best
    since = run.step - (best.step if best else 0)
    return 0 < config.early_stopping_patience * config.validation_interval <= since
