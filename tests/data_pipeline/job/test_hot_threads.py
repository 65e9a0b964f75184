"""One thread with all comments, one comment with half of the replies: no more memory or time."""

import json
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from backports import zstd

from data_pipeline import SampleOptions, write_sample

REPOSITORY = Path(__file__).parents[3]
COMMENTS = 200_000
REPLIES = 100_000
HOT = "t3_hot"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """A sample of the comments that no rule drops, each id once, as dicts."""
    folder = tmp_path_factory.mktemp("sample")
    write_sample(SampleOptions(output=str(folder), comments=COMMENTS + COMMENTS // 10, seed=9))
    found = {}
    for month in sorted((folder / "reddit").iterdir()):
        for line in zstd.decompress(month.read_bytes()).splitlines():
            try:
                fields = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if isinstance(fields.get("body"), str) and "id" in fields:
                found.setdefault(fields["id"], fields)
    assert len(found) >= COMMENTS
    return list(found.values())[:COMMENTS]


def heat(rows):
    """The same comments in one thread; every other one answers the first one that is kept."""
    first = next(row for row in rows if row["body"].isascii() and 20 < len(row["body"]) < 300)
    for number, row in enumerate(rows):
        parent = f"t1_{first['id']}" if number % 2 and row is not first else row["parent_id"]
        yield row | {"link_id": HOT, "parent_id": parent}


# The kernel's own note of the memory; getrusage would count what the tests' process has. And
# seconds of processors, which do not depend on what else the machine does.
RUN_MEASURED = """
import re, sys, time
from pathlib import Path
from data_pipeline.__main__ import main

main(sys.argv[1:])
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(int(peak[1]) * 1024, time.process_time())
"""


def run_measured(folder, rows):
    """Runs the command on a dump of these rows; statistics, peak memory and seconds."""
    folder.mkdir()
    dump = folder / "RC.zst"
    dump.write_bytes(zstd.compress(b"".join(orjson.dumps(row) + b"\n" for row in rows)))
    arguments = ("--input", dump, "--output", folder / "out", "--direct_num_workers=1")
    done = subprocess.run(
        [sys.executable, "-c", RUN_MEASURED, "reddit", *map(str, arguments)],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    )
    peak, seconds = map(float, done.stdout.splitlines()[-1].split())
    statistics = json.loads((folder / "out" / "statistics.json").read_text())
    return statistics, peak, seconds


def test_a_hot_thread_takes_no_more_memory_and_time_than_many_others(rows, tmp_path):
    ordinary, memory, seconds = run_measured(tmp_path / "ordinary", rows)
    hot, hot_memory, hot_seconds = run_measured(tmp_path / "hot", heat(rows))
    print(f"{memory / 1e6:.0f} MB, {seconds:.1f} s")
    print(f"hot: {hot_memory / 1e6:.0f} MB, {hot_seconds:.1f} s")
    assert ordinary["lines"] == hot["lines"] == COMMENTS
    assert hot["replies"] > 0.7 * REPLIES  # the others are dropped
    assert hot["pairs"] > 0.6 * hot["replies"]
    assert 0 in (hot["train_pairs"], hot["test_pairs"])
    assert hot_memory < 1.5 * memory
    assert hot_seconds < 2 * seconds
