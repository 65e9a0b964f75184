"""The dumps that the pipeline's benchmark makes, and the plain loop beside the job."""

import json

import pytest
from backports import zstd

from benchmarks import plain_loop
from benchmarks.speed import pipeline
from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile

COMMENTS = (
    {"id": "c1", "parent_id": "t3_s", "link_id": "t3_s", "body": 'says "id": "c1"'},
    {"awards": [{"id": "gold"}], "link_id": "t3_s", "parent_id": "t1_c1", "id": "c2"},
)


def dump(folder, comments, *, separators=None):
    path = folder / "RC_1.zst"
    lines = (json.dumps(one, separators=separators).encode() + b"\n" for one in comments)
    path.write_bytes(zstd.compress(b"".join(lines)))
    return path


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_copies_are_threads_of_their_own_however_the_dump_is_spaced(tmp_path, separators):
    path = dump(tmp_path, COMMENTS, separators=separators)
    count, paths = pipeline.repeat([path], tmp_path / "work", 3)
    made = [json.loads(line) for path in paths for line in zstd.open(path)]
    assert count == 3
    assert [(one["id"], one["parent_id"], one["link_id"]) for one in made] == [
        ("0cc1", "t3_0cs", "t3_0cs"),
        ("0cc2", "t1_0cc1", "t3_0cs"),
        ("1cc1", "t3_1cs", "t3_1cs"),
    ]
    assert made[0]["body"] == COMMENTS[0]["body"]


def test_a_pattern_without_dumps_and_a_command_that_fails_end_it(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.argv", ["pipeline", "--dumps", "nowhere/RC_*"])
    with pytest.raises(SystemExit):
        pipeline.main()
    with pytest.raises(SystemExit, match="ended with 1"):
        pipeline.measured({"0": ["-c", "raise SystemExit(1)"]}, tmp_path)


def test_the_baseline_keeps_what_the_job_keeps(tmp_path, capsys, monkeypatch):
    bodies = ["some words", "[deleted]", "1234567890", "https words", "x" * 350, "words &amp; é"]
    comments = [
        {
            **COMMENTS[0],
            "id": f"c{number}",
            "subreddit": "s",
            "author": "robot" if number % 2 else "someone",
            "body": body,
        }
        for number, body in enumerate(bodies * 2 + ["some words"])
    ]
    path = dump(tmp_path, comments)
    monkeypatch.setattr("sys.argv", ["plain_loop", str(path)])
    plain_loop.main()
    source = RedditSource()
    batches = source.read(InputFile(str(path), path.stat().st_size), Tap())
    kept = sum(batch.messages.column("dropped_by").null_count for batch in batches)
    assert capsys.readouterr().out == f"{kept} kept\n"
    assert kept == 3
