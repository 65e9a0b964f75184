"""Runs in all modes: they learn, go on, validate what others train, and refuse what cannot be."""

import os
import re
import shutil

import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from common.errors import InputError
from common.files import ClaimedError, claim
from model.checkpoints.model_dir import Record
from model.training import run
from tests.conftest import steps_of


@pytest.fixture(scope="module")
def trained(parse, tmp_path_factory):
    """A finished run of three checkpoints, which was never validated."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    assert run.run_experiment(parse(), mode="train", folder=folder) == {}
    return folder


@pytest.fixture
def copied(trained, tmp_path):
    """A copy of it."""
    return shutil.copytree(trained, tmp_path / "run")


def test_a_run_goes_on_learns_and_is_validated_once(parse, begun, capfd):
    (begun / "checkpoint").write_bytes(b"\xff\x00garbage")
    (begun / "ckpt-1_temp").mkdir()
    metrics = run.run_experiment(parse(), mode="train_and_eval", folder=begun)
    assert metrics["p_at_1"] > 0.8  # untrained: about 1 of 32
    out, err = capfd.readouterr()
    assert f"{begun}/ckpt-20" in out
    assert "from step 20 to 60" in out
    assert f"p_at_1 {metrics['p_at_1']:.4f} at step 60" in out
    first, *_, last = [bar for bar in err.split("\r") if "training" in bar]
    assert "20/60" in first
    assert "60/60" in last
    assert steps_of(begun) == [20, 40, 60]
    assert not (begun / "ckpt-1_temp").exists()
    assert Record.read(begun / "best").best.step == 60
    before = (begun / "params.yaml").read_text()
    shorter = parse(trainer__train_steps=20, trainer__checkpoint_interval=5)
    for mode in ("train", "train_and_eval"):
        assert run.run_experiment(shorter, mode=mode, folder=begun) == {}
    assert "already trained to step 60" in capfd.readouterr().out
    assert (begun / "params.yaml").read_text() == before


def test_a_run_that_was_stopped_before_its_validation_is_validated(parse, copied, capfd):
    for _ in range(2):
        assert run.run_experiment(parse(), mode="train_and_eval", folder=copied)["p_at_1"] > 0.8
        lines = capfd.readouterr().out.splitlines()
        assert sum(line.startswith("validation: ") for line in lines) == 1
        # Prolonged, and stopped at its end.
        of_run = Record.read(copied)
        assert of_run.validated == 60
        of_run.validated = 40
        of_run.write(copied)


def test_another_run_is_refused_before_it_changes_anything(parse, copied):
    with claim(copied):
        before = {path.name: path.read_bytes() for path in copied.iterdir() if path.is_file()}
        for mode in ("train", "train_and_eval"):
            with pytest.raises(ClaimedError, match=f"{copied}.* process {os.getpid()} "):
                run.run_experiment(parse(task__seed=5), mode=mode, folder=copied)
        with pytest.raises(InputError, match="score_scale was"):
            params = parse(task__model__score_scale=5.0)
            run.run_experiment(params, mode="eval", folder=copied)
        assert run.run_experiment(parse(), mode="eval", folder=copied)["p_at_1"] > 0.8
        after = {path.name: path.read_bytes() for path in copied.iterdir() if path.is_file()}
        assert after == before


@pytest.mark.parametrize("optimizer", ["adagrad", "rowwise_adagrad", "adam"])
def test_a_run_is_validated_whatever_its_optimizer_was(parse, reddit_run, events, optimizer):
    params = parse(trainer__average_decay=0.9, trainer__optimizer_config__optimizer__type=optimizer)
    found = run.run_experiment(params, mode="eval", folder=reddit_run)
    in_training = events(reddit_run / "validation")
    for name in ("validation_loss", "p_at_1"):
        assert found[name] == pytest.approx(float(in_training[name][60]), rel=1e-6)


SLOT = "model/encoder/_words/table/.OPTIMIZER_SLOT/optimizer/accumulator/.ATTRIBUTES/VARIABLE_VALUE"


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_a_damaged_checkpoint_ends_every_mode(ends, copied, mode):
    (data,) = copied.glob("ckpt-60.data-*")
    content = bytearray(data.read_bytes())
    if mode == "train":  # a byte of the optimizer, which only training reads
        value = tf.train.load_checkpoint(str(copied)).get_tensor(SLOT).tobytes()
        content[content.find(value) + len(value) // 2] ^= 1
    data.write_bytes(content if mode == "train" else content[:-1000])
    status, output = ends(copied, mode=mode, trainer__train_steps=80)
    assert status == 1
    (line,) = [line for line in output.err.splitlines() if line.startswith("error:")]
    assert f"{copied}/ckpt-60" in line
    assert f"{copied}/ckpt-40" in line
    assert "Traceback" not in output.err
    assert steps_of(copied) == [20, 40, 60]


@pytest.mark.parametrize(
    ("mode", "overrides", "name"),
    [
        ("test", {}, "mode: 'test'"),
        ("train", {"task__train_data__input_path": "nowhere-*"}, "'nowhere-*'"),
        ("eval", {"task__validation_data__input_path": "x-*"}, "task.validation_data.input_path"),
        ("train", {"task__train_data__global_batch_size": 500}, "task.train_data"),
        ("train_and_eval", {"trainer__best_checkpoint_eval_metric": "bleu"}, "'bleu'"),
        ("train", {"runtime__distribution_strategy": "foo"}, "'foo'"),
        ("train", {"trainer__early_stopping_patience": 2}, "early_stopping_patience: 2"),
        ("train", {"task__init_checkpoint": "nowhere"}, "'nowhere'"),
        ("eval", {}, "no checkpoint to evaluate"),
    ],
)
def test_what_cannot_be_is_named_and_leaves_no_folder(parse, tmp_path, mode, overrides, name):
    with pytest.raises(InputError, match=re.escape(name)):
        run.run_experiment(parse(**overrides), mode=mode, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_inputs_that_a_run_may_not_have_are_named(parse, tmp_path, monkeypatch):
    params = parse()
    same = parse(task__validation_data__input_path=params.task.train_data.input_path)
    with pytest.raises(InputError, match=r"task\.validation_data\.input_path: '.*/train-0000"):
        run.run_experiment(same, mode="train_and_eval", folder=tmp_path / "run")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        run.run_experiment(params, mode="train", folder=tmp_path / "file")
    two = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    monkeypatch.setattr(run.cluster, "strategy", lambda _: two)
    with pytest.raises(InputError, match=r"task\.train_data\.global_batch_size: 31"):
        params = parse(task__train_data__global_batch_size=31)
        run.run_experiment(params, mode="train", folder=tmp_path / "run")


def test_a_damaged_validation_record_is_named(trained, parse, pairs_folder, tmp_path):
    (good,) = pairs_folder.glob("test-00000-*")
    content = bytearray(good.read_bytes())
    content[-20] ^= 1  # behind the batch that is looked at before
    (tmp_path / "test-0").write_bytes(content)
    params = parse(
        task__validation_data__input_path=f"{tmp_path}/test-*",
        task__validation_data__global_batch_size=4,
    )
    with pytest.raises(InputError, match=rf"validation_data.*record 32 of '{tmp_path}/test-0'"):
        run.run_experiment(params, mode="eval", folder=trained)


WORDS = "model/encoder/_words/table/.ATTRIBUTES/VARIABLE_VALUE"


@pytest.mark.slow
def test_16_bits_are_of_the_steps_and_not_of_the_weights(parse, run_of_20_steps, tmp_path):
    params = parse(trainer__train_steps=20, runtime__mixed_precision_dtype="bfloat16")
    run.run_experiment(params, mode="train", folder=tmp_path)
    assert tf_keras.mixed_precision.global_policy().name == "float32"  # of the run alone
    whole, short = (
        tf.train.load_checkpoint(str(folder / "ckpt-20")).get_tensor(WORDS)
        for folder in (run_of_20_steps, tmp_path)
    )
    assert short.dtype == np.float32
    assert 0 < np.abs(short - whole).max() < 0.3 * np.abs(whole).max()
