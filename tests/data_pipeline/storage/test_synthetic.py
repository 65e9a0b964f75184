"""Which dumps count as generated."""

import pytest

from data_pipeline.storage.synthetic import synthetic_flag

MARKER = "A sample world: 10 comments, seed 0. None of it is real.\n"


@pytest.fixture
def dump(tmp_path):
    """Where a dump of a sample world is."""
    (tmp_path / "SAMPLE.txt").write_text(MARKER)
    return str(tmp_path / "reddit" / "RC_1.zst")


def test_the_marker_is_above_or_beside(dump, tmp_path):
    assert synthetic_flag([dump]) == {"synthetic": True}
    assert synthetic_flag([str(tmp_path / "RC_1.zst")]) == {"synthetic": True}
    assert synthetic_flag([str(tmp_path / "a" / "b" / "RC_1.zst")]) == {}


def test_all_files_must_be_generated(dump):
    assert synthetic_flag([dump, "/dumps/RC_2.zst"]) == {}
    assert synthetic_flag([dump, "gs://bucket/RC_2.zst"]) == {}
    assert synthetic_flag([]) == {}


def test_what_a_job_made_of_a_sample_is_synthetic_too(tmp_path):
    shard = str(tmp_path / "train-0.tfrecord")
    for content in ("", "[]", '{"outputs": {}}', '{"synthetic": false}'):
        (tmp_path / "COMPLETED").write_text(content)
        assert synthetic_flag([shard]) == {}
    (tmp_path / "COMPLETED").write_text('{"synthetic": true}')
    assert synthetic_flag([shard]) == {"synthetic": True}


def test_another_file_of_this_name_is_no_marker(dump, tmp_path):
    (tmp_path / "SAMPLE.txt").write_bytes(b"\xff samples of the lab")
    assert synthetic_flag([dump]) == {}
