"""The presets can be read, and the paper's have the paper's numbers (section 3.1)."""

from pathlib import Path

import pytest

from model import configs, parameters

FOLDER = Path(configs.__file__).parent
PRESETS = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load(preset):
    path = str(FOLDER / f"{preset}.yaml")
    return parameters.parse(experiment="reddit", config_files=[path])


def test_the_presets_that_the_makefile_and_the_readme_name_are_there():
    assert PRESETS == ["demo_dan", "laptop_dan", "paper_dan", "paper_transformer"]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_fits_its_experiment_and_says_what_it_is(preset):
    params = load(preset)
    assert params.task.model.encoder.get().embedding_dim == 500
    assert params.trainer.summary_interval % params.trainer.steps_per_loop == 0
    assert (FOLDER / f"{preset}.yaml").read_text().startswith("# ")


@pytest.mark.parametrize("preset", ["paper_dan", "paper_transformer"])
def test_the_papers_training(preset):
    params = load(preset)
    assert params.task.train_data.global_batch_size == 128
    assert params.trainer.train_steps == 40_000_000
    assert params.trainer.optimizer_config.optimizer.type == "sgd"
    schedule = params.trainer.optimizer_config.learning_rate.get()
    assert schedule.boundaries == [30_000_000]
    assert schedule.values == [0.01, 0.001]


def test_the_papers_encoders():
    dan = load("paper_dan").task.model.encoder
    assert dan.type == "averaging"
    assert [*dan.get().hidden, dan.get().embedding_dim] == [300, 300, 500]
    transformer = load("paper_transformer").task.model.encoder
    assert transformer.type == "transformer"
    sizes = transformer.get()
    assert (sizes.layers, sizes.heads, sizes.hidden, sizes.filter) == (6, 8, 512, 2048)
