"""The presets can be read, and the paper's have the paper's numbers (section 3.1)."""

import re
from pathlib import Path

import pytest

from model.configs import parsing, schema

FOLDER = Path(schema.__file__).parent / "presets"
PRESETS = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(preset):
    """A preset, with the experiment that the command in its head names."""
    path = FOLDER / f"{preset}.yaml"
    command = re.search(r"^#.*--experiment (\w+)", path.read_text(), re.MULTILINE)
    experiment = command[1] if command else "reddit"
    return parsing.parse(experiment=experiment, config_files=[str(path)])


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_fits_its_experiment_and_says_what_it_is(preset):
    load(preset)
    head = (FOLDER / f"{preset}.yaml").read_text().partition("\ntask:")[0]
    assert head.startswith("# ")
    assert "#   make " in head or f"model/configs/presets/{preset}.yaml" in head
    assert re.search("score|Expected|accuracy", head)


@pytest.mark.parametrize(
    ("preset", "changes_at", "steps"),
    [
        ("paper_dan", 30_000_000, 40_000_000),
        ("paper_transformer", 30_000_000, 40_000_000),
        ("paper_transformer_nli", 20_000_000, 30_000_000),
    ],
)
def test_the_papers_training(preset, changes_at, steps):
    params = load(preset)
    data = [params.task.train_data]
    if preset.endswith("nli"):
        data.append(params.task.nli.train_data)
        assert params.task.nli.share == 0.05
        assert params.task.model.nli.hidden == [512]
        assert not params.task.model.nli.scale_by_root_of_dim
    for each in data:
        assert each.global_batch_size == 128
        assert (each.batch_boundaries, each.batch_sizes) == ([changes_at], [256])
    assert params.trainer.train_steps == steps
    assert params.trainer.optimizer_config.optimizer.type == "sgd"
    schedule = params.trainer.optimizer_config.learning_rate.get()
    assert schedule.boundaries == [changes_at]
    assert schedule.values == [0.01, 0.001]
    assert params.task.objective == schema.Objective()
    assert not params.task.model.learned_score_scale
    assert params.task.model.score_scale == 1.0
