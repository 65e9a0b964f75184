"""A run on few pairs learns them by heart: it says so, stops early if asked, and keeps its best."""

import json

import pytest

from common.errors import InputError
from data_pipeline.pairs.tfrecord import FEATURES
from export.__main__ import main as export
from model.checkpoints import record
from model.training import run
from tests.export.conftest import verify_here
from tests.model.conftest import write_shards

WORDS = [f"word{number}" for number in range(200)]


@pytest.fixture(scope="module")
def by_chance(tmp_path_factory):
    """Pairs that can be learned by heart alone: any word follows any word."""
    folder = tmp_path_factory.mktemp("by_chance")
    for side, offset in (("train", 7), ("test", 3)):
        texts = [(WORDS[n % 200], WORDS[(n * offset + 1) % 200]) for n in range(64)]
        pairs = [
            dict.fromkeys(FEATURES, "")
            | {"input": one, "response": two, "response_id": f"{side}{number}"}
            for number, (one, two) in enumerate(texts)
        ]
        write_shards(folder, side, pairs)
    return folder


@pytest.fixture(scope="module")
def overfit(parse, by_chance):
    """Parameters of a run on them, of 60 steps, validated every 10."""

    def params(**overrides):
        settings = {
            "task__train_data__input_path": f"{by_chance}/train-*",
            "task__train_data__shuffle_buffer_size": 64,
            "task__validation_data__input_path": f"{by_chance}/test-*",
            "trainer__steps_per_loop": 10,
            "trainer__checkpoint_interval": 10,
            "trainer__validation_interval": 10,
        }
        return parse(**settings | overrides)

    return params


@pytest.fixture(scope="module")
def trained(overfit, tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    run.run_experiment(overfit(), mode="train_and_eval", folder=folder)
    return folder


def test_it_warns_and_stops_early_if_asked_also_where_it_goes_on(overfit, tmp_path, capsys):
    folder = tmp_path / "run"
    begun = overfit(trainer__train_steps=20, trainer__early_stopping_patience=2)
    run.run_experiment(begun, mode="train_and_eval", folder=folder)
    capsys.readouterr()
    params = overfit(trainer__train_steps=1000, trainer__early_stopping_patience=2)
    run.run_experiment(params, mode="train_and_eval", folder=folder)
    printed = capsys.readouterr().out
    best = record.read(folder / "best").best
    assert best.step < 980
    assert record.read(folder).validated == best.step + 20
    assert "warning: p_at_1" in printed
    assert run.run_experiment(params, mode="train_and_eval", folder=folder) == {}
    assert "already trained" in capsys.readouterr().out


def test_without_validation_nothing_stops_early(overfit, tmp_path):
    with pytest.raises(InputError, match="early_stopping_patience: 2"):
        params = overfit(trainer__early_stopping_patience=2)
        run.run_experiment(params, mode="train", folder=tmp_path / "run")


@pytest.mark.parametrize("options", [[], ["--checkpoint", "last"], ["--checkpoint", "best"]])
def test_the_last_or_the_best_is_exported(trained, tmp_path, monkeypatch, capsys, options):
    verify_here(monkeypatch)
    best = record.read(trained / "best").best
    assert best.step < 60
    export(["--model_dir", str(trained), "--output", str(tmp_path / "module"), *options])
    step = best.step if "best" in options else 60
    about = json.loads((tmp_path / "module/assets.extra/identity.json").read_text())
    assert about["step"] == step
    printed = capsys.readouterr().out
    assert f"ckpt-{step}" in printed
    is_warned = any(line.startswith("warning:") for line in printed.splitlines())
    assert is_warned == ("best" not in options)


def test_a_run_that_was_not_validated_has_no_best(run_of_20_steps, tmp_path):
    output = tmp_path / "module"
    with pytest.raises(SystemExit, match=f"{run_of_20_steps}/best"):
        export(
            ["--model_dir", str(run_of_20_steps), "--output", str(output), "--checkpoint", "best"]
        )
    assert not output.exists()
