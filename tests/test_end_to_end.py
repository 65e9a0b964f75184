"""The whole way, each step as its user runs it: dump -> pairs -> model -> module -> report."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]

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
  summary_interval: 100
  checkpoint_interval: 500
  validation_interval: 500
  optimizer_config:
    optimizer: {type: adagrad, adagrad: {initial_accumulator_value: 1.0e-6}}
    learning_rate: {type: constant, constant: {learning_rate: 0.02}}
"""

STRANGER = """\
import sys
import tensorflow as tf, tensorflow_text
rows = tf.saved_model.load(sys.argv[1])(["How old are you?", ""])
assert rows.shape == (2, 64) and bool(tf.reduce_all(tf.math.is_finite(rows))), rows
"""


def run(*command):
    """Runs a command from the repository; its output is shown when it fails."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=REPOSITORY,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The four steps on a small sample world; returns the run's folder."""
    folder = tmp_path_factory.mktemp("run")
    world, data, module = folder / "world", folder / "data", folder / "module"
    scored = ("--module", module, "--output", folder / "results")
    (folder / "tiny.yaml").write_text(PRESET)
    run("-m", "data_pipeline", "sample", "--output", world, "--comments", 12_000)
    run("-m", "data_pipeline", "reddit", "--input", f"{world}/reddit/RC_*", "--output", data)
    run(
        *("-m", "model", "--experiment", "reddit", "--mode", "train_and_eval"),
        *("--model_dir", folder / "model", "--config_file", folder / "tiny.yaml"),
        "--params_override",
        f"task.train_data.input_path={data}/train-*,task.validation_data.input_path={data}/test-*",
    )
    run("-m", "export", "--model_dir", folder / "model", "--output", module)
    run("-m", "evaluation", "response_ranking", "--data", data, *scored)
    run("-m", "evaluation", "sts", "--data", world / "stsb", *scored)
    run("-m", "evaluation", "cqa", "--data", world / "semeval_cqa", *scored)
    output = folder / "report.html"
    table = run("-m", "evaluation", "report", "--results", folder / "results", "--output", output)
    (folder / "table.txt").write_text(table)
    return folder


def metrics_of(folder, name):
    return json.loads((folder / "results" / f"{name}.json").read_text())["metrics"]


def test_the_model_learned_more_than_chance_from_the_dump_alone(results):
    assert metrics_of(results, "response_ranking")["p_at_1"] > 0.05  # chance: 0.01
    for split in ("dev", "test"):
        metrics = metrics_of(results, f"sts-{split}")
        assert metrics["pearson"] > 0.3
    assert 0 < metrics_of(results, "cqa-SemEval2016-Task3-CQA-QL-test")["map"] <= 1


def test_a_fresh_process_loads_the_module(results, tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", "-c", STRANGER, str(results / "module")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_report_shows_our_scores_beside_the_papers(results):
    page = (results / "report.html").read_text()
    table = (results / "table.txt").read_text()
    pearson = f"{metrics_of(results, 'sts-test')['pearson']:.3f}"
    assert pearson in page
    assert pearson in table
    assert "0.731" in page  # the paper's Reddit row, table 3
    assert "<svg" in page  # figure 7
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_all_results_are_of_the_one_module(results):
    found = [json.loads(path.read_text()) for path in (results / "results").glob("*.json")]
    assert len(found) == 5
    assert len({result["module"]["fingerprint"] for result in found}) == 1
