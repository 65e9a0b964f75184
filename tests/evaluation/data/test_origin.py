"""What is known of where data come from."""

import json

import pytest

from evaluation.data.files import Source, origin_of

MARKER = "A sample world: 10 comments, seed 0. None of it is real.\n"


def manifest(folder, **content):
    (folder / "COMPLETED").write_text(json.dumps(content))


def of_reddit(folder):
    manifest(folder)
    (folder / "data_card.json").write_text(json.dumps({"source": {"name": "Reddit"}}))


def test_a_marker_above_or_beside_says_that_data_are_a_sample(tmp_path):
    (tmp_path / "SAMPLE.txt").write_text(MARKER)
    for folder in (tmp_path, tmp_path / "stsb"):
        assert origin_of([folder / "sts-dev.csv"]) == "synthetic sample"
    assert origin_of([tmp_path / "a" / "b" / "sts-dev.csv"]) == ""
    (tmp_path / "SAMPLE.txt").write_text("samples of the lab")
    assert origin_of([tmp_path / "sts-dev.csv"]) == ""


@pytest.mark.parametrize(
    ("content", "source", "origin"),
    [
        ({}, {"name": "Reddit"}, "Reddit"),
        ({"synthetic": True}, {"name": "Reddit"}, "synthetic sample"),
        ({}, {"name": "tickets.csv"}, ""),
        ({}, {}, ""),
        ({}, None, ""),
    ],
)
def test_manifest_and_data_card_say_where_pairs_come_from(tmp_path, content, source, origin):
    manifest(tmp_path, **content)
    if source is not None:
        (tmp_path / "data_card.json").write_text(json.dumps({"source": source}))
    assert origin_of([tmp_path / "test-0", tmp_path / "test-1"]) == origin


def test_files_of_several_origins_have_none(tmp_path):
    (tmp_path / "own").mkdir()
    of_reddit(tmp_path)
    assert origin_of([tmp_path / "test-0", tmp_path / "own" / "test-0"]) == ""


def test_provenance_has_the_origin_where_it_is_known(tmp_path):
    (tmp_path / "test-0").write_text("")
    source = Source("response_ranking", (tmp_path / "test-0",))
    assert "origin" not in source.provenance()
    of_reddit(tmp_path)
    assert source.provenance()["origin"] == "Reddit"
