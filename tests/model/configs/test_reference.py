"""docs/parameters.md is what the code gives; every parameter on it is explained."""

from pathlib import Path

from model.configs import reference

PAGE = Path(__file__).parents[3] / "docs" / "parameters.md"


def rows(page):
    table = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    return {cells[0].strip("|` "): [cell.strip(" |") for cell in cells[1:]] for cells in table}


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == reference.page(), (
        "run: python -m model.configs.reference > docs/parameters.md"
    )


def test_each_parameter_has_a_type_a_default_and_a_meaning():
    found = rows(reference.page())
    assert len(found) > 100
    for name, (kind, default, _, meaning) in found.items():
        assert kind, name
        assert default.strip("`"), name
        assert meaning.endswith("."), name


def test_a_row_by_hand():
    found = rows(reference.page())
    assert found["word_dropout"] == [
        *("float", "`0.0`", "numbers from 0 to below 1"),
        "Fraction of words dropped in training.",
    ]
    assert found["pooling"][:3] == ["text", '`"max"`', "`last`, `max`"]


def test_what_training_does_not_read_is_left_out():
    page = reference.page()
    for name in ("tfds_name", "recovery_max_trials", "is_training", "slide"):
        assert f"`{name}`" not in page


def test_defaults_of_other_experiments_are_named():
    page = reference.page()
    assert "`trainer.train_steps=100000` of `nli`" in page
    assert "`task.validation_data.global_batch_size=100`" in page
    assert "`task.objective` of experiment `teacher`, `task.teacher.objective`" in page
