"""A disk that fills while a model is saved: one error; what was saved before is still good."""

import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from model.__main__ import main

REPOSITORY = Path(__file__).parents[3]
EVENTS_FIT = 200_000
"""Bytes; a checkpoint of the tiny model has twice as many."""


@contextmanager
def files_up_to(size):
    """No file of this process becomes larger; Python ignores the signal that would end it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def the_error(output):
    assert "Traceback" not in output.err
    (line,) = [line for line in output.err.splitlines() if line.startswith("error: ")]
    assert output.err.endswith(f"{line}\n")
    return line


def saved(folder):
    return sorted(path.name for path in folder.glob("ckpt-*.index"))


def variables(folder):
    reader = tf.train.load_checkpoint(str(folder))
    names = set(reader.get_variable_to_shape_map()) - {"_CHECKPOINTABLE_OBJECT_GRAPH"}
    return {name: reader.get_tensor(name) for name in names}


@pytest.mark.slow
def test_a_checkpoint_that_does_not_fit(ends, arguments, begun):
    folder, changes = begun, {"trainer__checkpoint_interval": 40}
    before = variables(folder)
    with files_up_to(EVENTS_FIT):
        status, output = ends(folder, **changes)
    assert status == 1
    said = the_error(output)
    assert said.startswith("error: a checkpoint cannot be written: ")
    assert said.endswith(f"; File too large. The last checkpoint is {folder}/ckpt-20")
    assert saved(folder) == ["ckpt-20.index"]
    for name, value in variables(folder).items():
        np.testing.assert_array_equal(value, before[name], err_msg=name)
    main(arguments(folder, **changes))
    assert saved(folder) == ["ckpt-20.index", "ckpt-40.index", "ckpt-60.index"]


@pytest.mark.slow
def test_the_best_model_does_not_fit(ends, tmp_path):
    folder = tmp_path / "run"
    changes = {"trainer__validation_interval": 20, "trainer__checkpoint_interval": 1000}
    with files_up_to(EVENTS_FIT):
        status, output = ends(folder, mode="train_and_eval", **changes)
    assert status == 1
    assert the_error(output).startswith("error: the best checkpoint cannot be written: ")
    assert not (folder / "best" / "best.json").exists()


def test_nothing_fits(ends, tmp_path):
    folder = tmp_path / "run"
    with files_up_to(1000):
        status, output = ends(folder)
    assert status == 1
    assert f"'{folder}/params.yaml' cannot be written" in the_error(output)


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_in_a_process_of_its_own(arguments, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", small],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount: {mounted.stderr.decode().strip()}")
    try:
        command = [sys.executable, "-m", "model", *arguments(small / "run")]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        last = done.stderr.splitlines()[-1]
        assert last.startswith("error: ")
        assert "No space left on device" in last
        assert last.endswith("/run/ckpt-40")
        subprocess.run(["mount", "-o", "remount,size=50m", small], check=True)
        subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=True)
        assert saved(small / "run") == ["ckpt-20.index", "ckpt-40.index", "ckpt-60.index"]
    finally:
        subprocess.run(["umount", small], check=True)
