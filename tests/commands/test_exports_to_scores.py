"""Each format of `import`, from its fixture to a scored module."""

import json
from pathlib import Path

import pytest

from data_pipeline import __main__ as pipeline
from data_pipeline.sources.exports.options import FORMATS
from evaluation import __main__ as evaluation
from export import __main__ as export
from model import __main__ as model

FIXTURES = Path(__file__).parents[1] / "data_pipeline" / "sources" / "exports"
PARAMETERS = {
    "task.model.encoder.averaging.word_dim": 8,
    "task.train_data.global_batch_size": 4,
    "task.validation_data.global_batch_size": 4,
    "trainer.train_steps": 2,
    "trainer.steps_per_loop": 2,
    "trainer.validation_interval": 2,
}


@pytest.mark.slow
def test_every_format_trains_a_module_that_is_scored_on_it(tmp_path):
    for name in FORMATS:
        for held_out, kind in (("0", "train"), ("1", "test")):
            folders = ["--input", str(FIXTURES / name), "--output", f"{tmp_path}/{kind}/{name}"]
            pipeline.main(["import", name, *folders, "--test_fraction", held_out, "--allow_empty"])
    given = PARAMETERS | {
        "task.train_data.input_path": f"{tmp_path}/train/*/train-*",
        "task.validation_data.input_path": f"{tmp_path}/test/*/test-*",
    }
    override = ",".join(f"{name}={value}" for name, value in given.items())
    run = ["--experiment", "reddit", "--mode", "train_and_eval", "--config_file", "demo_dan"]
    model.main([*run, "--model_dir", f"{tmp_path}/model", "--params_override", override])
    module = f"{tmp_path}/module"
    export.main(["--model_dir", f"{tmp_path}/model", "--output", module])
    for name in FORMATS:
        of = ["--module", module, "--data", f"{tmp_path}/test/{name}", "--candidates", "2"]
        evaluation.main(["response_ranking", *of, "--output", f"{tmp_path}/results-{name}"])
        result = json.loads((tmp_path / f"results-{name}" / "response_ranking.json").read_text())
        assert 0 <= result["metrics"]["p_at_1"] <= 1
