"""What is known of where data come from."""

import json

import pytest

from common.text_files import Source
from evaluation.data.origin import origin_of, provenance


def test_a_marker_above_or_beside_says_that_data_are_a_sample(tmp_path):
    (tmp_path / "SAMPLE.txt").write_text("A sample world: 10 comments. None of it is real.\n")
    for folder in (tmp_path, tmp_path / "stsb"):
        assert origin_of([folder / "sts-dev.csv"]) == "synthetic sample"
    assert origin_of([tmp_path / "a" / "b" / "sts-dev.csv"]) == ""
    (tmp_path / "SAMPLE.txt").write_text("samples of the lab")
    assert origin_of([tmp_path / "sts-dev.csv"]) == ""


@pytest.mark.parametrize(
    ("content", "name", "origin"),
    [
        ({}, "Reddit", "Reddit"),
        ({"synthetic": True}, "Reddit", "synthetic sample"),
        ({}, "tickets.csv", ""),
        ({}, None, ""),
    ],
)
def test_manifest_and_data_card_say_where_pairs_come_from(tmp_path, content, name, origin):
    (tmp_path / "COMPLETED").write_text(json.dumps(content))
    (tmp_path / "test-0").write_text("")
    if name:
        (tmp_path / "data_card.json").write_text(json.dumps({"source": {"name": name}}))
    files = (tmp_path / "test-0", tmp_path / "test-0")
    assert origin_of(files) == origin
    assert origin_of([*files, tmp_path / "other" / "test-0"]) == ""
    found = provenance(Source("pairs", files), [Source("train", files[:1])])
    assert found.get("origin", "") == origin
    assert found["learned_from"]["files"] == ["test-0"]


def test_files_of_these_names_by_somebody_else_say_nothing(tmp_path):
    for completed, card in (("[]", "{}"), ("{}", "a card")):
        (tmp_path / "COMPLETED").write_text(completed)
        (tmp_path / "data_card.json").write_text(card)
        assert origin_of([tmp_path / "sts-dev.csv"]) == ""
