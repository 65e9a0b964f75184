"""Runs an experiment: Orbit's loop in one of four modes, with errors in one line."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import orbit
import tensorflow as tf
from absl import logging
from official.core import config_definitions
from tabulate import tabulate

from common.errors import InputError
from common.files import claim
from model import MODES, cluster, optimizer
from model import registry_imports as registry_imports
from model.checkpoints import files, model_dir, record
from model.configs import parsing
from model.errors import StoppedError, TrainingError
from model.losses import LOSS
from model.tasks import multitask
from model.training.build import EVAL, TRAIN, make_controller, make_run, until_multiple
from model.training.monitoring import BesideProgress, Progress
from model.training.state import Run

TRAIN_AND_EVAL, CONTINUOUS_EVAL = "train_and_eval", "continuous_eval"
_LOSSES = {LOSS: "loss", "validation_loss": "loss"}


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
    logging.set_verbosity(logging.WARNING)
    tf.get_logger().setLevel("ERROR")  # it warns of an optimizer that evaluating does not restore
    folder = Path(folder)
    with contextlib.ExitStack() as stack:
        stack.enter_context(cluster.settings_restored())
        try:
            strategy = cluster.strategy(params.runtime)
            if strategy.extended.should_checkpoint:
                for written in _written_folders(folder, mode=mode):
                    stack.enter_context(claim(written))
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
        if TRAIN not in mode:
            return _validate(run, controller)
        is_done = mode == TRAIN or run.record.validated == run.step
        if run.step >= params.trainer.train_steps and is_done:
            if run.record.failure:
                raise TrainingError(run.record.failure)
            print(f"{folder} is already trained to step {run.step}; nothing to do")
            return {}
        return _train(run, controller)


def _written_folders(folder: Path, *, mode: str) -> list[Path]:
    """The folders that a run writes checkpoints to, in each mode."""
    best = folder / files.BEST
    return {
        TRAIN: [folder],
        EVAL: [],
        TRAIN_AND_EVAL: [folder, best],
        CONTINUOUS_EVAL: [best],
    }[mode]


def _validate(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Validates the last checkpoint, or each new one; returns the last validation."""
    evaluate = _evaluate if run.mode == EVAL else _evaluate_continuously
    with contextlib.redirect_stdout(BesideProgress()):
        try:
            validated = evaluate(run, controller)
        except tf.errors.OpError as error:
            raise TrainingError(f"while validating {cluster.reason(error)}") from error
    run.check.require()
    return validated


def _train(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Trains to the last step; returns the last validation."""
    config, begin, began = run.params.trainer, run.step, time.monotonic()
    writes = run.strategy.extended.should_checkpoint
    if writes:
        model_dir.write(run.params, run.folder, run.record)
        for notice in optimizer.notices(config):
            print(notice)
    progress = Progress(run.sampler, steps=config.train_steps, global_step=run.state.global_step)
    controller.train_actions = (progress, run.check)
    with (
        run.signals,
        contextlib.closing(progress),
        contextlib.redirect_stdout(BesideProgress()),
        _last_checkpoint_told(run),
        # Variables of the optimizer are restored only when the first step makes them.
        files.damage_named(run.last_checkpoint, while_last=True),
    ):
        validated: dict[str, float] = {}
        if run.mode == TRAIN:
            controller.train(steps=config.train_steps)
        else:
            validated = _train_and_validate(run, controller)
    measured = {"training": progress.logs, "validation": validated}
    print(_summary(run, begin, seconds=time.monotonic() - began, measured=measured))
    if writes:
        run.record.failure = run.check.failure
        if run.mode == TRAIN_AND_EVAL:
            run.record.validated = run.step
        record.write(run.folder, run.record)
    run.check.require()
    return validated


@contextlib.contextmanager
def _last_checkpoint_told(run: Run) -> Iterator[None]:
    """Saves if a signal stops the run; what ends it otherwise names the last checkpoint."""
    try:
        yield
    except StoppedError as stopped:
        run.checkpoints.sync()  # one that is still being written must not come after this one
        run.checkpoints.save(run.step, check_interval=False)
        message = f"{stopped} at step {run.step}, which is saved; the same command goes on"
        raise StoppedError(message, status=stopped.status) from stopped
    except (TrainingError, tf.errors.OpError) as error:
        why = cluster.reason(error) if isinstance(error, tf.errors.OpError) else str(error)
        last = run.last_checkpoint or "none yet"
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
    while run.step < config.train_steps:
        until = run.step + until_multiple(run.step, config.validation_interval)
        controller.train(steps=min(until, config.train_steps), checkpoint_at_completion=False)
        validated = _evaluate(run, controller)
    controller.save_checkpoint()
    run.checkpoints.sync()
    return validated


def _evaluate(run: Run, controller: orbit.Controller) -> dict[str, float]:
    return controller.evaluate(steps=run.params.trainer.validation_steps)


def _evaluate_continuously(run: Run, controller: orbit.Controller) -> dict[str, float]:
    """Validates each new checkpoint, until that of the last step or the timeout.

    Orbit's `evaluate_continuously` would watch a folder that only its own process writes to, and
    fail at a checkpoint that training deletes meanwhile.
    """
    config, validated = run.params.trainer, {}
    timeout = config.continuous_eval_timeout
    for checkpoint in tf.train.checkpoints_iterator(str(run.folder), timeout=timeout):
        model_dir.prepare(run.params, mode=run.mode, folder=run.folder)
        try:
            with files.damage_named(checkpoint):
                controller.restore_checkpoint(checkpoint)
        except InputError:
            if files.last(run.folder) == checkpoint:
                raise
            continue  # training has deleted it for a newer one
        validated = _evaluate(run, controller)
        if run.step >= config.train_steps:
            return validated
    ended = f"no new checkpoint in {run.folder} for {timeout} s: trainer.continuous_eval_timeout"
    if not validated:
        raise TrainingError(f"{ended}; nothing was validated")
    print(ended)
    return validated


def _summary(run: Run, begin: int, *, seconds: float, measured: dict[str, dict[str, float]]) -> str:
    """A table of what was done and, by `training` and `validation`, measured last."""
    rows: list[Sequence[object]] = [("steps", f"{begin:,} to {run.step:,}")]
    for index, task in enumerate(run.tasks):
        # With parameter servers only a count tells.
        counted = int(run.state.task_steps[index].numpy())
        rows.append((f"of {task.name}", f"{counted or run.sampler.steps(index, 0, run.step):,}"))
    rows.append(("minutes", f"{seconds / 60:.1f}"))
    if best := run.best.best:
        rows.append(("best", f"{best.metric} {best.value:.4f} at step {best.step:,}"))
    rows += [("last checkpoint", run.last_checkpoint), ("", *measured)]
    logs = [
        {_LOSSES.get(name, name): f"{value:,.4g}" for name, value in each.items()}
        for each in measured.values()
    ]
    names = dict.fromkeys(name for each in logs for name in each)
    rows += [(name, *(each.get(name, "") for each in logs)) for name in names]
    return tabulate(rows, disable_numparse=True)
