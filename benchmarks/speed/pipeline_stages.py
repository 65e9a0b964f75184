"""Where the time of the Beam job goes, on one core: a table that adds up.

    python -m benchmarks.speed.pipeline_stages --dumps 'DIR/reddit/RC_2015-*.zst'

Runs the job on copies of the dumps (see `pipeline`) in this process, and counts the time inside the
functions that stand for a stage. The rest is what is left of the process's CPU time: Beam, and what
lies between the stages.
"""

import argparse
import contextlib
import functools
import inspect
import io
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tabulate import tabulate

from benchmarks.options import at_least
from benchmarks.speed.pipeline import found, repeat

STAGES = {
    "decompress, split into lines": ["files.lines:read_line_batches"],
    "parse": ["reddit.columns:parse_batch"],
    "columns, text, rules": ["reddit.source:RedditSource._messages"],
    "pack for the join": ["job.join:Packer.packed"],
    "join": ["job.join:pair_partition"],
    "split, encode": ["pairs.shards:Sharding.rows"],
    "hash for duplicates": ["pairs.deduplication:_hashes_by_partition"],
    "describe": ["card.statistics:describe", "card.statistics:some_of"],
    "pack for the shards": ["execution.shuffle:pack_batches"],
    "write the shards": ["pairs.shards:write_shard"],
    "data card": ["card.data_card:render"],
}
"""Stage -> the functions that it consists of: none is called by another one."""
IMPORTS = "start: imports"
REST = "Beam, and the rest"


def main() -> None:
    """Writes the dumps, runs the job, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dumps", required=True, metavar="GLOB", help="comment dumps, .zst")
    parser.add_argument("--comments", type=at_least(1), default=2_000_000, metavar="N")
    parser.add_argument("--work", type=Path, default=Path("runs/benchmark"), metavar="DIR")
    arguments = parser.parse_args()
    dumps = found(arguments.dumps)
    if not dumps:
        parser.error(f"--dumps {arguments.dumps}: no such files; accepted: dumps, .zst")
    comments, _ = repeat(dumps, arguments.work, arguments.comments)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    seconds = measure(arguments.work)
    rows = [(stage, spent, 1e6 * spent / comments) for stage, spent in seconds.items()]
    total = sum(seconds.values())
    rows.append(("all", total, 1e6 * total / comments))
    print(f"{comments:,} comments, one core")
    print(tabulate(rows, ("", "CPU seconds", "microseconds a comment"), floatfmt=".2f"))


def measure(work: Path) -> dict[str, float]:
    """CPU seconds of each stage of the job on the dumps in a folder."""
    began = time.process_time()
    from data_pipeline.__main__ import main as run

    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        run(["reddit", "--help"])
    import_module("data_pipeline.sources.reddit.command")
    seconds = {IMPORTS: time.process_time() - began}
    spent: Counter = Counter()
    for stage, functions in STAGES.items():
        for function in functions:
            count_time(function, stage, spent)
    shutil.rmtree(work / "pairs", ignore_errors=True)
    began = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        many = f"{work}/dumps/RC_*.zst"
        run(["reddit", "--input", many, "--output", f"{work}/pairs"])
    total = time.process_time() - began
    return {
        **seconds,
        **{stage: spent[stage] for stage in STAGES},
        REST: total - spent.total(),
    }


def count_time(name: str, stage: str, spent: Counter) -> None:
    """Replaces a function of the product by one that adds its time to a stage."""
    module, _, path = name.partition(":")
    *owners, attribute = path.split(".")
    owner = functools.reduce(getattr, owners, import_module(f"data_pipeline.{module}"))
    original = getattr(owner, attribute)
    timed = (_timed_generator if inspect.isgeneratorfunction(original) else _timed)(
        original, stage, spent
    )
    setattr(owner, attribute, timed)
    for importer in [
        each for name, each in sys.modules.items() if name.startswith("data_pipeline.")
    ]:
        for known, value in list(vars(importer).items()):
            if value is original:
                setattr(importer, known, timed)


def _timed(function: Callable, stage: str, spent: Counter) -> Callable:
    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            spent[stage] += time.process_time() - began

    return run


def _timed_generator(function: Callable, stage: str, spent: Counter) -> Callable:
    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Iterator[Any]:
        following = _timed(function(*arguments, **named).__next__, stage, spent)
        while True:
            try:
                value = following()
            except StopIteration:
                return
            yield value

    return run


if __name__ == "__main__":
    main()
