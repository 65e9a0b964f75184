"""The Beam job beside a plain Python loop, on real dumps: speed, memory, start.

    python -m benchmarks.speed.pipeline --dumps 'DIR/reddit/RC_2015-*.zst'

For each number of `--comments`, copies of the dumps are written until there are enough, each with
its own ids, so that no comment is a duplicate and each copy gives the pairs of the original. Then,
in turn, `--rounds` times:

1. the plain loop of `plain_loop`, on one core: a fixed baseline;
2. the job on one core, and
3. on two, from the start of the command to COMPLETED;
4. two jobs side by side, each on one core with half of the files: what the machine allows, since
   they share nothing but its memory and disk;
5. the plain loop again.

Prints the median seconds and the peak memory over all processes of the job; then the seconds of a
job of 1,000 comments, nearly all of it start-up.
"""

import contextlib
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import psutil
from backports import zstd
from tabulate import tabulate

from benchmarks import runs
from benchmarks.plain_loop import WINDOW

LOOP, AGAIN = "plain loop", "plain loop again"
SMALL = 1_000
"""The comments of the job that shows how long it takes to start."""
IDS = re.compile(rb'"(?:id|parent_id|link_id)": ?"(?:t[13]_)?')
"""The text before the ids of a comment, of its parent and of its thread."""
Commands = dict[str, list[str]]
"""Python commands that run side by side, by the cores of each."""


def main() -> None:
    """Writes the dumps, measures, prints."""
    options = {"comments": [2_000_000, 10_000_000], "rounds": 3, "work": Path("runs/benchmark")}
    given = runs.given(__doc__, "dumps", **options)
    pattern = Path(given.dumps)
    dumps = [path for path in sorted(pattern.parent.glob(pattern.name)) if path.suffix == ".zst"]
    if not dumps:
        sys.exit(f"--dumps {given.dumps}: no such files; accepted: dumps, .zst")
    for wanted in given.comments:
        compare(dumps, given.work, wanted, rounds=given.rounds)
    repeat(dumps, given.work, SMALL)
    for cores in ("0", "0,1"):
        seconds, _ = measured({cores: job(given.work)}, given.work)
        print(f"{SMALL:,} comments, cores {cores}: {seconds:.2f} s")


def compare(dumps: list[Path], work: Path, wanted: int, *, rounds: int) -> None:
    """Prints the table of one number of comments."""
    comments, paths = repeat(dumps, work, wanted)
    size = sum(Path(path).stat().st_size for path in paths)
    print(f"{comments:,} comments in {len(paths)} files, {size / 1e6:.0f} MB")
    loop: Commands = {"0": ["-m", "benchmarks.plain_loop", *paths]}
    ways: dict[str, Commands] = {
        LOOP: loop,
        "job, one core": {"0": job(work)},
        "job, two cores": {"0,1": job(work)},
        "two jobs, half each": {
            core: job(work, paths[int(core) :: 2], f"pairs-{core}") for core in "01"
        },
        AGAIN: loop,
    }
    found = runs.in_turn(
        rounds, {name: partial(measured, commands, work) for name, commands in ways.items()}
    )
    median = {name: statistics.median(s for s, _ in some) for name, some in found.items()}
    loops = (median[LOOP] + median[AGAIN]) / 2
    table = [
        (name, each, comments / each, max(peak for _, peak in found[name]) / 2**30, loops / each)
        for name, each in median.items()
    ]
    header = ("", "seconds", "comments/s", "peak GiB", "of the plain loop")
    print(tabulate(table, header, floatfmt=("", ".1f", ",.0f", ".2f", ".2f")), flush=True)


def repeat(dumps: Sequence[Path], work: Path, wanted: int) -> tuple[int, list[str]]:
    """Writes copies of dumps with their own ids; returns the number of comments and the files."""
    folder = work / "dumps"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    comments, paths = 0, []
    for number, dump in enumerate(cycle(dumps)):
        if comments >= wanted:
            break
        copy = number // len(dumps)
        path = folder / f"RC_{copy:03d}-{dump.name}"
        with zstd.open(dump, options=WINDOW) as read, zstd.open(path, "wb") as written:
            for line in islice(read, wanted - comments):
                written.write(IDS.sub(rb"\g<0>%dc" % copy, line))
                comments += 1
        paths.append(str(path))
    return comments, paths


def job(work: Path, inputs: Sequence[str] = (), output: str = "pairs") -> list[str]:
    """The command of the Beam job; all dumps where no inputs are given."""
    inputs = inputs or [f"{work}/dumps/RC_*.zst"]
    return ["-m", "data_pipeline", "reddit", "--input", *inputs, "--output", f"{work}/{output}"]


def measured(commands: Commands, work: Path) -> tuple[float, int]:
    """Seconds until the last command ends, and the peak bytes of memory of all processes."""
    for output in work.glob("pairs*"):
        shutil.rmtree(output)
    with ThreadPoolExecutor() as pool:
        seconds, peaks = zip(*pool.map(_run, commands.values(), commands), strict=True)
    return max(seconds), sum(peaks)


def _run(command: list[str], cores: str) -> tuple[float, int]:
    began = time.perf_counter()
    process = psutil.Popen(
        ["taskset", "-c", cores, sys.executable, *command], stdout=subprocess.DEVNULL
    )
    peak, code = 0, None
    while code is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            family = [process, *process.children(recursive=True)]
            # What the processes share is counted once for each: an upper bound.
            peak = max(peak, sum(member.memory_info().rss for member in family))
        with contextlib.suppress(psutil.TimeoutExpired):
            code = process.wait(timeout=0.1)
    seconds = time.perf_counter() - began
    if code:
        sys.exit(f"{command} ended with {code}")
    return seconds, peak


if __name__ == "__main__":
    main()
