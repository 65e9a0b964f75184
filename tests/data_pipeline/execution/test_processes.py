"""The command as processes: Ctrl-C, and what two workers say."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from data_pipeline import sample

REPOSITORY = Path(__file__).parents[3]
TOGETHER = ("--direct_num_workers", "2", "--direct_running_mode", "multi_processing")

INTERRUPTED_IMPORT = """
import runpy, signal, sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == "apache_beam.pipeline":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
sys.argv[0] = "data_pipeline"
runpy.run_module("data_pipeline", run_name="__main__", alter_sys=True)
"""
"""The command, with a Ctrl-C while it imports Beam."""


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    """A sample dump that takes some seconds."""
    folder = tmp_path_factory.mktemp("dumps")
    sample.write_sample(folder, comments=60_000, seed=1)
    return str(folder / "reddit" / "RC_*")


def start(dump, output, *options):
    """The command in a group of its own, as a terminal starts it."""
    command = ["-m", "data_pipeline", "reddit", "--input", dump, "--output", str(output), *options]
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("workers", [("--direct_num_workers", "1"), TOGETHER], ids=["1", "2"])
def test_ctrl_c_is_one_line_and_ends_every_process(dump, tmp_path, workers):
    with start(dump, tmp_path / "out", *workers) as process:
        while not list(tmp_path.glob("out/_incomplete/*/inputs/*/*.partial")):
            assert process.poll() is None
            time.sleep(0.01)
        children = psutil.Process(process.pid).children(recursive=True)
        assert bool(children) == (workers is TOGETHER)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert out == ""
    pairing, *bars, last = err.splitlines()
    assert pairing.startswith("pairing ")
    assert [line for line in bars if not line.startswith(("reading dumps: ", "read "))] == []
    assert last == "interrupted; run the same command again to complete it"
    assert psutil.wait_procs(children, timeout=60)[1] == []
    assert not (tmp_path / "out" / "COMPLETED").exists()


def test_ctrl_c_while_it_starts_is_one_line(dump, tmp_path):
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, "reddit", "--input", dump, "--output", "x"]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (130, 1)
    assert not (REPOSITORY / "x").exists()


def test_what_two_workers_log_reaches_the_user_and_nothing_else(world, tmp_path):
    options = ("--context_turns", "1", "--max_copies_of_pair", "1")
    with start(f"{tmp_path}/RC_*", tmp_path / "out", *TOGETHER, *options) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    lines = err.splitlines()
    assert sorted(line for line in lines if line.startswith("read ")) == [
        f"read {tmp_path}/RC_1.zst: 6 lines, 0.0 MB",
        f"read {tmp_path}/RC_2.bz2: 7 lines, 0.0 MB",
    ]
    known = ("pairing ", "read ", "reading dumps: ", "joining replies to parents: ")
    (warning,) = [line for line in lines if not line.startswith(known)]
    assert warning.startswith("warning: 2 of 13 lines (15.4%) are malformed; dead")
