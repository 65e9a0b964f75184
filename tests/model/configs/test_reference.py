"""docs/parameters.md is what the code gives; every parameter on it is explained."""

from pathlib import Path

from model.configs import reference

PAGE = Path(__file__).parents[3] / "docs" / "parameters.md"


def test_the_page_is_up_to_date_and_explains_each_parameter():
    page = reference.page()
    assert PAGE.read_text() == page, "run: python -m model.configs.reference > docs/parameters.md"
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line[:3] == "| `"]
    assert len(rows) > 100
    for name, kind, default, _, meaning in rows:
        assert kind, name
        assert default.strip("`"), name
        assert meaning.endswith("."), name
    dropped = "Fraction of words dropped in training."
    assert ["`word_dropout`", "number", "`0.0`", "from 0 below 1", dropped] in rows


def test_what_training_does_not_read_is_left_out():
    page = reference.page()
    for name in ("tfds_name", "recovery_max_trials", "is_training", "slide"):
        assert f"`{name}`" not in page
