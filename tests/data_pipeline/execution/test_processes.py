"""The command as processes: Ctrl-C, and what two workers say."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from data_pipeline import SampleOptions, write_sample

REPOSITORY = Path(__file__).parents[3]
TOGETHER = ("--direct_num_workers", "2", "--direct_running_mode", "multi_processing")


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
        # What runs in the background has it ignored, and so have its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def said_besides_progress(err):
    known = ("pairing ", "read:", "join:")
    return [line for line in err.splitlines() if line and not line.startswith(known)]


def test_ctrl_c_is_one_line_and_ends_every_process(tmp_path):
    write_sample(SampleOptions(output=str(tmp_path), comments=60_000, seed=1))
    with start(str(tmp_path / "reddit" / "RC_*"), tmp_path / "out", *TOGETHER) as process:
        while not list(tmp_path.glob("out/_incomplete/*/*.blocks*")):
            assert process.poll() is None
            time.sleep(0.01)
        children = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert children
    assert (process.returncode, out) == (130, "")
    (said,) = said_besides_progress(err)
    assert "interrupted" in said
    assert psutil.wait_procs(children, timeout=60)[1] == []
    assert not (tmp_path / "out" / "COMPLETED").exists()


def test_two_workers_say_nothing_of_their_own(world, tmp_path):
    with start(f"{tmp_path}/RC_*", tmp_path / "out", *TOGETHER) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    (warning,) = said_besides_progress(err)
    assert warning.startswith("warning: 2 of 13 lines (15.4%) are malformed")
