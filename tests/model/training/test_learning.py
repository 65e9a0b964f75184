"""What is seen of a run while it learns, and where it learns no more, or by heart."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest

from common.sts import Pair
from common.tfrecord import FEATURES
from export.__main__ import main as export
from export.card import identity
from model.checkpoints.model_dir import Record
from model.training import run
from model.training.monitoring import collapse, overfitting
from model.training.validation import pearson
from tests.export.conftest import verify_here
from tests.model.conftest import write_shards


def test_embeddings_that_are_one_point_or_no_numbers():
    point = np.full([2, 4], 0.5, np.float32)
    same, ids = {"words": np.array([[1, 2], [1, 2]])}, {"words": np.array([[1, 2], [3, 0]])}
    assert collapse(same, point) == ""  # of equal texts
    assert collapse(ids, np.add(point, [[0], [1e-2]])) == ""
    for embeddings in (np.add(point, [[0], [1e-6]]), np.array([[0.5, np.nan], [0.5, 0.5]])):
        assert collapse(ids, embeddings)


@pytest.mark.parametrize(
    ("mode", "why"), [("train_and_eval", "the embeddings of"), ("train", "no gradient")]
)
def test_a_collapsed_encoder_ends_as_an_error_again_and_again(ends, tmp_path, mode, why):
    """Units that a rate of 100 has moved below 0 for every sentence: only the bias is left."""
    overrides = {
        "trainer__optimizer_config__optimizer__type": "sgd",
        "trainer__optimizer_config__learning_rate__constant__learning_rate": 100.0,
        "task__model__encoder__averaging__hidden": "[8]",
        "task__model__encoder__averaging__activation": "relu",
        "trainer__train_steps": 20,
        "trainer__validation_interval": 20,
        "trainer__steps_per_loop": 2,
    }
    errors = set()
    for _ in range(2):
        status, output = ends(tmp_path / "run", mode=mode, **overrides)
        assert status == 1
        errors |= {line for line in output.err.splitlines() if line.startswith("error:")}
    (error,) = errors
    assert why in error
    assert (tmp_path / "run" / "ckpt-20.index").exists()


@pytest.mark.parametrize(
    ("trained", "validated", "candidates", "name"),
    [
        ({"p_at_1": 0.97}, {"p_at_1": 0.12}, (100, 100), "p_at_1"),
        ({"p_at_1": 0.55}, {"p_at_1": 0.3}, (100, 100), ""),
        # Among 16 a model ranks better than among 100; 0.7 ** 6.6 is 0.1.
        ({"p_at_1": 0.7}, {"p_at_1": 0.1}, (16, 100), ""),
        ({"p_at_1": 0.97}, {"p_at_1": 0.12}, (16, 100), "p_at_1"),
        ({"p_at_1": 0.97}, {"p_at_1": 0.12}, (512, 32), "p_at_1"),
        (
            {"p_at_1": 0.5, "nli_accuracy": 0.99},
            {"p_at_1": 0.4, "nli_accuracy": 0.6},
            (9, 9),
            "nli",
        ),
        ({"teacher_cosine": 0.9}, {"teacher_cosine": 0.5}, (1, 1), "teacher_cosine"),
        ({}, {"p_at_1": 0.1}, (100, 100), ""),  # a resumed run validates before it trains
    ],
)
def test_overfitting_is_a_gap_between_training_and_validation(trained, validated, candidates, name):
    found = overfitting(trained, validated, [*trained], candidates=candidates)
    assert found.startswith(name) if name else found == ""


def test_every_loop_says_how_training_goes(reddit_run, events):
    found = events(reddit_run / "train")
    names = {"training_loss", "p_at_1", "p_at_3", "p_at_10", "norm/gradient"}
    assert found.keys() >= names | {"learning_rate", "pairs_per_second", "steps_per_second"}
    for values in found.values():
        assert list(values) == [20, 40, 60]
        assert np.isfinite(list(values.values())).all()
    assert found["training_loss"][60] < found["training_loss"][20]
    assert found["p_at_1"][60] > found["p_at_1"][20]
    np.testing.assert_allclose(list(found["learning_rate"].values()), 0.05, rtol=1e-6)
    assert min(found["pairs_per_second"].values()) > 0
    assert min(found["norm/gradient"].values()) > 0
    found = events(reddit_run / "validation")
    assert found.keys() == {"validation_loss", "p_at_1", "p_at_3", "p_at_10", "sts_dev_pearson"}
    assert all(list(values) == [20, 40, 60] for values in found.values())


VECTORS = {"east": [1.0, 0.0], "north": [0.0, 1.0], "northeast": [0.5**0.5, 0.5**0.5]}


def test_pearsons_r_of_three_pairs_by_hand():
    # The angles are 0, 45 and 90 degrees.
    golds = {"east": 5.0, "northeast": 3.0, "north": 0.0}
    model = SimpleNamespace(encode=lambda sentences: np.array([VECTORS[one] for one in sentences]))
    found = pearson(model, [Pair("east", other, gold) for other, gold in golds.items()])
    # 1, 0, -1 beside 7/3, 1/3, -8/3: 5 / sqrt(2 * 114/9)
    np.testing.assert_allclose(found, 5 / np.sqrt(2 * 114 / 9), rtol=1e-6)


@pytest.fixture
def overfit(parse, tmp_path):
    """Parameters of a run, validated every 10 steps, on pairs that only the heart learns."""
    folder = tmp_path / "by_chance"
    folder.mkdir()

    def pair(side, number):
        offset = {"train": 7, "test": 3}[side]
        texts = {"input": f"word{number}", "response": f"word{(number * offset + 1) % 200}"}
        return dict.fromkeys(FEATURES, "") | texts | {"response_id": f"{side}{number}"}

    write_shards(folder, pair, train=64, test=64)
    return functools.partial(
        parse,
        task__train_data__input_path=f"{folder}/train-*",
        task__train_data__shuffle_buffer_size=64,
        task__validation_data__input_path=f"{folder}/test-*",
        trainer__steps_per_loop=10,
        trainer__checkpoint_interval=10,
        trainer__validation_interval=10,
        trainer__early_stopping_patience=2,
    )


def test_it_warns_stops_early_also_where_it_goes_on_and_the_last_or_the_best_is_exported(
    overfit, tmp_path, monkeypatch, capsys
):
    folder = tmp_path / "run"
    run.run_experiment(overfit(trainer__train_steps=20), mode="train_and_eval", folder=folder)
    capsys.readouterr()
    params = overfit(trainer__train_steps=1000)
    run.run_experiment(params, mode="train_and_eval", folder=folder)
    printed = capsys.readouterr().out
    best = Record.read(folder / "best").best
    assert best.step < 980
    assert Record.read(folder).validated == best.step + 20
    assert "warning: p_at_1" in printed
    assert run.run_experiment(params, mode="train_and_eval", folder=folder) == {}
    assert "already trained" in capsys.readouterr().out
    verify_here(monkeypatch)
    for options, step in (([], best.step + 20), (["--checkpoint", "best"], best.step)):
        module = tmp_path / f"module-{step}"
        export(["--model_dir", str(folder), "--output", str(module), *options])
        assert identity.read(module)["step"] == step
        printed = capsys.readouterr().out
        assert f"ckpt-{step}" in printed
        assert ("warning:" in printed) == (not options)
