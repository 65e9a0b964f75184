"""All folds of all rows, in parallel processes; folds that are already computed are kept."""

import dataclasses
import hashlib
import json
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import psutil
from tqdm import tqdm

from model import output_folder
from model.errors import InputError, TrainingError
from model.sts_regression import experiments
from model.sts_regression.choices import CARRIED, FRESH, Choices
from model.sts_regression.data.prepared import Prepared
from model.sts_regression.experiments import COSINES, Experiment
from model.sts_regression.training import fold
from model.sts_regression.training.fold import Job

SETTINGS = "settings.json"
"""In the output folder: what all its rows have in common."""
_FOLDS_A_PROCESS = 10
"""TensorFlow keeps the functions of each model that it has trained: 70 MB a fold for one LSTM after
another, more for ten. After so many folds new processes begin."""
_shared: dict[str, Any] = {}
"""In each process: what all its folds need."""


def run(
    rows: list[str],
    prepared: Prepared,
    choices: Choices,
    *,
    output: Path,
    jobs: int,
    rows_file: Path | None,
    weights: Sequence[str] = (FRESH,),
) -> dict[Job, dict]:
    """Computes the folds that are missing, and returns the result of each fold.

    Args:
      rows: names of experiments.
      prepared: the data.
      choices: everything else.
      weights: `fresh`, `carried` or both; a module's cosine has no weights, and is computed once.
      output: the folder of results.
      jobs: number of processes.
      rows_file: Python file with a user's own experiments.

    Raises:
      InputError: if `output` has results of other settings.
      TrainingError: if a process died.
    """
    known = experiments.load(rows_file)
    wanted = [
        Job(row, way, number, begin)
        for begin in dict.fromkeys(weights)
        for way, splits in prepared.splits.items()
        for row in dict.fromkeys(rows)
        for number in range(len(splits))
        if begin == FRESH or row not in COSINES
    ]
    # All rows are compared with each other, also those that a later run adds.
    common = _settings(choices) | prepared.identity()
    read(output / SETTINGS, common)
    output_folder.write_json(output / SETTINGS, {"about": common})
    code = hashlib.sha256(rows_file.read_bytes()).hexdigest() if rows_file else None
    abouts = {job: about(job, known.get(job.row), choices, prepared) for job in wanted}
    for job, settings in abouts.items():
        if job.row not in (*experiments.TABLE_2, *COSINES):
            settings["rows_file"] = code
    read_folds = {job: read(job.path(output), abouts[job]) for job in wanted}
    done = {job: found for job, found in read_folds.items() if found is not None}
    chains = _chains(wanted, done, output)
    # The most expensive first, so that none is left for the end.
    chains.sort(
        key=lambda jobs: -len(jobs) * known[jobs[0].row].cost if jobs[0].row in known else 0
    )
    missing = sum(map(len, chains))
    if missing < len(wanted):
        print(f"{len(wanted) - missing} of {len(wanted)} folds are there already")
    shared = {"choices": choices, "prepared": prepared, "output": output}
    computed = _computed(chains, jobs, rows_file, shared)
    for job, found in tqdm(computed, "training", missing, unit=" folds", dynamic_ncols=True):
        done[job] = {"about": abouts[job]} | found
        output_folder.write_json(job.path(output), done[job])
        if job.weights == CARRIED and job.number > 0:
            job._replace(number=job.number - 1).weights_path(output).unlink(missing_ok=True)
        tqdm.write(_line(job, found))
    return {job: done[job] for job in wanted}


def about(job: Job, experiment: Experiment | None, choices: Choices, prepared: Prepared) -> dict:
    """What another run must have in common for its folds to be used."""
    settings = _settings(choices) | {"folds_by": job.way}
    if job.weights != FRESH:
        settings["weights_between_folds"] = job.weights
    if experiment is None:
        settings = {name: settings[name] for name in ("folds", "folds_by", "seed")}
        return settings | prepared.identity() | {"module": prepared.module_fingerprint}
    return settings | {"epochs": experiment.epochs} | prepared.identity()


def _settings(choices: Choices) -> dict:
    """What all folds of an output have in common, whichever weights they begin with."""
    settings = dataclasses.asdict(choices)
    del settings["weights_between_folds"]
    return settings


def _chains(wanted: list[Job], done: dict[Job, dict], output: Path) -> list[list[Job]]:
    """The folds to compute: those of a chain one after the other, chains in any order.

    Fresh folds are chains of one. Folds with carried weights begin where the weights of the last
    one that is done are still there, else with the first.
    """
    chains = [[job] for job in wanted if job.weights == FRESH and job not in done]
    for first in (job for job in wanted if job.weights == CARRIED and job.number == 0):
        folds = [job for job in wanted if job[:2] == first[:2] and job.weights == CARRIED]
        begin = next((job.number for job in folds if job not in done), len(folds))
        if begin < len(folds):
            if begin and not folds[begin - 1].weights_path(output).exists():
                begin = 0
            chains.append(folds[begin:])
    return chains


def read(path: Path, about: dict) -> dict | None:
    """What an earlier run wrote with the same settings; None if there is no such file.

    Raises:
      InputError: if a setting differs; names it.
    """
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        before = dict(found["about"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a fold of this program ({error})") from error
    for name, value in about.items():
        if before.get(name) != value:
            raise InputError(
                f"{path}: made with {name}={before.get(name)}, now it is {value}; "
                "name another --output, or the same settings"
            )
    return found


def _computed(
    chains: list[list[Job]], jobs: int, rows_file: Path | None, shared: dict[str, Any]
) -> Iterator[tuple[Job, dict]]:
    """Each fold as soon as it is computed."""
    folds = sum(map(len, chains))
    if folds <= _FOLDS_A_PROCESS and (jobs == 1 or len(chains) < 2):
        _share(rows_file, shared)
        yield from ((job, _compute(job)) for chain in chains for job in chain)
        return
    while chains:
        chains = yield from _round(chains, jobs, rows_file, shared)


def _round(
    chains: list[list[Job]], jobs: int, rows_file: Path | None, shared: dict[str, Any]
) -> Generator[tuple[Job, dict], None, list[list[Job]]]:
    """The folds that a pool of processes computes before it is replaced; returns the others."""
    others = psutil.Process().children()
    pool = ProcessPoolExecutor(
        min(jobs, len(chains)),
        multiprocessing.get_context("spawn"),
        _start,
        (max(1, (os.cpu_count() or 1) // jobs), rows_file, shared),
    )
    try:
        rest = yield from _run_chains(pool, chains, jobs)
        pool.shutdown()
    except BrokenProcessPool as error:
        raise TrainingError(
            "a process died, maybe because memory ran out; the folds that are done are kept: run "
            "the same command again, if need be with --jobs 1"
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in psutil.Process().children():
            if child not in others:
                child.terminate()
    return rest


def _run_chains(
    pool: ProcessPoolExecutor, chains: list[list[Job]], jobs: int
) -> Generator[tuple[Job, dict], None, list[list[Job]]]:
    """Runs several chains at once, and of each chain one fold at a time; returns what is left."""
    waiting, running = deque(chains), dict[Future, list[Job]]()
    left = jobs * _FOLDS_A_PROCESS
    while running or (waiting and left):
        while waiting and left and len(running) < jobs:
            chain = waiting.popleft()
            running[pool.submit(_compute, chain[0])] = chain
            left -= 1
        ended, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            job, *rest = running.pop(future)
            yield job, future.result()
            if rest:
                waiting.appendleft(rest)
    return list(waiting)


def _start(threads: int, rows_file: Path | None, shared: dict[str, Any]) -> None:
    """Runs first in each process of the pool."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends the others
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _share(rows_file, shared)


def _share(rows_file: Path | None, shared: dict[str, Any]) -> None:
    _shared.update(shared, known=experiments.load(rows_file))


def _end_with_parent() -> None:
    """Leaves no process behind if the parent is killed."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)


def _compute(job: Job) -> dict:
    experiment = None if job.row in COSINES else _shared["known"][job.row]
    return fold.compute(
        job, experiment, _shared["choices"], _shared["prepared"], output=_shared["output"]
    )


def _line(job: Job, found: dict) -> str:
    """A fold's result, for the terminal."""
    way = job.way if job.weights == FRESH else f"{job.way}, weights {job.weights}"
    name = f"{job.row}, {way}, fold {job.number + 1}"
    if "diverged_in_epoch" in found:
        return f"{name}: diverged in epoch {found['diverged_in_epoch']}"
    inside, outside = (found[side]["pearson"] for side in ("in_sample", "out_of_sample"))
    shown = [f"{value:.3f}" if value is not None else "undefined" for value in (outside, inside)]
    return f"{name}: r {shown[0]} out of sample, {shown[1]} in sample, {found['seconds']} s"
