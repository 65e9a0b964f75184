"""The whole way, each step as its user runs it: dump -> pairs -> model -> module -> report."""

import numpy as np
import pytest

PRESET = """\
task:
  model:
    text: {max_tokens: 32, word_buckets: 5000, bigram_buckets: 5000}
    encoder: {type: averaging, averaging: {word_dim: 64, hidden: [], embedding_dim: 64}}
    response_network: {hidden: [], normalize: true}
    score_scale: 20.0
  train_data: {global_batch_size: 128, shuffle_buffer_size: 10000}
trainer:
  train_steps: 500
  steps_per_loop: 100
  checkpoint_interval: 500
  validation_interval: 500
  optimizer_config:
    optimizer: {type: adagrad, adagrad: {initial_accumulator_value: 1.0e-6}}
    learning_rate: {type: constant, constant: {learning_rate: 0.02}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def outcome(folder, four_steps, sample_world):
    """The four steps on a small sample world."""
    preset = folder / "tiny.yaml"
    preset.write_text(PRESET)
    world = sample_world(folder / "world", comments=12_000)
    return four_steps(folder, corpora=world, preset=preset)


def test_the_model_learned_from_the_dump_alone(outcome):
    results = outcome["results"]
    assert results["response_ranking"]["metrics"]["p_at_1"] > 0.2  # chance: 0.01
    for split in ("dev", "test"):
        assert results[f"sts-{split}"]["metrics"]["pearson"] > 0.4  # word overlap: about 0
    cqa = results["cqa-SemEval2016-Task3-CQA-QL-test"]
    assert cqa["metrics"]["map"] > cqa["baselines"]["search_engine"]["map"]


def test_the_module_embeds_any_text(outcome, folder):
    """The exporter has loaded it in a fresh process, without this project, to verify it."""
    import tensorflow as tf

    rows = tf.saved_model.load(str(folder / "module"))(["How old are you?", ""])
    assert rows.shape == (2, 64)
    assert np.isfinite(rows).all()


def test_the_report_shows_the_scores_and_that_the_sample_is_synthetic(outcome):
    page = outcome["page"]
    pearson = outcome["results"]["sts-test"]["metrics"]["pearson"]
    assert f"{pearson:.3f}" in page
    assert f"{pearson:.4f}" in outcome["table"]
    assert "Synthetic sample" in page
    assert "(paper)" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_all_results_are_of_the_one_module(outcome):
    assert len(outcome["results"]) == 5
    assert len({result["module"]["fingerprint"] for result in outcome["results"].values()}) == 1
