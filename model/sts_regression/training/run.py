"""All folds of all rows, in processes beside each other; what is done stays done."""

import dataclasses
import hashlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from queue import Empty
from typing import Any

import psutil
from tqdm import tqdm

from model.errors import TrainingError
from model.sts_regression import experiments
from model.sts_regression.choices import Choices
from model.sts_regression.data.prepared import Prepared
from model.sts_regression.experiments import COSINES, Experiment
from model.sts_regression.training import fold
from model.sts_regression.training.fold import Job

_PATIENCE = 0.5
"""Seconds between two looks at how far the processes are."""
SETTINGS = "settings.json"
"""In the output folder: what all its rows have in common."""
_worker: dict[str, Any] = {}
"""What a process was started with."""


def run(
    rows: list[str],
    prepared: Prepared,
    choices: Choices,
    *,
    output: Path,
    jobs: int,
    rows_file: Path | None,
) -> dict[Job, dict]:
    """Computes what is not there yet, and returns everything.

    Raises:
      InputError: if something that is there was made otherwise.
      TrainingError: if a process died.
    """
    known = experiments.load(rows_file)
    wanted = [
        Job(row, way, number)
        for way, splits in prepared.splits.items()
        for row in rows
        for number in range(len(splits))
    ]
    # Rows are compared with each other, and may come one after the other.
    shared = dataclasses.asdict(choices) | prepared.identity()
    fold.read(output / SETTINGS, shared)
    fold.write(output / SETTINGS, {"about": shared})
    code = hashlib.sha256(rows_file.read_bytes()).hexdigest() if rows_file else None
    abouts = {job: about(job, known.get(job.row), choices, prepared) for job in wanted}
    for job, settings in abouts.items():
        if job.row not in (*experiments.TABLE_2, *COSINES):
            settings["rows_file"] = code
    done = {}
    for job in wanted:
        if (found := fold.read(job.path(output), abouts[job])) is not None:
            done[job] = found
    missing = [job for job in wanted if job not in done]
    # The dearest first, so that no process is left alone with it.
    missing.sort(key=lambda job: -known[job.row].cost if job.row in known else 0)
    work = sum(_epochs(job, known, choices) for job in missing)
    if done:
        print(f"{len(done)} of {len(wanted)} folds are there already")
    with tqdm(total=work, desc="training", unit=" epochs", dynamic_ncols=True) as bar:
        for job, found in _results(missing, prepared, choices, rows_file, jobs, bar.update):
            done[job] = {"about": abouts[job]} | found
            fold.write(job.path(output), done[job])
            tqdm.write(_line(job, found))
    return {job: done[job] for job in wanted}


def about(job: Job, experiment: Experiment | None, choices: Choices, prepared: Prepared) -> dict:
    """What another run must have in common for its folds to be used."""
    settings = dataclasses.asdict(choices) | {"folds_by": job.way}
    if experiment is None:
        settings = {name: settings[name] for name in ("folds", "folds_by", "seed")}
        return settings | prepared.identity() | {"module": prepared.module_fingerprint}
    return settings | {"epochs": experiment.epochs} | prepared.identity()


def _epochs(job: Job, known: dict[str, Experiment], choices: Choices) -> int:
    if job.row in COSINES:
        return 1
    return choices.epochs(known[job.row].epochs)


def _results(
    missing: list[Job],
    prepared: Prepared,
    choices: Choices,
    rows_file: Path | None,
    jobs: int,
    told: Callable[[int], Any],
) -> Iterator[tuple[Job, dict]]:
    """Each fold as it is done."""
    if jobs == 1 or len(missing) < 2:
        _start(prepared, choices, rows_file, 0, None)
        _worker["tell"] = lambda: told(1)
        for job in missing:
            yield job, _compute(job)
        return
    context = multiprocessing.get_context("spawn")
    epochs = context.Queue()
    threads = max(1, (os.cpu_count() or 1) // jobs)
    others = psutil.Process().children()
    pool = ProcessPoolExecutor(
        min(jobs, len(missing)), context, _start, (prepared, choices, rows_file, threads, epochs)
    )
    try:
        running = {pool.submit(_compute, job): job for job in missing}
        while running:
            finished, _ = wait(running, timeout=_PATIENCE, return_when="FIRST_COMPLETED")
            told(_drained(epochs))
            for future in finished:
                yield running.pop(future), future.result()
        told(_drained(epochs))
        pool.shutdown()
    except BrokenProcessPool as error:
        raise TrainingError(
            "a process died, maybe for want of memory; the folds that are done are kept: the same "
            "command goes on, with --jobs 1 in one process"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in psutil.Process().children():
            if child not in others:
                child.terminate()


def _start(
    prepared: Prepared, choices: Choices, rows_file: Path | None, threads: int, epochs: Any
) -> None:
    """At the beginning of a process: keeps what all its folds need."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if threads:
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    if epochs:
        # Ctrl-C is told to all; the one that started the others ends them.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_end_with_parent, daemon=True).start()
    known = experiments.load(rows_file)
    _worker.update(prepared=prepared, choices=choices, known=known)
    _worker["tell"] = (lambda: epochs.put(1)) if epochs else (lambda: None)


def _end_with_parent() -> None:
    """Leaves no process behind where the first one was killed."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _compute(job: Job) -> dict:
    experiment = None if job.row in COSINES else _worker["known"][job.row]
    return fold.compute(
        job, experiment, _worker["choices"], _worker["prepared"], tell=_worker["tell"]
    )


def _drained(epochs: Any) -> int:
    """How many epochs the processes have told of."""
    count = 0
    try:
        while True:
            count += epochs.get_nowait()
    except Empty:
        return count


def _line(job: Job, found: dict) -> str:
    """What the terminal says of a fold."""
    name = f"{job.row}, {job.way}, fold {job.number + 1}"
    if "diverged_in_epoch" in found:
        return f"{name}: the loss was not finite in epoch {found['diverged_in_epoch']}"
    inside, outside = (found[side]["pearson"] for side in ("in_sample", "out_of_sample"))
    shown = [f"{value:.3f}" if value is not None else "undefined" for value in (outside, inside)]
    return f"{name}: r {shown[0]} out of sample, {shown[1]} in sample, {found['seconds']} s"
