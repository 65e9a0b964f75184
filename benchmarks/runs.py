"""Runs of `python -m model` as a user starts them, and what their event files say of them."""

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import psutil
import tensorflow as tf
from official.core.config_definitions import ExperimentConfig

from model.configs import parsing

REPOSITORY = Path(__file__).parents[1]
CONFIGS = REPOSITORY / "model" / "configs" / "presets"
SPEED = "pairs_per_second"
LEAST_STEPS = 2
"""Of a run with a speed: the first loop of steps traces."""


def presets() -> list[str]:
    """The names of `model/configs/presets`."""
    return sorted(path.stem for path in CONFIGS.glob("*.yaml"))


class Started(NamedTuple):
    """A run that goes on in a process of its own."""

    process: subprocess.Popen
    said: Path
    """The file that what it prints goes to."""


def start(
    folder: Path,
    preset: str,
    override: Mapping[str, object],
    *,
    experiment: str = "reddit",
    mode: str = "train",
    cores: str | None = None,
    environment: dict[str, str] | None = None,
) -> Started:
    """Starts a run.

    Args:
      folder: the model folder.
      preset: which of `model/configs/presets`.
      override: parameters by their dotted names.
      experiment: as `--experiment`.
      mode: as `--mode`.
      cores: the processors it may use, as `taskset -c` takes them; all if left out.
      environment: variables besides those of this process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [
        *(["taskset", "-c", cores] if cores else []),
        *[sys.executable, "-m", "model", "--experiment", experiment, "--mode", mode],
        *["--model_dir", str(folder), "--config_file", str(CONFIGS / f"{preset}.yaml")],
        *["--params_override", ",".join(f"{k}={v}" for k, v in override.items())],
    ]
    number, name = tempfile.mkstemp(dir=folder, prefix="said-", suffix=".txt")
    with os.fdopen(number, "w") as said:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env=os.environ | (environment or {}),
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    return Started(process, Path(name))


def brought_to(
    preset: str, pairs: int, *, folder: str, sts_dev: str
) -> tuple[ExperimentConfig, dict[str, object]]:
    """A preset's parameters, and those that bring it to a number of pairs.

    Warm-up and decay become as long as the run, which validates once, at its end.

    Args:
      preset: which of `model/configs/presets`; its learning rate is polynomial, after a linear
        warm-up.
      pairs: how many it trains on, however often it reads each.
      folder: pairs in `train-*` and `validation-*`, or `test-*` where it has none of those.
      sts_dev: a file of the STS Benchmark.
    """
    path = str(CONFIGS / f"{preset}.yaml")
    params = parsing.parse(experiment="reddit", config_files=[path])
    batch = params.task.train_data.global_batch_size
    steps = pairs // batch
    if steps < LEAST_STEPS:
        sys.exit(f"error: {pairs} pairs are {steps} batches of {batch}; {LEAST_STEPS} are needed")
    held_out = "validation" if any(Path(folder).glob("validation-*")) else "test"
    loop = max(steps // 15, 1)
    return params, {
        "task.train_data.input_path": f"{folder}/train-*",
        "task.validation_data.input_path": f"{folder}/{held_out}-*",
        "task.sts_dev": sts_dev,
        "trainer.train_steps": steps,
        "trainer.steps_per_loop": loop,
        "trainer.summary_interval": loop,
        "trainer.checkpoint_interval": steps,
        "trainer.validation_interval": steps,
        "trainer.optimizer_config.learning_rate.polynomial.decay_steps": steps,
        "trainer.optimizer_config.warmup.linear.warmup_steps": max(steps // 10, 1),
    }


def end_with_what_it_started() -> None:
    """On TERM, lets nothing go on that this process started: it would be in the next one's way."""

    def end(number: int, _: object) -> None:
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def wait(*started: Started) -> None:
    """Waits until all are done; ends this process with what one said that failed."""
    try:
        for process, said in started:
            if process.wait():
                lines = said.read_text().replace("\r", "\n").splitlines()
                sys.exit("\n".join([*lines[-20:], f"{process.args!r} failed"]))
    finally:
        for process, _ in started:
            process.kill()


def scalars(folder: Path) -> Iterator[tuple[int, str, float]]:
    """Step, name and value of the scalars in the event files of a folder."""
    for file in sorted(folder.glob("events.out.tfevents.*")):
        for record in tf.data.TFRecordDataset(str(file)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                found = tf.make_ndarray(value.tensor)
                if found.shape == () and found.dtype.kind == "f":
                    yield event.step, value.tag, float(found)


def pairs_per_second(folder: Path) -> float:
    """The median over the loops of a run's training, but for the first, which traces the step.

    Raises:
      ValueError: if the run had only one loop.
    """
    speeds = [value for _, name, value in scalars(folder / "train") if name == SPEED]
    if len(speeds) < 2:
        raise ValueError(f"{folder} has {len(speeds)} loops of training; at least 2")
    return statistics.median(speeds[1:])


def last(folder: Path) -> dict[str, float]:
    """The last scalars of a folder of event files."""
    return {name: value for _, name, value in scalars(folder)}
