"""Trainings and peers as processes of their own, and what they report."""

import argparse
import contextlib
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from common.command_line import errors_in_one_line

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
REPOSITORY = Path(__file__).parents[1]
PRESETS = REPOSITORY / "model" / "configs" / "presets"
TEXTS = ("input", "response")
AVERAGED = 60
"""Steps between two averages of the weights, at most, in the presets that are measured."""
T = TypeVar("T")


def given(description: str, *required: str, **optional: Any) -> argparse.Namespace:
    """Returns the options of a program: texts that are required, and others by their defaults."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, formatter_class=raw)
    for name in required:
        parser.add_argument(f"--{name}", required=True)
    for name, default in optional.items():
        several = isinstance(default, list)
        kind = str if default is None else type(default[0] if several else default)
        more = {"nargs": "+"} if several else {}
        parser.add_argument(f"--{name}", type=kind, default=default, **more)
    return parser.parse_args()


def in_turn(rounds: int, ways: Mapping[str, Callable[[], T]]) -> dict[str, list[T]]:
    """Returns what each way gives, round by round: what else runs disturbs them alike."""
    found: dict[str, list[T]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            found[name].append(way())
    return found


def machine() -> str:
    """Returns the machine's cores, its processor where known, and the date."""
    names = re.findall(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.M)
    of = f" of {names[0]}" if names else ""
    return f"{os.cpu_count()} cores{of}, {datetime.date.today():%-d %B %Y}"


def pairs(pattern: str) -> Iterator[tuple[str, str]]:
    """Yields input and response of the pairs in TFRecords that a pattern names, in file order."""
    import tensorflow as tf

    features = {name: tf.io.FixedLenFeature([], tf.string) for name in TEXTS}
    for records in tf.data.TFRecordDataset(sorted(tf.io.gfile.glob(pattern))).batch(1000):
        texts = tf.io.parse_example(records, features)
        for pair in zip(*(texts[name].numpy() for name in TEXTS), strict=True):
            yield tuple(text.decode(errors="replace") for text in pair)


def report_of(command: Sequence[str]) -> dict[str, Any]:
    """Returns the JSON object on the last line of a command; ends this process if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:].strip()}")
    return json.loads(done.stdout.splitlines()[-1])


class Started(NamedTuple):
    """A running process, and the file that it prints to."""

    process: subprocess.Popen
    said: Path


def start(
    folder: Path,
    command: Sequence[str],
    *,
    cores: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Started:
    """Starts what follows `python`, with further variables; `folder` gets what it prints.

    `cores` are the processors it may use, as `taskset -c` takes them; all if left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pinned = ["taskset", "-c", cores] if cores else []
    of: dict = {"dir": folder, "prefix": "said-", "suffix": ".txt", "delete": False}
    with tempfile.NamedTemporaryFile("w", **of) as said:
        process = subprocess.Popen(
            [*pinned, sys.executable, *command],
            cwd=REPOSITORY,
            env=os.environ | (environment or {}),
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    return Started(process, Path(said.name))


def training(folder: Path, preset: str, override: Mapping[str, object]) -> list[str]:
    """Returns the command that trains a preset on replies into a folder, without validation.

    `override` are parameters by their dotted names.
    """
    command = ["-m", "model", "--experiment", "reddit", "--mode", "train"]
    command += ["--model_dir", str(folder), "--config_file", str(PRESETS / f"{preset}.yaml")]
    return [*command, "--params_override", ",".join(f"{k}={v}" for k, v in override.items())]


def vocabulary(folder: Path, pattern: str) -> str:
    """Writes the vocabulary of pairs in TFRecords into a folder, and returns its path."""
    output = folder / "vocabulary"
    command = ["-m", "data_pipeline", "vocabulary", "--input", pattern, "--output", str(output)]
    wait(start(folder, command))
    return str(output)


def timed(pattern: str, *, words: str, batch: int, steps: int) -> dict[str, object]:
    """Returns overrides of a run whose speed is measured, on TFRecords, in ten loops of steps.

    There must be 2 steps or more: the first loop traces. `words` is a vocabulary. Word vectors
    begin at random, which takes no time. A run too short to average its weights does not.
    """
    short: dict[str, object] = {"trainer.average_decay": 0} if steps < AVERAGED else {}
    return short | {
        "task.model.text.vocabulary": words,
        "task.word_cooccurrence_records": 0,
        "task.train_data.input_path": pattern,
        "task.train_data.global_batch_size": batch,
        "trainer.train_steps": steps,
        "trainer.steps_per_loop": max(steps // 10, 1),
    }


def wait(*started: Started, until: int | None = None) -> float:
    """Waits until all are done, or the first `until`, and returns the peak GB of the largest.

    Ends this process with the last lines of one that failed.
    """
    peak = 0.0
    with errors_in_one_line():  # SIGTERM, too, ends what was started
        try:
            for process, said in started[:until]:
                while process.poll() is None:
                    with contextlib.suppress(OSError):  # it has just ended
                        status = Path(f"/proc/{process.pid}/status").read_text()
                        held = re.findall(r"^VmHWM:\s+(\d+) kB", status, re.M)
                        peak = max([peak, *(int(kilobytes) * 1024 / 1e9 for kilobytes in held)])
                    time.sleep(0.1)
                if process.returncode:
                    lines = said.read_text().replace("\r", "\n").splitlines()
                    sys.exit("\n".join([*lines[-20:], f"{process.args!r} failed"]))
        finally:
            for process, _ in started:
                process.kill()
    return peak


def scalars(folder: Path) -> Iterator[tuple[int, str, float]]:
    """Yields step, name and value of the scalars in the event files of a folder."""
    import tensorflow as tf

    for file in sorted(folder.glob("events.out.tfevents.*")):
        for record in tf.data.TFRecordDataset(str(file)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                found = tf.make_ndarray(value.tensor)
                if found.shape == () and found.dtype.kind == "f":
                    yield event.step, value.tag, float(found)


def pairs_per_second(folder: Path) -> float:
    """Returns the speed of a run's loops of training together, without the first, which traces."""
    speeds = [value for _, name, value in scalars(folder / "train") if name == "pairs_per_second"]
    return statistics.harmonic_mean(speeds[1:])


def last(folder: Path) -> dict[str, float]:
    """Returns the last scalars of a folder of event files."""
    return {name: value for _, name, value in scalars(folder)}
