"""Runs an experiment: Orbit's loop in one of four modes, with errors in one line."""

import contextlib
import time
from collections.abc import Sequence
from posixpath import join

import orbit
import tensorflow as tf
from absl import logging
from official.core import config_definitions

from data_pipeline.storage.claim import ClaimedError, Held
from model import MODES
from model import registry_imports as registry_imports
from model.checkpoints import files, model_dir
from model.configs import parsing
from model.distribute import cluster
from model.errors import InputError, StoppedError, TrainingError
from model.tasks import multitask
from model.training import monitoring, optimizer, tensorboard
from model.training.build import (
    EVAL,
    TRAIN,
    Run,
    make_controller,
    make_run,
    training_records,
    until_multiple,
    validation_events,
)
from model.training.monitoring import BesideProgress, Progress

TRAIN_AND_EVAL, CONTINUOUS_EVAL = "train_and_eval", "continuous_eval"


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
      mode: `train`, `eval`, `train_and_eval`, or `continuous_eval`, which validates every
        checkpoint that another process writes.
      config_files: YAML files that override the experiment's parameters.
      params_override: further overrides, such as `trainer.train_steps=100,task.seed=1`, or several.

    Returns:
      The metrics of the last validation, by name; empty if there was none.

    Raises:
      InputError: if a parameter or the data are invalid, the folder holds another run, or there is
        no checkpoint to evaluate.
      TrainingError: if a loss is not finite, a checkpoint cannot be written, or the run no longer
        learns.
      StoppedError: if a signal stopped the run; its state is saved.
      ClaimedError: if another run trains in the folder.
    """
    params = parsing.parse(
        experiment=experiment, config_files=config_files, params_override=params_override
    )
    if cluster.serves(params.runtime):
        cluster.serve(params.runtime)
        return {}
    return run_experiment(params, mode=mode, folder=model_dir)


def run_experiment(
    params: config_definitions.ExperimentConfig, *, mode: str, folder: str
) -> dict[str, float]:
    """As `train`, with parsed parameters."""
    if mode not in MODES:
        raise InputError(f"mode: {mode!r}; accepted: {', '.join(MODES)}")
    logging.set_verbosity(logging.WARNING)
    tf.get_logger().setLevel("ERROR")  # it warns of an optimizer that evaluating does not restore
    claims: list[Held] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(cluster.settings_restored())
        try:
            strategy = cluster.strategy(params.runtime)
            if strategy.extended.should_checkpoint:
                for written in _written_folders(folder, mode=mode):
                    claims.append(stack.enter_context(model_dir.claimed(written)))
            with strategy.scope():
                tasks = multitask.tasks_of(params.task)
            run = make_run(params, strategy, tasks, mode=mode, folder=folder)
            stack.enter_context(contextlib.closing(run))
            controller = make_controller(run)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"the parameters do not fit together: {error}") from error
        except tf.errors.OpError as error:
            raise TrainingError(f"before the first step {cluster.reason(error)}") from error
        if "train" not in mode:
            return _validate(run, controller)
        if run.state.step >= params.trainer.train_steps and not _lacks_validation(run):
            if why := model_dir.failure(folder):
                raise TrainingError(why)
            steps = params.trainer.train_steps
            asked = f" (trainer.train_steps is {steps})" if steps < run.state.step else ""
            print(f"{folder} is already trained to step {run.state.step}{asked}; nothing to do")
            return {}
        return _train(run, controller, claims)


def _validate(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Validates the last checkpoint, or each new one; returns the last validation."""
    evaluate = _evaluate if run.mode == EVAL else _evaluate_continuously
    with contextlib.redirect_stdout(BesideProgress()):
        try:
            validated = evaluate(run, controller)
            _project(run, controller)
        except tf.errors.OpError as error:
            raise TrainingError(f"while validating {cluster.reason(error)}") from error
    run.check.require()
    return validated


def _lacks_validation(run: Run) -> bool:
    """Whether the run is to validate its last step and has not: it was stopped before."""
    return run.mode == TRAIN_AND_EVAL and not model_dir.is_validated(run.folder, run.state.step)


def _written_folders(folder: str, *, mode: str) -> list[str]:
    """The folders that a run writes checkpoints to, in each mode."""
    best = join(folder, files.BEST)
    return {
        TRAIN: [folder],
        EVAL: [],
        TRAIN_AND_EVAL: [folder, best],
        CONTINUOUS_EVAL: [best],
    }[mode]


def _train(run: Run, controller: orbit.Controller, claims: Sequence[Held]) -> dict[str, float]:
    """Trains to the last step; returns the last validation."""
    trainer, begin, began = run.params.trainer, run.state.step, time.monotonic()
    restored = run.last_checkpoint
    if run.strategy.extended.should_checkpoint:
        model_dir.write_params(run.params, run.folder)
        model_dir.write_data(training_records(run.tasks), run.folder)
        notice = optimizer.notice(trainer)
        if notice:
            print(notice)
    progress = Progress(run.sampler, steps=trainer.train_steps, global_step=run.state.global_step)
    controller.train_actions = (progress, run.check, lambda _: _require_held(claims))
    validated: dict[str, float] = {}
    with (
        run.signals,
        contextlib.closing(progress),
        contextlib.redirect_stdout(BesideProgress()),
    ):
        try:
            # Variables of the optimizer are restored only when the first step makes them.
            with files.damage_named(restored, name="--model_dir", while_last=True):
                if run.mode == TRAIN:
                    controller.train(steps=trainer.train_steps)
                else:
                    validated = _train_and_validate(run, controller)
        except StoppedError as stopped:
            run.checkpoints.sync()  # one that is still being written must not come after this one
            run.checkpoints.save(run.state.step, check_interval=False)
            message = (
                f"{stopped} at step {run.state.step}, which is saved; the same command goes on"
            )
            raise StoppedError(message, status=stopped.status) from stopped
        except tf.errors.OpError as error:
            last = run.last_checkpoint or "none yet"
            raise TrainingError(
                f"{cluster.reason(error)}. The last checkpoint is {last}; the same command goes on"
            ) from error
        except TrainingError as error:
            last = run.last_checkpoint or "none yet"
            raise TrainingError(f"{error}. The last checkpoint is {last}") from error
    facts = _facts(run, begin, time.monotonic() - began)
    print(monitoring.summary(facts, trained=progress.logs, validated=validated))
    if run.strategy.extended.should_checkpoint:
        model_dir.write_failure(run.folder, run.check.failure)
        if run.mode == TRAIN_AND_EVAL:
            model_dir.write_validated(run.folder, run.state.step)
    run.check.require()
    return validated


def _require_held(claims: Sequence[Held]) -> None:
    """Checks that the folders are still this run's."""
    for held in claims:
        try:
            held.require()
        except ClaimedError:
            raise
        except OSError:
            pass  # a store that does not answer now may answer next time


def _train_and_validate(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Validates at the multiples of `validation_interval` and at the end.

    A run that resumes at one of these steps validates there too: it may have been killed before it
    kept the best.

    Orbit's `train_and_evaluate` counts from the step where it starts: a resumed run would validate
    at other steps than an undisturbed one.
    """
    trainer = run.params.trainer
    validated: dict[str, float] = {}
    step = run.state.step
    if step and (step % trainer.validation_interval == 0 or step >= trainer.train_steps):
        validated = _evaluate(run, controller)
    while run.state.step < trainer.train_steps:
        until = run.state.step + until_multiple(run.state.step, trainer.validation_interval)
        controller.train(steps=min(until, trainer.train_steps), checkpoint_at_completion=False)
        validated = _evaluate(run, controller)
    controller.save_checkpoint()
    run.checkpoints.sync()
    _project(run, controller)
    return validated


def _evaluate(run: Run, controller: orbit.Controller) -> dict[str, float]:
    return controller.evaluate(steps=run.params.trainer.validation_steps)


def _project(run: Run, controller: orbit.Controller) -> None:
    """Writes the embeddings of some sentences for TensorBoard's projector."""
    if run.strategy.extended.should_save_summary:
        sentences, embeddings = controller.evaluator.embed(tensorboard.PROJECTED)
        tensorboard.write_projector(validation_events(run), sentences, embeddings)


def _evaluate_continuously(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Validates each new checkpoint, until that of the last step or the timeout.

    Orbit's `evaluate_continuously` would watch a folder that only its own process writes to, and
    fail at a checkpoint that training deletes meanwhile.
    """
    trainer, validated = run.params.trainer, {}
    timeout = trainer.continuous_eval_timeout
    for checkpoint in tf.train.checkpoints_iterator(run.folder, timeout=timeout):
        model_dir.prepare(run.params, mode=run.mode, folder=run.folder)
        try:
            with files.damage_named(checkpoint, name="--model_dir"):
                controller.restore_checkpoint(checkpoint)
        except InputError:
            if files.last(run.folder) == checkpoint:
                raise
            continue  # training has deleted it for a newer one
        validated = _evaluate(run, controller)
        if run.state.step >= trainer.train_steps:
            return validated
    ended = f"no new checkpoint in {run.folder} for {timeout} s: trainer.continuous_eval_timeout"
    if not validated:
        raise TrainingError(f"{ended}; nothing was validated")
    print(ended)
    return validated


def _facts(run: Run, begin: int, seconds: float) -> dict[str, object]:
    """Facts for the summary of a run."""
    facts: dict[str, object] = {"steps": f"{begin:,} to {run.state.step:,}"}
    for index, task in enumerate(run.tasks):
        # With parameter servers only a count tells.
        counted = int(run.state.task_steps[index].numpy())
        steps = counted or run.sampler.steps(index, 0, run.state.step)
        facts[f"of {task.name}"] = f"{steps:,}"
    facts["minutes"] = f"{seconds / 60:.1f}"
    if run.best.best:
        facts["best"] = "{metric} {value:.4f} at step {step:,}".format(**run.best.best)
    facts["last checkpoint"] = run.last_checkpoint
    return facts
