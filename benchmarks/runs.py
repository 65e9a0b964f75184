"""Processes that benchmarks start, trainings and peers, and what they report."""

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import psutil

REPOSITORY = Path(__file__).parents[1]
PRESETS = REPOSITORY / "model" / "configs" / "presets"
SPEED = "pairs_per_second"
LEAST_STEPS = 2
"""Of a run with a speed: the first loop of steps traces."""
TEXTS = ("input", "response")


def presets() -> list[str]:
    """The names of `model/configs/presets`."""
    return sorted(path.stem for path in PRESETS.glob("*.yaml"))


def pairs(pattern: str) -> Iterator[tuple[str, str]]:
    """Input and response of the pairs in TFRecords that a pattern names, in the files' order."""
    import tensorflow as tf

    features = {name: tf.io.FixedLenFeature([], tf.string) for name in TEXTS}
    for records in tf.data.TFRecordDataset(sorted(tf.io.gfile.glob(pattern))).batch(1000):
        texts = tf.io.parse_example(records, features)
        for pair in zip(*(texts[name].numpy() for name in TEXTS), strict=True):
            yield tuple(text.decode(errors="replace") for text in pair)


def in_turns(
    ways: Mapping[str, Callable[[], object]], times: int, *, warm_up: int = 0
) -> dict[str, list[float]]:
    """Seconds of each way, done in turns, so that other work on the machine disturbs all of them.

    Args:
      ways: what is timed, by name.
      times: how often each is timed.
      warm_up: how often each is done before that.
    """
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(warm_up + times):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            if number >= warm_up:
                seconds[name].append(time.perf_counter() - began)
    return seconds


def report_of(command: Sequence[str]) -> dict[str, Any]:
    """The JSON object on the last line that a command prints; ends this process if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:].strip()}")
    return json.loads(done.stdout.splitlines()[-1])


class Started(NamedTuple):
    """A process that goes on."""

    process: subprocess.Popen
    said: Path
    """The file that it prints to."""


def start(
    folder: Path,
    command: Sequence[str],
    *,
    cores: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Started:
    """Starts a Python command.

    Args:
      folder: the model folder, for what it prints.
      command: what follows `python`; `training` makes one.
      cores: the processors it may use, as `taskset -c` takes them; all if left out.
      environment: variables besides those of this process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pinned = ["taskset", "-c", cores] if cores else []
    number, name = tempfile.mkstemp(dir=folder, prefix="said-", suffix=".txt")
    with os.fdopen(number, "w") as said:
        process = subprocess.Popen(
            [*pinned, sys.executable, *command],
            cwd=REPOSITORY,
            env=os.environ | (environment or {}),
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    return Started(process, Path(name))


def training(folder: Path, preset: str, override: Mapping[str, object]) -> list[str]:
    """The command that trains a preset on replies, without validation.

    Args:
      folder: the model folder.
      preset: which of `model/configs/presets`.
      override: parameters by their dotted names.
    """
    command = ["-m", "model", "--experiment", "reddit", "--mode", "train"]
    command += ["--model_dir", str(folder), "--config_file", str(PRESETS / f"{preset}.yaml")]
    return [*command, "--params_override", ",".join(f"{k}={v}" for k, v in override.items())]


def timed(pattern: str, *, batch: int, steps: int) -> dict[str, object]:
    """Overrides of a run whose speed is measured: ten loops of steps.

    Args:
      pattern: TFRecords to train on.
      batch: pairs a step.
      steps: of the run.
    """
    loop = max(steps // 10, 1)
    return {
        "task.train_data.input_path": pattern,
        "task.train_data.global_batch_size": batch,
        "trainer.train_steps": steps,
        "trainer.steps_per_loop": loop,
        "trainer.summary_interval": loop,
    }


def end_with_what_it_started() -> None:
    """On TERM, ends what this process started: it would disturb the next benchmark."""

    def end(number: int, _: object) -> None:
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end)


def wait(*started: Started) -> None:
    """Waits until all are done; ends this process with the last lines of one that failed."""
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
    import tensorflow as tf

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
