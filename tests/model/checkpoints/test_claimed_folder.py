"""One run at a time in a model folder."""

import contextlib
import os
import re
import socket
import threading
from pathlib import Path

import pytest
import tensorflow as tf

from data_pipeline.storage.claim import ClaimedError, claim
from model.checkpoints import model_dir
from model.data import tfrecords
from model.errors import InputError
from model.training import run


def contents(folder):
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file()}


def test_the_second_run_is_refused_before_it_changes_anything(parse, tmp_path):
    folder = str(tmp_path / "run")
    with model_dir.claimed(folder):
        before = contents(folder)
        with pytest.raises(
            ClaimedError,
            match=rf"--model_dir: '{folder}' is in use by process {os.getpid()} on "
            rf"{re.escape(socket.gethostname())} since ",
        ):
            run.run_experiment(parse(task__seed=5), mode="train", folder=folder)
        assert contents(folder) == before


def test_evaluating_beside_a_run_is_no_second_run(parse, tmp_path):
    folder = str(tmp_path / "run")
    with (
        model_dir.claimed(folder),
        pytest.raises(InputError, match="holds no checkpoint to evaluate"),
    ):
        run.run_experiment(parse(), mode="eval", folder=folder)


@pytest.mark.slow
def test_a_run_whose_folder_was_taken_over_ends(parse, tmp_path, monkeypatch):
    class Taken:
        answers = iter((OSError("no answer"), ClaimedError("in use by another")))

        def require(self):
            raise next(self.answers)

    monkeypatch.setattr(model_dir, "claimed", lambda folder: contextlib.nullcontext(Taken()))
    params = parse(trainer__train_steps=60, trainer__checkpoint_interval=60)
    with pytest.raises(ClaimedError, match="in use by another"):
        run.run_experiment(params, mode="train", folder=str(tmp_path / "run"))
    assert [*(tmp_path / "run").glob("ckpt-*")] == []


def test_a_run_leaves_no_claim(parse, tmp_path):
    folder = str(tmp_path / "run")
    with pytest.raises(InputError, match="matches no file"):
        run.run_experiment(
            parse(task__train_data__input_path="nowhere-*"), mode="train", folder=folder
        )
    assert contents(folder) == {}


def test_a_store_of_objects_is_claimed_too(monkeypatch):
    monkeypatch.setattr("data_pipeline.storage.claim.SETTLE_SECONDS", 0.0)
    folder = "ram://claimed/run"
    with model_dir.claimed(folder):
        assert tf.io.gfile.exists(f"{folder}/_claim")
        with pytest.raises(ClaimedError), model_dir.claimed(folder):
            pass
    assert not tf.io.gfile.exists(f"{folder}/_claim")
    with model_dir.claimed(folder):
        pass


def test_a_store_that_does_not_answer_once_keeps_the_claim(monkeypatch):
    """Its errors are OSErrors, which the renewal tries again after."""
    monkeypatch.setattr("data_pipeline.storage.claim.SETTLE_SECONDS", 0.0)
    monkeypatch.setattr("data_pipeline.storage.claim.RENEW_SECONDS", 0.02)
    folder = "ram://hiccup/run"
    renewed, failed = threading.Event(), threading.Event()
    open_file = tf.io.gfile.GFile

    def at_first_unavailable(path, mode):
        if threading.current_thread() is not threading.main_thread() and mode == "wb":
            if not failed.is_set():
                failed.set()
                raise tf.errors.UnavailableError(None, None, "try again")
            renewed.set()
        return open_file(path, mode)

    monkeypatch.setattr(tf.io.gfile, "GFile", at_first_unavailable)
    with model_dir.claimed(folder):
        assert renewed.wait(300)
    assert failed.is_set()


def test_no_input_may_lie_in_the_model_folder(parse, pairs_folder, tmp_path):
    # The folder of pairs as a model folder, and a folder around it.
    config = parse().task.train_data
    for folder in (pairs_folder, pairs_folder.parent, f"{pairs_folder}/"):
        with pytest.raises(InputError, match=r"task\.train_data\.input_path: '.*' lies in --mod"):
            tfrecords.require_apart("task.train_data", config, str(folder))
    tfrecords.require_apart("task.train_data", config, f"{pairs_folder}-model")
    tfrecords.require_apart("task.train_data", config, str(pairs_folder / "model"))


def test_the_regressors_output_is_claimed(tmp_path, capsys):
    from model.sts_regression.__main__ import main

    output = tmp_path / "regressors"
    output.mkdir()
    with claim(str(output / "_claim"), what="it"):
        status = main(
            [
                *("run", "--data", str(tmp_path), "--vectors", "glove.txt"),
                *("--output", str(output), "--preset", "quick", "--rows", "sif_perceptron"),
            ]
        )
        assert status == 1
        assert f"--output: {str(output)!r} is in use by process" in capsys.readouterr().err
        assert [path.name for path in output.iterdir()] == ["_claim"]
