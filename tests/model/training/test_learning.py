"""A run that learns nothing any more says so and does not end as one that is fine."""

import numpy as np
import pytest

from model.training.monitoring import Sample, collapse, overfitting


def test_embeddings_that_are_one_point_or_no_numbers():
    point = np.full([2, 4], 0.5, np.float32)
    same, ids = {"words": np.array([[1, 2], [1, 2]])}, {"words": np.array([[1, 2], [3, 0]])}
    good = Sample(ids, np.add(point, [[0], [1e-2]]))
    assert collapse([Sample(same, point), good]) == ""  # of equal texts
    for embeddings in (np.add(point, [[0], [1e-6]]), np.array([[0.5, np.nan], [0.5, 0.5]])):
        assert collapse([good, Sample(ids, embeddings)])


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
