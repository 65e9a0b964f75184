"""The whole way, each step as its user runs it: dump, pairs, model, module, report; and the scores
that the presets promise, on a sample, on dumps, and on what is not Reddit's."""

import json
from pathlib import Path

import pytest

from model.configs import schema
from tests.conftest import call, sample_world

PRESETS = Path(schema.__file__).parent / "presets"


def four_steps(folder, *, corpora, preset, steps=None):
    """Walks from dumps to report in a folder, each step by its command."""
    data, module, results = folder / "data", folder / "module", folder / "results"
    call("data_pipeline", "reddit", "--input", f"{corpora}/reddit/RC_*", "--output", data)
    changes = {
        "task.train_data.input_path": f"{data}/train-*",
        "task.validation_data.input_path": f"{data}/test-*",
    }
    if steps:
        decay = "trainer.optimizer_config.learning_rate.polynomial.decay_steps"
        changes |= dict.fromkeys(("trainer.train_steps", decay), steps)
    call(
        *("model", "--experiment", "reddit", "--mode", "train_and_eval"),
        *("--model_dir", folder / "model", "--config_file", preset, "--params_override"),
        ",".join(f"{name}={value}" for name, value in changes.items()),
    )
    call("export", "--model_dir", folder / "model", "--output", module)
    sets = {"response_ranking": data, "sts": f"{corpora}/stsb", "cqa": f"{corpora}/semeval_cqa"}
    for task, path in sets.items():
        call("evaluation", task, "--data", path, "--module", module, "--output", results)
    report = folder / "report.html"
    table = call("evaluation", "report", "--results", results, "--output", report)
    return {
        "table": table,
        "page": report.read_text(),
        "results": {path.stem: json.loads(path.read_text()) for path in results.glob("*.json")},
    }


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """The four steps on a small sample world."""
    folder = tmp_path_factory.mktemp("run")
    world = sample_world(folder / "world", "--comments", 12_000)
    return four_steps(folder, corpora=world, preset=PRESETS / "demo_dan.yaml", steps=500)


def test_the_model_learned_from_the_dump_alone(outcome):
    results = outcome["results"]
    assert len(results) == 5
    assert len({result["module"]["fingerprint"] for result in results.values()}) == 1
    assert results["response_ranking"]["metrics"]["p_at_1"] > 0.2  # chance: 0.01
    for split in ("dev", "test"):
        assert results[f"sts-{split}"]["metrics"]["pearson"] > 0.4  # word overlap: about 0
    cqa = results["cqa-SemEval2016-Task3-CQA-QL-test"]
    assert cqa["metrics"]["map"] > cqa["baselines"]["search_engine"]["map"]


def test_the_report_shows_the_scores_and_that_the_sample_is_synthetic(outcome):
    page = outcome["page"]
    pearson = outcome["results"]["sts-test"]["metrics"]["pearson"]
    assert f"{pearson:.3f}" in page
    assert f"{pearson:.4f}" in outcome["table"]
    assert "Synthetic sample" in page
    assert "(paper)" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


@pytest.mark.slow
def test_the_demo_finds_paraphrases_that_share_no_words(tmp_path):
    world = sample_world(tmp_path / "world")
    preset = PRESETS / "demo_dan.yaml"
    results = four_steps(tmp_path, corpora=world, preset=preset)["results"]
    for name in ("sts-dev", "sts-test"):
        assert results[name]["metrics"]["pearson"] >= 0.8
        assert results[name]["baselines"]["word_overlap"]["pearson"] <= 0.3


@pytest.mark.slow
def test_a_laptop_on_real_months(tmp_path, real_data):
    preset = PRESETS / "laptop_dan.yaml"
    # A sixth of the preset's steps is enough.
    results = four_steps(tmp_path, corpora=real_data, preset=preset, steps=300)["results"]
    assert results["sts-dev"]["metrics"]["pearson"] >= 0.68
    assert results["sts-test"]["metrics"]["pearson"] >= 0.63
    assert results["response_ranking"]["metrics"]["p_at_1"] >= 0.22
    engine = results["cqa-SemEval2017-Task3-CQA-QL-test"]
    assert round(engine["metrics"]["map"], 4) == 0.4185


@pytest.mark.slow
def test_a_module_of_own_conversations_ranks_better_than_all_baselines(real_data, tmp_path):
    source = real_data / "conversations" / "ubuntu_irc.jsonl.gz"
    if not source.exists():
        pytest.skip("the real data hold no conversations")
    fields = "--id_field message_id --parent_field in_reply_to --text_field said --thread_field day"
    given = ("--input", source, "--format", "conversations", *fields.split())
    call("common.own", *given, "--author_field", "nick", "--output", tmp_path / "own")
    name = "response_ranking.json"
    ours = json.loads((tmp_path / "own" / "results" / name).read_text())
    others = {
        path.parent.name: json.loads(path.read_text())
        for path in (tmp_path / "own" / "results" / "baselines").glob(f"*/{name}")
    }
    assert {"WordLlama", "BM25"} <= others.keys()
    # The first has learned from most of these threads; the second may be installed, and is better.
    for name in ("conversations-small", "all-MiniLM-L6-v2"):
        others.pop(name, None)
    for other in others.values():
        assert ours["n"] == other["n"] > 3000
        assert ours["intervals"]["p_at_1"][0] > other["metrics"]["p_at_1"], other["system"]
