"""Variants of a module: bytes on disk, seconds to load from disk, memory.

    python -m export variants --model_dir run/ --output modules/
    python -m benchmarks.speed.variants --modules modules/

Each is loaded `--rounds` times in a new process, its files dropped from the page cache first.
TensorFlow's import is timed apart; the memory that the process held before is subtracted.
"""

import argparse
import os
import statistics
import sys
from pathlib import Path

from tabulate import tabulate

from benchmarks import runs
from benchmarks.options import at_least

LOAD = """
import json, os, sys, time
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
began = time.perf_counter()
import tensorflow as tf, tensorflow_text
tf.constant(1).numpy()
imported, before = time.perf_counter(), resident()
module = tf.saved_model.load(sys.argv[1])
loaded = time.perf_counter()
module(["a first sentence"])
called = time.perf_counter()
taken = []
for _ in range(300):
    start = time.perf_counter()
    module(["How old are you?"])
    taken.append(time.perf_counter() - start)
print(json.dumps({
    "import": imported - began, "load": loaded - imported, "first": called - loaded,
    "memory": resident() - before, "one": sorted(taken)[len(taken) // 2],
}))
"""


def main() -> None:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--modules", type=Path, required=True, metavar="DIR", help="of variants")
    parser.add_argument("--rounds", type=at_least(1), default=3, metavar="N")
    arguments = parser.parse_args()
    folders = sorted(path.parent for path in arguments.modules.glob("*/saved_model.pb"))
    if not folders:
        sys.exit(f"error: --modules: {str(arguments.modules)!r} holds no module")
    rows = []
    for folder in sorted(folders, key=size, reverse=True):
        rounds = [load(folder) for _ in range(arguments.rounds)]
        middle = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
        rows.append(
            (
                *(folder.name, size(folder) / 1e6, middle["load"], 1e3 * middle["first"]),
                *(middle["memory"] / 1e6, 1e3 * middle["one"], middle["import"]),
            )
        )
    header = (
        "",
        "MB on disk",
        "load s",
        "first call ms",
        "memory MB",
        "one sentence ms",
        "import s",
    )
    print(tabulate(rows, header, floatfmt=("", ",.1f", ".2f", ".0f", ",.0f", ".2f", ".1f")))


def size(module: Path) -> int:
    """Bytes on disk."""
    return sum(path.stat().st_size for path in module.rglob("*") if path.is_file())


def load(module: Path) -> dict[str, float]:
    """What a new process measured."""
    for path in module.rglob("*"):
        if path.is_file():
            forget(path)
    return runs.report_of([sys.executable, "-I", "-c", LOAD, str(module)])


def forget(path: Path) -> None:
    """Drops the file from the page cache."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
        os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(number)


if __name__ == "__main__":
    main()
