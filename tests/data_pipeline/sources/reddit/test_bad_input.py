"""Input that is not as it should be, through the whole command: counted, and never a crash."""

import json

import orjson
import pytest
from apache_beam.io.filesystems import FileSystems

REQUIRED = ("id", "parent_id", "link_id", "subreddit", "body")


@pytest.fixture
def job(make, write_dump, tmp_path):
    """Runs the command on lines; returns statistics, pairs by ids and dead letters."""

    def run(lines, *options):
        statistics, pairs = make("reddit", "--input", write_dump("RC.gz", lines), *options)
        parts = ("malformed", "duplicates", "comments")
        assert statistics["lines"] == sum(statistics[part] for part in parts)
        assert statistics["comments"] == statistics["kept"] + sum(statistics["dropped"].values())
        (letters,) = (tmp_path / "out").glob("dead_letters-*")
        return (
            statistics,
            {(pair["input_id"], pair["response_id"]): pair for pair in pairs},
            [json.loads(line) for line in letters.read_text().splitlines()],
        )

    return run


def test_every_kind_of_bad_line_is_a_dead_letter_and_the_rest_are_pairs(job, comment):
    parent, reply = comment("c1"), comment("c2", "t1_c1")
    whole = orjson.dumps(comment("c3", "t1_c1"))
    bad = [
        *(b"", b"   ", whole[:-1], whole + b"}", b"\xff\xfe" + whole),
        whole.replace(b"someone", b"some\xffone"),
        whole.replace(b"someone", b"some\x00one"),
        whole.replace(b"someone", rb"some\ud800one"),
        *(b"[" + whole + b"]", b'{"data": ' + whole + b"}", b"[" * 5000),
        *(b'"' + b"x" * 100 + b'"', b"null", b"17", b"NaN", b"[1]"),
        *({key: parent[key] for key in parent if key != name} for name in REQUIRED),
        *(comment("c4") | {name: None} for name in REQUIRED),
        *(comment("c4") | {name: value} for name in parent for value in (7, ["a"], {"a": 1})),
        comment("c4") | {"id": 4.5},
    ]
    statistics, pairs, letters = job([parent, *bad, reply], "--max_malformed", 1)
    assert statistics["lines"] == len(bad) + 2
    assert statistics["malformed"] == len(bad) == len(letters)
    assert [letter["line"] for letter in letters] == list(range(2, len(bad) + 2))
    assert pairs.keys() == {("c1", "c2")}
    assert all(letter["reason"] for letter in letters)
    assert letters[4]["raw"].startswith("\\xff\\xfe{")
    assert letters[10]["raw"] == "[" * 5000


ANYTHING = ["", "soon", [], {}, None, True, -1, 1e300, 10**30, "1e999", [[1]], "1" * 5000]
ENDS = ["\r", "\n", "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"]


def test_whatever_the_other_fields_and_ids_are_every_reply_is_a_pair(job, comment):
    lines = [comment("c1")]
    lines += [
        comment(f"{field}{n}", "t1_c1") | {field: value}
        for field in ("created_utc", "score", "over_18", "author_flair_text")
        for n, value in enumerate(ANYTHING)
    ]
    lines += [comment(f"r{n}", "t1_c1", body=f"one{end}two") for n, end in enumerate(ENDS)]
    expected = {("c1", line["id"]) for line in lines[1:]}
    # Ids with and without their prefix are one; nothing answers itself; circles give pairs.
    lines += [comment("t1_p1"), comment("p2", "t1_p1"), comment("p1"), comment("t1_p3", "t1_p2")]
    lines += [comment("self", "t1_self"), comment("a", "t1_b"), comment("b", "t1_a")]
    lines += [
        comment("", author=""),
        comment("p4", "t1_", link_id="", subreddit=""),
        comment("p5", "p2"),
    ]
    expected |= {("p1", "p2"), ("p2", "p3"), ("b", "a"), ("a", "b"), ("", "p4"), ("c1", "n")}
    raw = [json.dumps(line, ensure_ascii=False).encode() + b"\r" for line in lines]
    raw[0] = b"\xef\xbb\xbf" + raw[0]  # as Windows writes it
    raw.append(orjson.dumps(comment("n", "t1_c1"))[:-1] + b', "x": [NaN], "score": -Infinity}')
    deep = orjson.dumps(comment("d", "t1_c1"))[:-1] + b', "created_utc": %b%b}'
    raw += [deep % (b"[" * depth, b"]" * depth) for depth in (100, 1000)]
    statistics, pairs, _ = job(raw, "--context_turns", 1)
    assert (statistics["malformed"], statistics["duplicates"]) == (1, 1)
    assert pairs.keys() == expected | {("c1", "d")}
    for number, end in enumerate(ENDS):
        assert pairs["c1", f"r{number}"]["response"] == f"one{end}two"


def test_unreadable_files_are_one_error_naming_all_and_what_is_published_stays(
    refused, run, world, tmp_path, monkeypatch, write_dump, comment
):
    output = tmp_path / "out"
    run("--input", f"{tmp_path}/RC_*", "--output", output)
    before = {path.name: path.read_bytes() for path in output.glob("*.*")}
    (tmp_path / "RC_3.gz").write_bytes(b"no archive")
    cut = write_dump("RC_4.zst", [comment(f"c{n}") for n in range(1000)])
    cut.write_bytes(cut.read_bytes()[:-30])
    opened = FileSystems.open

    def forbidden(path, *arguments, **options):  # root may read everything
        if path.endswith("RC_2.bz2"):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *arguments, **options)

    monkeypatch.setattr(FileSystems, "open", forbidden)
    message = refused("reddit", "--input", f"{tmp_path}/RC_*", "--overwrite")
    for name in ("RC_2.bz2", "RC_3.gz", "RC_4.zst"):
        assert str(tmp_path / name) in message
    assert {path.name: path.read_bytes() for path in output.glob("*.*")} == before


def test_a_disk_that_is_full_while_the_job_runs_is_one_error(refused, world, tmp_path, monkeypatch):
    def full_disk(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("data_pipeline.pairs.shards.write_aside", full_disk)
    assert "No space left on device" in refused("reddit", "--input", f"{tmp_path}/RC_*")
