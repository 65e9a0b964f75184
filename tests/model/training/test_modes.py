"""Evaluating beside a training run: every new checkpoint, until the last step or a timeout."""

import shutil

import pytest
import tensorflow as tf

from data_pipeline.storage.claim import ClaimedError
from model.checkpoints import model_dir
from model.errors import InputError, TrainingError
from model.training import run

TIMEOUT = {"trainer__continuous_eval_timeout": 1}


def validations(output):
    return [line for line in output.splitlines() if line.startswith("validation: ")]


@pytest.fixture(scope="module")
def trained(parse, tmp_path_factory):
    """A finished run of three checkpoints, which was never validated."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    run.run_experiment(parse(), mode="train", folder=str(folder))
    return folder


def copy(trained, folder, step):
    """Puts a checkpoint into a folder, as training would: `checkpoint` names it last."""
    for path in [trained / "params.yaml", *trained.glob(f"ckpt-{step}.*")]:
        shutil.copy(path, folder)
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "ckpt-{step}"\n')


@pytest.mark.slow
def test_every_checkpoint_is_validated_until_the_last_step(
    trained, parse, tmp_path, capfd, monkeypatch
):
    folder = tmp_path / "run"
    folder.mkdir()
    seen = []

    def train_meanwhile(*arguments, **options):
        for step in (20, 40, 60):
            copy(trained, folder, step)
            seen.append(step)
            yield str(folder / f"ckpt-{step}")

    monkeypatch.setattr(tf.train, "checkpoints_iterator", train_meanwhile)
    metrics = run.run_experiment(parse(), mode="continuous_eval", folder=str(folder))
    assert seen == [20, 40, 60]
    lines = validations(capfd.readouterr().out)
    assert len(lines) == 3
    assert f"p_at_1 {metrics['p_at_1']:.4f}" in lines[-1]
    assert metrics["p_at_1"] > 0.8
    # What validated best is kept, and no checkpoint is written beside it.
    assert (folder / "best" / "best.json").exists()
    assert len(list(folder.glob("ckpt-*.index"))) == 3


def test_the_best_of_another_process_has_the_parameters_of_the_run(trained, parse, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    other = parse(task__objective__margin=0.5)  # of which validation knows nothing
    run.run_experiment(other, mode="continuous_eval", folder=str(folder))
    assert (folder / "best/params.yaml").read_text() == (trained / "params.yaml").read_text()


def test_the_last_validation_is_made_up_for_where_it_was_not_reached(
    trained, parse, tmp_path, capfd
):
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    run.run_experiment(parse(), mode="train_and_eval", folder=str(folder))
    (folder / "validated.json").write_text('{"step": 40}\n')  # the run was prolonged, and stopped
    capfd.readouterr()
    assert run.run_experiment(parse(), mode="train_and_eval", folder=str(folder))
    assert len(validations(capfd.readouterr().out)) == 1
    assert run.run_experiment(parse(), mode="train_and_eval", folder=str(folder)) == {}


def test_a_trained_run_that_was_never_validated_is_validated(trained, parse, tmp_path, capfd):
    folder = tmp_path / "run"
    shutil.copytree(trained, folder)
    metrics = run.run_experiment(parse(), mode="train_and_eval", folder=str(folder))
    assert len(validations(capfd.readouterr().out)) == 1
    assert metrics["p_at_1"] > 0.8
    assert (folder / "best" / "best.json").exists()
    assert run.run_experiment(parse(), mode="train_and_eval", folder=str(folder)) == {}
    assert "already trained to step 60; nothing to do" in capfd.readouterr().out


@pytest.mark.parametrize("mode", ["eval", "continuous_eval"])
def test_a_damaged_validation_record_is_named(trained, parse, pairs_folder, tmp_path, mode):
    (good,) = pairs_folder.glob("test-00000-*")
    content = bytearray(good.read_bytes())
    content[-20] ^= 1  # behind the batch that is looked at before
    (tmp_path / "test-0").write_bytes(content)
    params = parse(
        task__validation_data__input_path=str(tmp_path / "test-*"),
        task__validation_data__global_batch_size=4,
    )
    said = rf"task.validation_data.input_path: record 32 of '{tmp_path}/test-0' is corrupt"
    with pytest.raises(InputError, match=said):
        run.run_experiment(params, mode=mode, folder=str(trained))


@pytest.mark.slow
def test_it_waits_for_a_checkpoint_and_ends_at_the_timeout(trained, parse, tmp_path, capfd):
    folder = tmp_path / "run"
    said = f"no new checkpoint in {folder} for 1 s: trainer.continuous_eval_timeout"
    with pytest.raises(TrainingError, match=f"^{said}; nothing was validated$"):
        run.run_experiment(parse(**TIMEOUT), mode="continuous_eval", folder=str(folder))
    copy(trained, folder, 20)
    metrics = run.run_experiment(parse(**TIMEOUT), mode="continuous_eval", folder=str(folder))
    output = capfd.readouterr().out
    assert len(validations(output)) == 1
    assert said in output
    assert metrics["validation_loss"] > 0


@pytest.mark.slow
def test_a_checkpoint_that_training_deletes_meanwhile_is_passed_over(
    trained, parse, tmp_path, capfd, monkeypatch
):
    copy(trained, tmp_path, 60)
    checkpoints = [str(tmp_path / f"ckpt-{step}") for step in (40, 60)]
    monkeypatch.setattr(tf.train, "checkpoints_iterator", lambda *_, **__: iter(checkpoints))
    run.run_experiment(parse(), mode="continuous_eval", folder=str(tmp_path))
    assert len(validations(capfd.readouterr().out)) == 1


def test_a_damaged_checkpoint_ends_it(trained, parse, tmp_path):
    copy(trained, tmp_path, 60)
    (data,) = tmp_path.glob("ckpt-60.data-*")
    data.write_bytes(data.read_bytes()[:2])
    with pytest.raises(InputError, match=rf"^--model_dir: {data} is damaged"):
        run.run_experiment(parse(), mode="continuous_eval", folder=str(tmp_path))


@pytest.mark.slow
def test_it_does_not_validate_on_what_is_trained_on(trained, parse, tmp_path):
    copy(trained, tmp_path, 60)
    params = parse()
    same = parse(task__validation_data__input_path=params.task.train_data.input_path)
    with pytest.raises(InputError, match="is trained on, too; accepted"):
        run.run_experiment(same, mode="continuous_eval", folder=str(tmp_path))
    # Evaluated by itself it chooses nothing.
    assert run.run_experiment(same, mode="eval", folder=str(tmp_path))
    elsewhere = {"task__train_data__input_path": "elsewhere/train-*"}
    run.run_experiment(parse(**elsewhere, **TIMEOUT), mode="continuous_eval", folder=str(tmp_path))


def test_an_unknown_mode_is_refused(parse, tmp_path):
    with pytest.raises(InputError, match="mode: 'test'; accepted: train, eval, train_and_eval"):
        run.run_experiment(parse(), mode="test", folder=str(tmp_path))


def test_a_run_of_another_model_ends_it(trained, parse, tmp_path):
    copy(trained, tmp_path, 60)
    other = parse(task__model__score_scale=5.0)
    with pytest.raises(InputError, match=r"score_scale was 20\.0, now 5\.0"):
        run.run_experiment(other, mode="continuous_eval", folder=str(tmp_path))


@pytest.mark.slow
def test_it_runs_beside_training_but_one_process_keeps_the_best(trained, parse, tmp_path):
    copy(trained, tmp_path, 60)
    with model_dir.claimed(str(tmp_path)):
        run.run_experiment(parse(), mode="continuous_eval", folder=str(tmp_path))
    with model_dir.claimed(str(tmp_path / "best")), pytest.raises(ClaimedError, match="best' is"):
        run.run_experiment(parse(), mode="continuous_eval", folder=str(tmp_path))
