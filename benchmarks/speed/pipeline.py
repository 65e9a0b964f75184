"""The Beam job beside a plain Python loop, on real dumps: speed, memory, growth, start.

    python -m benchmarks.speed.pipeline --dumps 'DIR/reddit/RC_2015-*.zst'

For each number of comments, copies of the dumps are written until there are enough, each with its
own ids, so that no comment is a duplicate and each copy gives the pairs of the original. Then, in
turn, `--rounds` times:

1. the plain loop of `plain_loop`, on one core: a fixed baseline;
2. the job on one core, and
3. on two, from the start of the command to COMPLETED;
4. two jobs side by side, each on one core with half of the files: what the machine allows, since
   they share nothing but its memory and disk;
5. the plain loop again.

Prints the median seconds, the ratios of each round and of the medians, and the peak memory over all
processes of the job. At last a job of 1,000 comments: its seconds, and those from its start to the
first byte read.
"""

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice, product
from pathlib import Path
from tempfile import TemporaryFile

import psutil
from backports import zstd
from tabulate import tabulate

from benchmarks.options import at_least
from benchmarks.plain_loop import WINDOW

REPOSITORY = Path(__file__).parents[2]
LOOP, AGAIN = "plain loop", "plain loop again"
ONE = "job, one core"
SMALL = 1_000
"""The comments of the job that shows how long it takes to start."""
PATIENCE = 60
"""Seconds."""
ID_FIELDS = ("id", "parent_id", "link_id")
IDS = re.compile(rb'"(?:%b)": ?"(?:t[13]_)?' % "|".join(ID_FIELDS).encode())
"""The text before the ids of a comment, of its parent and of its thread."""


def main() -> None:
    """Writes the dumps, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dumps", required=True, metavar="GLOB", help="comment dumps, .zst")
    parser.add_argument(
        "--comments",
        type=at_least(1),
        nargs="+",
        default=[2_000_000, 10_000_000],
        metavar="N",
        help="how many, for one table each; default: %(default)s",
    )
    parser.add_argument("--rounds", type=at_least(1), default=3, metavar="N")
    parser.add_argument("--work", type=Path, default=Path("runs/benchmark"), metavar="DIR")
    arguments = parser.parse_args()
    dumps = found(arguments.dumps)
    if not dumps:
        parser.error(f"--dumps {arguments.dumps}: no such files; accepted: dumps, .zst")
    for wanted in arguments.comments:
        compare(dumps, arguments.work, wanted, rounds=arguments.rounds)
    start(dumps, arguments.work)


def compare(dumps: list[str], work: Path, wanted: int, *, rounds: int) -> None:
    """Prints the table of one number of comments."""
    comments, paths = repeat(dumps, work, wanted)
    size = sum(Path(path).stat().st_size for path in paths)
    print(f"{comments:,} comments in {len(paths)} files, {size / 1e6:.0f} MB")
    loop = {"0": ["-m", "benchmarks.plain_loop", *paths]}
    halves = {"0": job(work, paths[::2], "pairs-0"), "1": job(work, paths[1::2], "pairs-1")}
    runs = {
        LOOP: loop,
        ONE: {"0": job(work)},
        "job, two cores": {"0,1": job(work)},
        "two jobs, half each": halves,
        AGAIN: loop,
    }
    if len(paths) < 2:
        del runs["two jobs, half each"]
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    peak: dict[str, float] = dict.fromkeys(runs, 0.0)
    for _, (name, commands) in product(range(rounds), runs.items()):
        for output in work.glob("pairs*"):
            shutil.rmtree(output)
        with ThreadPoolExecutor() as pool:
            each, peaks = zip(*pool.map(measure, commands.values(), commands), strict=True)
        seconds[name].append(max(each))
        peak[name] = max(peak[name], sum(peaks) / 2**30)
    median = {name: statistics.median(some) for name, some in seconds.items()}
    loops = (median[LOOP] + median[AGAIN]) / 2
    table = [
        (name, each, comments / each, peak[name], loops / each) for name, each in median.items()
    ]
    header = ("", "seconds", "comments/s", "peak GiB", "of the plain loop")
    print(tabulate(table, header, floatfmt=("", ".1f", ",.0f", ".2f", ".2f"), intfmt=","))
    for name in [name for name in runs if name not in (LOOP, ONE, AGAIN)]:
        ratios = [one / other for one, other in zip(seconds[ONE], seconds[name], strict=True)]
        print(
            f"{name}, against one: {median[ONE] / median[name]:.2f} "
            f"(by round: {', '.join(f'{ratio:.2f}' for ratio in ratios)})"
        )
    print(flush=True)


def start(dumps: list[str], work: Path) -> None:
    """Prints how long a small job takes, and how much of that it takes to start."""
    repeat(dumps, work, SMALL)
    rows = []
    for cores in ("0", "0,1"):
        shutil.rmtree(work / "pairs", ignore_errors=True)
        with ThreadPoolExecutor() as pool:
            first = pool.submit(seconds_to_first_byte, work / "pairs")
            seconds, _ = measure(job(work), cores)
        rows.append((len(cores.split(",")), seconds, first.result()))
    header = ("cores", f"{SMALL:,} comments, s", "to the first byte, s")
    print(tabulate(rows, header, floatfmt=".2f"))


def seconds_to_first_byte(output: Path) -> float:
    """How long from now until the job makes the folder of what it reads from a dump."""
    began = time.perf_counter()
    while not any(output.glob("_incomplete/*/inputs/*")):
        if time.perf_counter() - began > PATIENCE:
            sys.exit(f"{output}: no dump was read in {PATIENCE} seconds")
        time.sleep(0.005)
    return time.perf_counter() - began


def found(pattern: str) -> list[str]:
    """The dumps that match a pattern."""
    folder, name = os.path.split(pattern)
    return sorted(str(path) for path in Path(folder).glob(name) if path.suffix == ".zst")


def repeat(dumps: list[str], work: Path, wanted: int) -> tuple[int, list[str]]:
    """Writes copies of dumps with their own ids; returns the number of comments and the files."""
    folder = work / "dumps"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    comments, paths = 0, []
    for number, dump in enumerate(cycle(dumps)):
        if comments >= wanted:
            break
        copy = number // len(dumps)
        path = folder / f"RC_{copy:03d}-{Path(dump).name}"
        before = comments
        with zstd.open(dump, options=WINDOW) as read, zstd.open(path, "wb") as written:
            for line in islice(read, wanted - comments):
                written.write(with_own_ids(line, copy))
                comments += 1
        if comments == before:
            sys.exit(f"--dumps: {dump} has no comments; accepted: dumps with one JSON a line")
        paths.append(str(path))
    return comments, paths


def with_own_ids(line: bytes, copy: int) -> bytes:
    """A comment with the id, parent and thread of a copy of the dump."""
    renamed, found = IDS.subn(rb"\g<0>%dc" % copy, line)
    if found < len(ID_FIELDS):
        sys.exit(f"--dumps: {line[:200]!r} is not a comment with {', '.join(ID_FIELDS)}")
    return renamed


def job(work: Path, inputs: Sequence[str] = (), output: str = "pairs") -> list[str]:
    """The command of the Beam job; all dumps where no inputs are given."""
    inputs = inputs or [f"{work}/dumps/RC_*.zst"]
    return ["-m", "data_pipeline", "reddit", "--input", *inputs, "--output", f"{work}/{output}"]


def measure(command: list[str], cores: str) -> tuple[float, int]:
    """Seconds of a Python command on some cores, and the peak memory of all its processes."""
    started = time.perf_counter()
    with TemporaryFile() as said:
        process = subprocess.Popen(
            ["taskset", "-c", cores, sys.executable, *command],
            cwd=REPOSITORY,
            env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        peak = [0]
        watcher = threading.Thread(target=_watch_memory, args=(process, peak))
        watcher.start()
        code = process.wait()
        seconds = time.perf_counter() - started
        watcher.join()
        if code:
            said.seek(0)
            reason = said.read().decode(errors="replace").strip()
            sys.exit(f"{reason}\n{command} ended with {code}")
    return seconds, peak[0]


def _watch_memory(process: subprocess.Popen, peak: list[int]) -> None:
    root = psutil.Process(process.pid)
    while process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            family = [root, *root.children(recursive=True)]
            # What the processes share is counted once for each: an upper bound.
            peak[0] = max(peak[0], sum(member.memory_info().rss for member in family))
        time.sleep(0.1)


if __name__ == "__main__":
    main()
