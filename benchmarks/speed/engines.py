"""The job on a Flink cluster of this machine beside the local runner, on real dumps.

    make engines
    python -m benchmarks.speed.engines --dumps 'DIR/reddit/RC_2015-*.zst' --comments 2000000

The dumps are those of benchmarks.speed.pipeline: copies with ids of their own. The job runs

1. with the local runner, on all cores,
2. on one JobManager and two TaskManagers, each with a Python worker of its own, and
3. the same with task heaps that are together smaller than the data that the join groups.

Prints seconds from the start of the command to COMPLETED, the peak memory of each process, and the
bytes that Flink's tasks sent each other. Every output is compared with the local runner's. For
these commands alone the cluster is started and its processes ended, also after Ctrl-C.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
from tabulate import tabulate

from benchmarks.options import at_least
from benchmarks.runs import end_with_what_it_started
from benchmarks.speed.pipeline import REPOSITORY, found, job, repeat
from tests.engines.fetch import FLINK, FLINK_JOB_SERVER
from tests.engines.flink_cluster import TASK_HEAP, FlinkCluster

SMALL_TASK_HEAP = 128
"""MiB a TaskManager; the rows of two million comments that the join groups are 211 MB."""
_MIB = 2**20
_PARTS, _CHARACTERS = 5, 110


class Run(NamedTuple):
    """One run of the job."""

    seconds: float
    peaks: dict[str, int]
    """Role of a process -> peak bytes of resident memory, the largest where several have it."""
    written: dict[str, int]
    """Part of Flink's job -> bytes that its tasks handed to tasks of other parts."""
    digest: str


def main() -> None:
    """Writes the dumps, measures, prints."""
    given = _parser().parse_args()
    if not found(given.dumps):
        sys.exit(f"error: --dumps {given.dumps}: no such files; accepted: dumps, .zst")
    for path in (FLINK, FLINK_JOB_SERVER):
        if not path.exists():
            sys.exit(f"error: {path} is not there; `make engines` fetches it")
    end_with_what_it_started()
    comments, paths = repeat(found(given.dumps), given.work, given.comments)
    size = sum(Path(path).stat().st_size for path in paths)
    print(f"{comments:,} comments in {len(paths)} files, {size / 1e6:.0f} MB", flush=True)
    runs = {"local runner": _run(given.work, "local", (), None)}
    for heap in (TASK_HEAP, given.small_task_heap):
        with (
            tempfile.TemporaryDirectory(prefix="flink-") as folder,
            FlinkCluster(Path(folder) / "cluster", task_heap=heap) as cluster,
        ):
            name = f"Flink, task heaps of 2 x {heap} MiB"
            runs[name] = _run(given.work, "flink", cluster.options, cluster)
    _print(runs, comments)
    if len({run.digest for run in runs.values()}) > 1:
        sys.exit("error: the outputs differ")
    print("All outputs are the same, byte for byte.")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dumps", required=True, metavar="GLOB", help="comment dumps, .zst")
    parser.add_argument("--comments", type=at_least(1), default=2_000_000, metavar="N")
    parser.add_argument("--work", type=Path, default=Path("runs/engines"), metavar="DIR")
    parser.add_argument(
        "--small_task_heap", type=at_least(16), default=SMALL_TASK_HEAP, metavar="MIB"
    )
    return parser


def _run(work: Path, name: str, options: tuple[str, ...], cluster: FlinkCluster | None) -> Run:
    output = work / name
    shutil.rmtree(output, ignore_errors=True)
    command = job(work)[:-1]
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command, str(output), *options],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    groups = {} if cluster is None else {"JobManager": [cluster.job_manager]}
    if cluster is not None:
        groups["TaskManager"] = list(cluster.task_managers.values())
    with _peaks(lambda: _roles(process.pid, groups)) as peaks:
        said, _ = process.communicate()
    seconds = time.perf_counter() - began
    if process.returncode:
        sys.exit(f"{said}\n{name}: the job ended with {process.returncode}")
    written = {}
    if cluster is not None:
        written = {
            vertex["name"]: vertex["metrics"]["write-bytes"] for vertex in cluster.vertices()
        }
        if cluster.failures():
            print(f"{name}: parts were tried again: {len(cluster.failures())}")
    return Run(seconds, dict(peaks), written, _digest(output))


def _roles(command: int, groups: dict[str, list[int]]) -> Iterator[tuple[str, psutil.Process]]:
    """The processes of the job at this moment, each with its role."""
    for role, leaders in {"command": [command], **groups}.items():
        for leader in leaders:
            with suppress(psutil.NoSuchProcess):
                first = psutil.Process(leader)
                yield role, first
                for child in first.children(recursive=True):
                    yield _role_of(child, of=role), child


def _role_of(child: psutil.Process, *, of: str) -> str:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
        if child.name() == "java":
            return "job server"
    return "Python worker" if of == "TaskManager" else "child of the command"


@contextmanager
def _peaks(
    processes: Callable[[], Iterator[tuple[str, psutil.Process]]],
) -> Iterator[dict[str, int]]:
    """Watches memory while the block runs: role -> peak of one process, and of all together."""
    peaks: dict[str, int] = defaultdict(int)
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.2):
            total = 0
            for role, process in processes():
                with suppress(psutil.NoSuchProcess):
                    size = process.memory_info().rss
                    peaks[role] = max(peaks[role], size)
                    total += size
            peaks["all together"] = max(peaks["all together"], total)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        stop.set()
        thread.join()


def _digest(output: Path) -> str:
    """Of the shards and the statistics."""
    digest = hashlib.sha256()
    for path in [*sorted(output.glob("t*-of-*")), output / "statistics.json"]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _print(runs: dict[str, Run], comments: int) -> None:
    rows = [
        (name, run.seconds, comments / run.seconds, sum(run.written.values()) / 1e6 or None)
        for name, run in runs.items()
    ]
    print(tabulate(rows, ("", "seconds", "comments/s", "MB shuffled"), floatfmt=",.0f"))
    (*_, last) = runs.values()
    largest = sorted(last.written.items(), key=lambda item: -item[1])[:_PARTS]
    print(f"\nThe {_PARTS} parts that wrote most, in the last run:\n")
    print(
        tabulate(
            [(size / 1e6, size / comments, name[:_CHARACTERS]) for name, size in largest],
            ("MB", "bytes a comment", ""),
            floatfmt=",.0f",
        )
    )
    roles = list(dict.fromkeys(role for run in runs.values() for role in run.peaks))
    peaks = [
        (role, *(run.peaks[role] / _MIB if role in run.peaks else None for run in runs.values()))
        for role in roles
    ]
    print("\nPeak resident memory in MiB, of the largest process of each kind:\n")
    print(tabulate(peaks, ("", *runs), floatfmt=",.0f"))


if __name__ == "__main__":
    main()
