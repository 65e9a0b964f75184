"""The dumps that the pipeline's benchmark makes, and how it ends without any."""

import argparse
import json

import pytest
from backports import zstd

from benchmarks.speed import pipeline

COMMENTS = (
    {"id": "c1", "parent_id": "t3_s", "link_id": "t3_s", "body": 'says "id": "c1"'},
    {"awards": [{"id": "gold"}], "link_id": "t3_s", "parent_id": "t1_c1", "id": "c2"},
)


@pytest.fixture
def repeat(tmp_path):
    def run(*lines, comments):
        (tmp_path / "RC_1.zst").write_bytes(zstd.compress(b"".join(one + b"\n" for one in lines)))
        (tmp_path / "RC_1.bz2").touch()
        found = pipeline.found(f"{tmp_path}/RC_*")
        given = argparse.Namespace(work=tmp_path / "work", comments=comments)
        count, paths = pipeline.repeat(found, given)
        assert count == comments
        return [json.loads(line) for path in paths for line in zstd.open(path)]

    return run


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_copies_are_threads_of_their_own_however_the_dump_is_spaced(repeat, separators):
    lines = [json.dumps(comment, separators=separators).encode() for comment in COMMENTS]
    made = repeat(*lines, comments=3)
    ids = [(one["id"], one["parent_id"], one["link_id"]) for one in made]
    assert ids == [
        ("0cc1", "t3_0cs", "t3_0cs"),
        ("0cc2", "t1_0cc1", "t3_0cs"),
        ("1cc1", "t3_1cs", "t3_1cs"),
    ]
    assert made[0]["body"] == COMMENTS[0]["body"]


def test_what_holds_no_comments_is_told(repeat):
    with pytest.raises(SystemExit, match=r'"a": 1.* is no comment with id, parent_id, link_id'):
        repeat(b'{"a": 1}', comments=1)
    with pytest.raises(SystemExit, match=r"RC_1\.zst has no comments"):
        repeat(comments=1)


def test_a_pattern_without_dumps_is_told(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["pipeline", "--dumps", "nowhere/RC_*"])
    with pytest.raises(SystemExit) as ended:
        pipeline.main()
    assert ended.value.code == 2
    assert "--dumps nowhere/RC_*: no such files" in capsys.readouterr().err


def test_a_command_that_fails_says_why():
    with pytest.raises(SystemExit, match=r"(?s)no money.*ended with 1"):
        pipeline.measure(["-c", "import sys; sys.exit('no money')"], "0")
