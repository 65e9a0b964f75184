"""The dumps that the pipeline's benchmark makes, and how it ends without any."""

import json

import pytest
from backports import zstd

from benchmarks import plain_loop
from benchmarks.speed import pipeline
from data_pipeline.sources.reddit.filters import Selection
from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile

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
        count, paths = pipeline.repeat(found, tmp_path / "work", comments)
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
    with pytest.raises(SystemExit, match=r'"a": 1.* is not a comment with id, parent_id, link_id'):
        repeat(b'{"a": 1}', comments=1)
    with pytest.raises(SystemExit, match=r"RC_1\.zst has no comments"):
        repeat(comments=1)


def test_a_pattern_without_dumps_is_told(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["pipeline", "--dumps", "nowhere/RC_*"])
    with pytest.raises(SystemExit) as ended:
        pipeline.main()
    assert ended.value.code == 2
    assert "--dumps nowhere/RC_*: no such files" in capsys.readouterr().err


@pytest.mark.parametrize(("comments", "shares"), [(3, ["02", "1"]), (1, [])])
def test_two_jobs_share_the_files(tmp_path, capsys, monkeypatch, comments, shares):
    dump = tmp_path / "RC_1.zst"
    dump.write_bytes(zstd.compress(b"%s\n" % json.dumps(COMMENTS[0]).encode()))
    ran = []
    monkeypatch.setattr(pipeline, "measure", lambda *run: ran.append(run) or (2.0, 0))
    pipeline.compare([str(dump)], tmp_path / "work", comments, rounds=1)
    halves = [command for command, _ in ran if "pairs-" in command[-1]]
    copies = [[path.split("RC_00")[1][0] for path in command[4:-2]] for command in halves]
    assert sorted(copies) == sorted(map(list, shares))
    assert ("two jobs, half each, against one: 1.00" in capsys.readouterr().out) == bool(shares)


def test_the_median_of_the_rounds_counts(tmp_path, capsys, monkeypatch):
    """One core takes 8, 20 and 9 seconds, two cores 5, 4 and 6; whatever else 3."""
    dump = tmp_path / "RC_1.zst"
    dump.write_bytes(zstd.compress(b"%s\n" % json.dumps(COMMENTS[0]).encode()))
    one, two = iter((8.0, 20.0, 9.0)), iter((5.0, 4.0, 6.0))

    def measure(command, cores):
        if command[-1].endswith("/pairs"):
            return next(one if cores == "0" else two), 2**30
        return 3.0, 0

    monkeypatch.setattr(pipeline, "measure", measure)
    pipeline.compare([str(dump)], tmp_path / "work", 1, rounds=3)
    said = capsys.readouterr().out
    assert "job, two cores, against one: 1.80 (by round: 1.60, 5.00, 1.50)" in said
    (row,) = [line for line in said.splitlines() if line.startswith("job, one core")]
    assert row.split()[3:] == ["9.0", "0", "1.00", "0.33"]


def test_a_command_that_fails_says_why():
    with pytest.raises(SystemExit, match=r"(?s)no money.*ended with 1"):
        pipeline.measure(["-c", "import sys; sys.exit('no money')"], "0")


def test_the_baseline_keeps_what_the_job_keeps(tmp_path, capsys, monkeypatch):
    bodies = ["some words", "[deleted]", "1234567890", "https words", "x" * 350, "words &amp; é"]
    lines = [
        {
            **COMMENTS[0],
            "id": f"c{number}",
            "subreddit": "s",
            "author": "robot" if number % 2 else "someone",
            "body": body,
        }
        for number, body in enumerate(bodies * 2 + ["some words"])
    ]
    path = tmp_path / "RC_1.zst"
    path.write_bytes(zstd.compress(b"".join(json.dumps(one).encode() + b"\n" for one in lines)))
    monkeypatch.setattr("sys.argv", ["plain_loop", str(path)])
    plain_loop.main()
    source = RedditSource(Selection())
    batches = source.read(InputFile(str(path), path.stat().st_size), Tap())
    kept = sum(batch.messages.column("dropped_by").null_count for batch in batches)
    assert capsys.readouterr().out == f"{kept} kept\n"
    assert kept == 3


def test_the_first_byte_is_when_a_dump_gets_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline, "PATIENCE", 0.01)
    with pytest.raises(SystemExit, match="no dump was read"):
        pipeline.seconds_to_first_byte(tmp_path)
    (tmp_path / "_incomplete" / "x" / "inputs" / "RC").mkdir(parents=True)
    assert pipeline.seconds_to_first_byte(tmp_path) < 1
