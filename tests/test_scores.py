"""The scores that the presets promise, reached by the commands of the Makefile."""

from pathlib import Path

import pytest

from model.configs import schema

PRESETS = Path(schema.__file__).parent / "presets"


@pytest.mark.slow
def test_the_demo_finds_paraphrases_that_share_no_words(tmp_path, four_steps, sample_world):
    world = sample_world(tmp_path / "world")
    preset = PRESETS / "demo_dan.yaml"
    results = four_steps(tmp_path, corpora=world, preset=preset)["results"]
    for name in ("sts-dev", "sts-test"):
        assert results[name]["metrics"]["pearson"] >= 0.8
        assert results[name]["baselines"]["word_overlap"]["pearson"] <= 0.3


@pytest.mark.slow
def test_a_laptop_on_real_months(tmp_path, four_steps, real_data):
    preset = PRESETS / "laptop_dan.yaml"
    # A sixth of the preset's steps is enough.
    results = four_steps(tmp_path, corpora=real_data, preset=preset, steps=300)["results"]
    assert results["sts-dev"]["metrics"]["pearson"] >= 0.68
    assert results["sts-test"]["metrics"]["pearson"] >= 0.63
    assert results["response_ranking"]["metrics"]["p_at_1"] >= 0.22
    engine = results["cqa-SemEval2017-Task3-CQA-QL-test"]
    assert round(engine["metrics"]["map"], 4) == 0.4185
