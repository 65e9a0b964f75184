"""Input that is not as it should be, through the whole command: counted, and never a crash."""

import json
import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from apache_beam.io.filesystems import FileSystems
from backports import zstd

from data_pipeline.__main__ import main

REPOSITORY = Path(__file__).parents[4]
MEGABYTE = 1 << 20


@pytest.fixture
def job(run, write_dump, tmp_path, statistics_of, stored):
    """Runs the command on lines; returns statistics, pairs by ids and dead letters."""

    def pair(lines, *options, name="RC.gz"):
        output = tmp_path / "out"
        path = write_dump(name, lines)
        run("--input", path, "--output", output, "--format", "jsonl", *options)
        (letters,) = output.glob("dead_letters-*")
        return (
            statistics_of(output),
            {(pair["input_id"], pair["response_id"]): pair for pair in stored(output)},
            [json.loads(line) for line in letters.read_text().splitlines()],
        )

    return pair


def adds_up(statistics):
    parts = ("malformed", "duplicates", "comments")
    assert statistics["lines"] == sum(statistics[part] for part in parts)
    assert statistics["comments"] == statistics["kept"] + sum(statistics["dropped"].values())
    return True


def without(fields, name):
    return {key: value for key, value in fields.items() if key != name}


def test_every_kind_of_bad_line_is_a_dead_letter_and_the_rest_are_pairs(job, comment):
    parent, reply = comment("c1"), comment("c2", "t1_c1")
    whole = orjson.dumps(comment("c3", "t1_c1"))
    bad = [
        b"",
        b"   ",
        whole[:-1],
        whole + b"}",
        b"\xff\xfe" + whole,
        whole.replace(b"someone", b"some\xffone"),
        whole.replace(b"someone", b"some\x00one"),
        whole.replace(b"someone", rb"some\ud800one"),
        b"[" + whole + b"]",
        b'{"data": ' + whole + b"}",
        b"[" * 5000,
        b'"' + b"x" * 100 + b'"',
        b"null",
        b"17",
        b"NaN",
        *(without(comment("c4"), name) for name in parent),
        *(comment("c4") | {name: None} for name in parent),
        *(comment("c4") | {name: 7} for name in parent),
        *(comment("c4") | {name: [parent[name]]} for name in parent),
        *(comment("c4") | {name: {"is": parent[name]}} for name in parent),
        comment("c4") | {"id": 4.5},
        comment("c4") | {"id": True},
    ]
    statistics, pairs, letters = job([parent, *bad, reply], "--max_malformed", 1)
    assert adds_up(statistics)
    assert statistics["lines"] == len(bad) + 2
    assert statistics["malformed"] == len(bad) == len(letters)
    assert [letter["line"] for letter in letters] == list(range(2, len(bad) + 2))
    assert pairs.keys() == {("c1", "c2")}
    reasons = [letter["reason"] for letter in letters]
    assert reasons[8] == "not a JSON object but list"
    assert reasons[9] == "field 'id' must be a string, but is missing"
    assert reasons[12:14] == ["not a JSON object but NoneType", "not a JSON object but int"]
    assert [reason.startswith("not JSON: ") for reason in reasons[:8]] == [True] * 8
    assert letters[4]["raw"].startswith("\\xff\\xfe{")
    assert letters[10]["raw"] == "[" * 5000


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("created_utc", ["soon", "", [], {}, None, True, -1, 1e300, 10**30, "1e999", [[1]]]),
        ("score", ["many", "", [], {}, None, True, -(10**30), 1e300, "1" * 5000]),
        ("over_18", ["yes", 1, [], {}, None, [True]]),
        ("author_flair_text", [[], {"any": 1}, 3, None]),
    ],
)
def test_fields_that_may_hold_anything_drop_nothing(job, comment, field, values):
    lines = [comment("c1")]
    lines += [comment(f"r{n}", "t1_c1") | {field: value} for n, value in enumerate(values)]
    raw = [json.dumps(line).encode() for line in lines]  # which writes any number
    statistics, pairs, _ = job(raw, "--context_turns", 1)
    assert adds_up(statistics)
    assert len(pairs) == len(values)


def test_a_time_nested_as_deep_as_can_be_read_stops_no_job(job, comment):
    deep = orjson.dumps(comment("c2", "t1_c1"))[:-1] + b', "created_utc": %b%b}'
    lines = [deep % (b"[" * depth, b"]" * depth) for depth in (100, 300, 1000)]
    statistics, _, _ = job([comment("c1"), *lines])
    assert adds_up(statistics)
    assert statistics["pairs"] == 1


def test_times_and_scores_as_the_years_wrote_them(job, comment, tmp_path):
    times = [1_422_835_200, 1_422_835_200.0, "1422835200", "1422835200.5"]
    lines = [comment("c1", score=5)]
    lines += [comment(f"r{n}", "t1_c1", created_utc=t, score="5") for n, t in enumerate(times)]
    statistics, _, _ = job(lines, "--min_score", 5)
    assert statistics["pairs"] == 4
    card = json.loads((tmp_path / "out" / "data_card.json").read_text())
    assert card["months"] == [["2015-02", 4]]


def test_ids_with_and_without_their_prefix_are_one(job, comment):
    lines = [
        comment("t1_c1"),
        comment("c2", "t1_c1"),
        comment("c1", body="the same id, later"),
        comment("t1_c3", "t1_c2"),
        comment("c4", "c2"),  # without its prefix it names no comment
    ]
    statistics, pairs, _ = job(lines)
    assert adds_up(statistics)
    assert pairs.keys() == {("c1", "c2"), ("c2", "c3")}
    assert statistics["duplicates"] == 1


def test_nothing_answers_itself_and_circles_give_a_pair_for_each_reply(job, comment):
    lines = [
        comment("self", "t1_self"),
        comment("a", "t1_b"),
        comment("b", "t1_a"),
        comment("x", "t1_y"),
        comment("y", "t1_z"),
        comment("z", "t1_x"),
    ]
    statistics, pairs, _ = job(lines)
    assert statistics["replies"] == 6
    assert pairs.keys() == {("b", "a"), ("a", "b"), ("y", "x"), ("z", "y"), ("x", "z")}


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_windows_line_ends_and_a_byte_order_mark(job, comment, suffix):
    lines = [orjson.dumps(comment("c1")) + b"\r", orjson.dumps(comment("c2", "t1_c1")) + b"\r"]
    statistics, pairs, _ = job([b"\xef\xbb\xbf" + lines[0], lines[1]], name=f"RC{suffix}")
    assert (statistics["lines"], statistics["malformed"]) == (2, 0)
    assert len(pairs) == 1


def test_characters_that_end_lines_elsewhere_are_words_here(job, comment):
    texts = {
        f"r{number}": f"one{character}two"
        for number, character in enumerate(
            ["\r", "\n", "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"]
        )
    }
    lines = [comment("c1")]
    lines += [
        json.dumps(comment(own_id, "t1_c1", body=text), ensure_ascii=False).encode()
        for own_id, text in texts.items()
    ]
    statistics, pairs, _ = job(lines, "--max_copies_of_pair", 1, "--context_turns", 1)
    assert adds_up(statistics)
    assert statistics["malformed"] == 0
    assert {own_id: pair["response"] for (_, own_id), pair in pairs.items()} == texts


def test_entities_that_are_no_characters(job, comment):
    letters = "letters" * 20
    body = f"{letters} &#0; and &#xD800; and &#x110000; and &#99999999999; and &nosuch;"
    statistics, pairs, _ = job([comment("c1"), comment("c2", "t1_c1", body=body)])
    assert statistics["pairs"] == 1
    text = pairs["c1", "c2"]["response"]
    assert text == f"{letters} \ufffd and \ufffd and \ufffd and \ufffd and &nosuch;"


def test_empty_strings_are_strings(job, comment):
    empty = {"subreddit": "", "author": "", "link_id": ""}
    lines = [comment("", **empty), comment("c2", "t1_", **empty)]
    statistics, pairs, _ = job(lines)
    assert adds_up(statistics)
    assert pairs.keys() == {("", "c2")}


def test_files_of_nothing_and_of_line_ends_only(run, tmp_path, statistics_of):
    (tmp_path / "RC_1").write_bytes(b"")
    (tmp_path / "RC_2").write_bytes(b"\n\n\n")
    some = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    run(*some, "--allow_empty", "--max_malformed", 1)
    statistics = statistics_of(tmp_path / "out")
    assert (statistics["lines"], statistics["malformed"]) == (3, 3)
    assert (tmp_path / "out" / "COMPLETED").exists()


def test_a_folder_among_the_files_is_one_error(fails, world, tmp_path):
    (tmp_path / "RC_3").mkdir()
    output = tmp_path / "out"
    assert "RC_3' is a folder" in fails("--input", tmp_path / "RC_3", "--output", output)
    assert not output.exists()


def test_no_permission_is_one_error(fails, world, tmp_path, monkeypatch):
    opened = FileSystems.open

    def forbidden(path, *arguments, **options):  # root may read everything
        if path.endswith("RC_2.bz2"):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *arguments, **options)

    monkeypatch.setattr(FileSystems, "open", forbidden)
    output = tmp_path / "out"
    message = fails("--input", f"{tmp_path}/RC_*", "--output", output)
    assert message == f"error: {tmp_path}/RC_2.bz2: Permission denied"
    assert not (output / "COMPLETED").exists()


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_one_error_and_more_room_completes_it(tmp_path, write_dump, comment):
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount: {mounted.stderr.decode().strip()}")
    try:
        lines = [comment(f"c{n}", f"t1_c{n - 1}", body=f"words {'x' * 300}") for n in range(20_000)]
        path = write_dump("RC.zst", lines)
        command = ["reddit", "--input", str(path), "--output", str(small / "out")]
        with pytest.raises(SystemExit) as raised:
            main(command)
        assert "No space left on device" in str(raised.value)
        assert "\n" not in str(raised.value)
        assert not (small / "out" / "COMPLETED").exists()
        assert not list(small.rglob("cached_input.json"))
        subprocess.run(["mount", "-o", "remount,size=100m", small], check=True)
        main(command)
        assert (small / "out" / "COMPLETED").exists()
    finally:
        subprocess.run(["umount", small], check=True)


LONG = 100 * MEGABYTE


@pytest.fixture
def long_line(tmp_path, comment):
    """A dump with a line of 100 MB between a comment and the reply to it."""
    path = tmp_path / "RC.zst"
    parts = [
        orjson.dumps(comment("c1")),
        b"{" + b"x" * (LONG - 1),
        orjson.dumps(comment("c2", "t1_c1")),
    ]
    path.write_bytes(zstd.compress(b"\n".join(parts)))
    return path


def test_a_line_of_100_mb_is_one_short_dead_letter(run, long_line, tmp_path, statistics_of):
    output = tmp_path / "out"
    run("--input", long_line, "--output", output)
    statistics = statistics_of(output)
    assert adds_up(statistics)
    assert (statistics["lines"], statistics["malformed"], statistics["pairs"]) == (3, 1, 1)
    (letters,) = output.glob("dead_letters-*")
    letter = json.loads(letters.read_text())
    assert letter["line"] == 2
    assert letter["reason"] == f"a line of {LONG} bytes; at most {16 * MEGABYTE} are read"
    assert letter["raw"] == "{" + "x" * 999


# The kernel's own note of this process; getrusage would count what the tests' process has.
READ_IT = """
import re, sys
from pathlib import Path
from data_pipeline.storage.inputs import find_inputs
from data_pipeline.storage.lines import read_line_batches

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])

before = peak()
lines = sum(len(batch.lines) for batch in read_line_batches(*find_inputs(sys.argv[1:])))
print(lines, (peak() - before) * 1024)
"""


def test_a_line_of_100_mb_does_not_swell_the_memory(long_line):
    done = subprocess.run(
        [sys.executable, "-c", READ_IT, long_line],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        text=True,
    )
    lines, swollen = map(int, done.stdout.split())
    assert lines == 3
    print(f"{swollen / MEGABYTE:.0f} MB")
    assert swollen < 90 * MEGABYTE  # the 16 MB that are kept, and copies of them
