"""Which files count as generated."""

import pytest

from data_pipeline.storage.synthetic import synthetic_flag

MARKER = b"A sample world: 10 comments, seed 0. None of it is real.\n"
GENERATED = {"synthetic": True}


@pytest.mark.parametrize(
    ("written", "content", "read", "flag"),
    [
        ("SAMPLE.txt", MARKER, ["reddit/RC_1.zst"], GENERATED),
        ("SAMPLE.txt", MARKER, ["RC_1.zst", "reddit/RC_1.zst"], GENERATED),
        ("SAMPLE.txt", MARKER, ["a/b/RC_1.zst"], {}),
        ("SAMPLE.txt", MARKER, ["RC_1.zst", "/dumps/RC_2.zst"], {}),
        ("SAMPLE.txt", MARKER, [], {}),
        ("SAMPLE.txt", b"\xff samples of the lab", ["RC_1.zst"], {}),
        ("COMPLETED", b'{"synthetic": true}', ["train-0.tfrecord"], GENERATED),
        ("COMPLETED", b'{"synthetic": false}', ["train-0.tfrecord"], {}),
        ("COMPLETED", b"[]", ["train-0.tfrecord"], {}),
        ("COMPLETED", b"", ["train-0.tfrecord"], {}),
        ("SAMPLE.txt", MARKER, ["gs://bucket/RC_2.zst"], {}),
    ],
)
def test_data_are_generated_if_all_files_are(tmp_path, written, content, read, flag):
    (tmp_path / written).write_bytes(content)
    assert synthetic_flag(path if "://" in path else str(tmp_path / path) for path in read) == flag
