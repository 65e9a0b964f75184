"""Workers that are forked: what they write, and that none stays."""

import json
import subprocess
import sys
import time

import psutil
import pytest

from data_pipeline.execution import forked_workers
from data_pipeline.execution.forked_workers import can_fork

JOB = """
import json, os, sys
from pathlib import Path

import apache_beam as beam
from apache_beam.runners.worker import statesampler

from data_pipeline.execution.forked_workers import can_fork, forked_workers
from data_pipeline.execution.runner import make_pipeline, pipeline_options

path = sys.argv[1]
options = pipeline_options(["--direct_num_workers=2", "--direct_running_mode=multi_processing"])
pipeline = make_pipeline(options)


def look(number):
    sampler = statesampler.get_current_tracker()
    return os.getpid(), os.getppid(), sampler.sampling_period_ms


_ = (
    pipeline
    | beam.Create(range(8))
    | beam.Reshuffle()
    | beam.Map(look)
    | beam.combiners.ToList()
    | beam.Map(lambda found: Path(path).write_text(json.dumps(found)))
)
may_fork = can_fork()
with forked_workers(pipeline):
    pipeline.run().wait_until_finish()
print(os.getpid(), may_fork, can_fork())
"""


def test_workers_are_children_of_the_nursery_and_end_with_it(tmp_path):
    script = tmp_path / "job.py"
    script.write_text(JOB)
    done = subprocess.run(
        [sys.executable, script, tmp_path / "found"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        cwd=forked_workers.__file__.partition("/data_pipeline/")[0],
        env={"PYTHONPATH": "."},
    )
    launcher, *may_fork = done.stdout.split()
    assert may_fork == ["True", "False"]  # before and after
    found = json.loads((tmp_path / "found").read_text())
    (nursery,) = {parent for _, parent, _ in found}
    ended = {nursery, *(worker for worker, _, _ in found)}
    # A bundle waits for its sampler, by default up to 200 ms.
    assert {period for _, _, period in found} == {10}
    assert len(ended) > 1
    assert int(launcher) not in ended
    until = time.monotonic() + 10
    while any(map(psutil.pid_exists, ended)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(psutil.pid_exists, ended))


@pytest.mark.parametrize("reason", ["forked before", "TensorFlow"])
def test_a_process_with_threads_of_others_does_not_fork(monkeypatch, reason):
    monkeypatch.setattr(forked_workers.threading, "active_count", lambda: 1)
    monkeypatch.setattr(forked_workers, "_has_forked", reason == "forked before")
    modules = {"tensorflow": None} if reason == "TensorFlow" else {}
    monkeypatch.setattr(forked_workers.sys, "modules", modules)
    assert not can_fork()
    monkeypatch.setattr(forked_workers.sys, "modules", {})
    monkeypatch.setattr(forked_workers, "_has_forked", False)
    assert can_fork()
    monkeypatch.setattr(forked_workers.threading, "active_count", lambda: 2)
    assert not can_fork()
