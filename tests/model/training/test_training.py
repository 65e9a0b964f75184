"""Runs of the command: learning, resuming, refusing."""

import numpy as np
import pytest
import tensorflow as tf
import yaml

from model.configs import parsing
from model.errors import InputError
from model.training import run


def p_at_1(output):
    """The last `p_at_1` that was printed of a validation."""
    line = [line for line in output.splitlines() if line.startswith("validation: ")][-1]
    return float(line.split("p_at_1 ")[1].split(",")[0])


def steps_of(model_dir):
    return sorted(int(path.name[5:-6]) for path in model_dir.glob("ckpt-*.index"))


def test_learns_which_response_belongs_to_which_input(parse, tmp_path, capfd):
    run.run_experiment(parse(), mode="train_and_eval", folder=str(tmp_path / "run"))
    out, err = capfd.readouterr()
    assert p_at_1(out) > 0.8  # untrained: about 1 of 32
    assert "pairs/s" in err
    assert "1.92k/1.92k" in err  # 60 steps of 32 pairs
    assert steps_of(tmp_path / "run") == [20, 40, 60]
    params = yaml.safe_load((tmp_path / "run" / "params.yaml").read_text())
    assert params["task"]["model"]["encoder"]["averaging"]["word_dim"] == 16
    assert list((tmp_path / "run" / "train").glob("events.*"))


@pytest.mark.slow
def test_a_transformer_learns_too(parse, tmp_path, capfd):
    sizes = {"layers": 1, "heads": 2, "hidden": 16, "filter": 32, "embedding_dim": 12}
    params = parse(
        task__model__encoder__type="transformer",
        **{f"task__model__encoder__transformer__{name}": size for name, size in sizes.items()},
        trainer__optimizer_config__learning_rate__constant__learning_rate=0.02,
    )
    run.run_experiment(params, mode="train_and_eval", folder=str(tmp_path / "run"))
    assert p_at_1(capfd.readouterr().out) > 0.15  # untrained: about 1 of 32


def test_goes_on_from_the_last_checkpoint(parse, begun, capfd):
    run.run_experiment(parse(trainer__train_steps=40), mode="train", folder=str(begun))
    out, err = capfd.readouterr()
    assert "restored model from" in out
    assert steps_of(begun) == [20, 40]
    first, *_, last = [bar for bar in err.split("\r") if "training" in bar]
    assert "640/1.28k" in first
    assert "1.28k/1.28k" in last


def test_evaluates_without_training(parse, begun, capfd):
    before = sorted(path.name for path in begun.glob("ckpt*"))
    run.run_experiment(parse(), mode="eval", folder=str(begun))
    assert 0 <= p_at_1(capfd.readouterr().out) <= 1
    assert sorted(path.name for path in begun.glob("ckpt*")) == before


@pytest.mark.slow
def test_the_seed_decides_the_weights_and_the_order(parse, tmp_path):
    def weights(name, seed):
        params = parse(task__seed=seed, trainer__train_steps=20)
        run.run_experiment(params, mode="train", folder=str(tmp_path / name))
        reader = tf.train.load_checkpoint(str(tmp_path / name))
        name = "model/encoder/_words/table/.ATTRIBUTES/VARIABLE_VALUE"
        return reader.get_tensor(name)

    first, again, other = weights("a", 1), weights("b", 1), weights("c", 2)
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01


@pytest.mark.slow
def test_trains_under_the_mirrored_strategy(parse, tmp_path, capfd):
    params = parse(runtime__distribution_strategy="mirrored", trainer__train_steps=20)
    run.run_experiment(params, mode="train_and_eval", folder=str(tmp_path / "run"))
    assert "validation_loss" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        ({"task__train_data__input_path": "nowhere/train-*"}, "'nowhere/train-\\*' matches no"),
        ({"task__train_data__input_path": ""}, "task.train_data.input_path is empty"),
        ({"task__validation_data__input_path": "x-*"}, "task.validation_data.input_path"),
        ({"trainer__summary_interval": 7}, "summary_interval: 7; accepted: multiples of"),
        ({"trainer__checkpoint_interval": 0}, "checkpoint_interval: 0; accepted: whole"),
        ({"runtime__distribution_strategy": "foo"}, "'foo'"),
        ({"task__model__encodr__type": 1}, "encodr"),
        ({"task__model__encoder__type": "lstm"}, "lstm"),
        (
            {"task__model__text__max_tokens": 0},
            "max_tokens: 0; accepted: whole numbers of at least 1",
        ),
        ({"task__model__text__word_buckets": 1}, "word_buckets: 1"),
        ({"task__train_data__global_batch_size": 0}, "train_data.global_batch_size.*: 0; accepted"),
        ({"task__model__encoder__averaging__embedding_dim": 0}, "embedding_dim: 0"),
        ({"task__model__encoder__averaging__word_dropout": 1.0}, "word_dropout: 1.0; accepted"),
        ({"task__model__nli__label_smoothing": -0.1}, "nli.label_smoothing: -0.1; accepted"),
        ({"task__model__nli__members": 0}, "nli.members: 0; accepted: whole numbers of at least 1"),
        ({"trainer__train_steps": -1}, "train_steps: -1"),
        ({"task__train_data__global_batch_size": 500}, "hold 400 records; one batch has 500"),
        ({"task__validation_data__global_batch_size": 65}, "hold 64 records; one batch has 65"),
        (
            {"trainer__best_checkpoint_eval_metric": "bleu"},
            "eval_metric: 'bleu'; accepted: validation_loss, p_at_1, p_at_3, p_at_10$",
        ),
    ],
)
def test_parameters_that_cannot_be_are_named(parse, tmp_path, overrides, reason):
    with pytest.raises(InputError, match=reason):
        run.run_experiment(parse(**overrides), mode="train_and_eval", folder=str(tmp_path / "run"))
    assert not (tmp_path / "run" / "params.yaml").exists()


def test_batches_that_replicas_cannot_share_are_named(parse, tmp_path, monkeypatch):
    monkeypatch.setattr(
        run.cluster, "strategy", lambda _: tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    )
    said = "^task.train_data.global_batch_size: 31; accepted: multiples of the 2 replicas"
    params = parse(task__train_data__global_batch_size=31)
    with pytest.raises(InputError, match=said):
        run.run_experiment(params, mode="train_and_eval", folder=str(tmp_path / "run"))


def test_a_folder_of_another_model_is_refused(parse, begun):
    params = parse(task__model__encoder__averaging__word_dim=24)
    with pytest.raises(InputError, match=r"holds a run with other.*word_dim was 16, now 24"):
        run.run_experiment(params, mode="train", folder=str(begun))


def test_files_that_are_no_pairs_are_named(parse, tmp_path):
    (tmp_path / "train-text").write_text("no TFRecord, however long this line may be")
    (tmp_path / "train-empty").write_bytes(b"")
    for name, reason in (("text", "record 1 of '.*train-text' is corrupt"), ("empty", "hold 0")):
        params = parse(task__train_data__input_path=f"{tmp_path}/train-{name}")
        with pytest.raises(InputError, match=reason):
            run.run_experiment(params, mode="train", folder=str(tmp_path / "run"))


def test_a_run_that_is_done_is_left_alone(parse, begun, capfd):
    before = (begun / "params.yaml").read_text()
    params = parse(trainer__train_steps=20, trainer__checkpoint_interval=5)
    run.run_experiment(params, mode="train", folder=str(begun))
    out, err = capfd.readouterr()
    assert "is already trained to step 20" in out
    assert "pairs/s" not in err
    assert (begun / "params.yaml").read_text() == before


def test_a_run_that_is_done_is_validated_once(parse, begun, capfd):
    params = parse(trainer__train_steps=20)
    assert "p_at_1" in run.run_experiment(params, mode="train_and_eval", folder=str(begun))
    capfd.readouterr()
    assert run.run_experiment(params, mode="train_and_eval", folder=str(begun)) == {}
    assert "is already trained to step 20" in capfd.readouterr().out


def test_a_checkpoint_without_its_parameters_is_refused(parse, begun):
    (begun / "params.yaml").unlink()
    with pytest.raises(InputError, match=r"holds a checkpoint, but no params\.yaml"):
        run.run_experiment(parse(), mode="train", folder=str(begun))


def test_a_file_is_no_model_folder(parse, tmp_path):
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match=r"--model_dir: '.*run' is not a folder"):
        run.run_experiment(parse(), mode="train", folder=str(tmp_path / "run"))


def test_nothing_to_evaluate(parse, tmp_path):
    with pytest.raises(InputError, match="holds no checkpoint to evaluate"):
        run.run_experiment(parse(), mode="eval", folder=str(tmp_path / "run"))


def test_an_unknown_experiment_is_named():
    with pytest.raises(InputError, match="redit"):
        parsing.parse(experiment="redit")
