"""A job on the wrong input fails with one line that says what its lines look like."""

import io
import json
import zipfile

import pytest

from data_pipeline.__main__ import main
from data_pipeline.cache.input_cache import InputCache
from data_pipeline.execution.acceptance import Limits
from data_pipeline.execution.shuffle import DamagedFileError
from data_pipeline.sources.reddit.filters import Selection
from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.storage.inputs import find_inputs


@pytest.fixture
def vocabulary(tmp_path, capsys):
    """Runs `vocabulary` on pairs in JSON lines; returns the folder, or the error."""

    def count(pairs, *options):
        path, output = tmp_path / "pairs.jsonl", tmp_path / "vocabulary"
        path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
        command = ["vocabulary", "--input", str(path), "--output", str(output), *options]
        try:
            main(command)
        except SystemExit as error:
            assert not (output / "COMPLETED").exists()
            return str(error.code)
        return output

    return count


def archive(name, content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(name, content)
    return stream.getvalue()


SUBMISSION = b'{"id": "x", "title": "t", "selftext": "s", "subreddit": "a", "author": "b"}'
TICKET = b'{"id": 7, "subject": "it broke", "text": "help"}'


@pytest.mark.parametrize(
    ("content", "looks"),
    [
        (archive("RC", b"words" * 999), "a zip archive: it begins with 'PK"),
        ("\ufeff{}\n{}\n".encode("utf-16-le"), "UTF-16 text, by its byte order mark"),
        (
            SUBMISSION + b"\n",
            "a submission: it has 'title' and 'selftext' but no 'parent_id', 'link_id', 'body'",
        ),
        (
            TICKET + b"\n",
            "JSON without the fields 'parent_id', 'link_id', 'subreddit', 'author', 'body'; its "
            "fields are 'id', 'subject', 'text'",
        ),
        (b"id,body\n1,words\n", "text of another kind, 'id,body' (not JSON: "),
    ],
    ids=["zip", "utf-16", "submissions", "tickets", "csv"],
)
def test_the_wrong_file_is_one_line_that_says_what_it_is(fails, tmp_path, content, looks):
    path, output = tmp_path / "RC_1", tmp_path / "out"
    path.write_bytes(content)
    message = fails("--input", path, "--output", output)
    assert "--max_malformed 0.5" in message
    assert f"'{path}', line 1, looks like {looks}" in message
    assert not (output / "COMPLETED").exists()
    assert not (output / "_incomplete").exists()


def test_what_was_published_before_stays(fails, run, world, tmp_path):
    output = tmp_path / "out"
    run("--input", f"{tmp_path}/RC_*", "--output", output)
    before = {path.name: path.read_bytes() for path in output.glob("*.*")}
    (tmp_path / "RS").write_bytes(SUBMISSION + b"\n")
    assert "a submission" in fails("--input", tmp_path / "RS", "--output", output, "--overwrite")
    assert {path.name: path.read_bytes() for path in output.glob("*.*")} == before
    assert (output / "COMPLETED").exists()


def test_the_share_of_malformed_lines_counts_over_all_inputs(
    run, fails, write_dump, comment, tmp_path, caplog
):
    write_dump("RC_1", [comment("c1"), comment("c2", "t1_c1")])
    write_dump("RC_2", [b"no", b"no"])
    source = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    message = fails(*source, "--max_malformed", 0.49)
    assert "2 of 4 lines (50.0%) are malformed, more than --max_malformed 0.49 accepts" in message
    run(*source)  # a half is not more than the half
    # The file of which nothing could be read is named all the same.
    (warning,) = [line for line in caplog.messages if line.startswith("warning: ")]
    assert "2 of 2 lines (100.0%) are malformed" in warning
    assert f"'{tmp_path}/RC_2', line 1, looks like text of another kind, 'no'" in warning


@pytest.mark.parametrize("value", [-0.01, 1.01, "nan"])
def test_a_share_is_between_0_and_1(fails, world, tmp_path, value):
    source = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    assert f"--max_malformed: {value} is not in [0, 1]" in fails(*source, "--max_malformed", value)


def test_no_pairs_are_an_error_that_says_where_they_went(
    run, fails, write_dump, comment, tmp_path, statistics_of
):
    lines = [comment("c1", body="[deleted]"), comment("c2", "t1_c1"), b"no"]
    source = ("--input", write_dump("RC", lines), "--output", tmp_path / "out")
    message = fails(*source)
    counted = "3 lines, 1 malformed, 2 comments, 1 dropped: deleted 1, 1 kept, 1 replies"
    assert f"no pairs to write ({counted}); " in message
    assert "line 3" not in message  # most lines are well-formed: they are not the reason
    assert "--allow_empty" in message
    run(*source, "--allow_empty")
    assert statistics_of(tmp_path / "out")["pairs"] == 0


def test_an_empty_result_may_not_come_of_malformed_lines(run, fails, write_dump, tmp_path):
    source = ("--input", write_dump("RC", [b"no", b"no"]), "--output", tmp_path / "out")
    assert "2 of 2 lines (100.0%) are malformed, more than" in fails(*source, "--allow_empty")
    run(*source, "--allow_empty", "--max_malformed", 1)
    assert (tmp_path / "out" / "COMPLETED").exists()


def test_pairs_that_are_all_excluded_are_none(fails, world, tmp_path):
    (tmp_path / "seen.txt").write_text("an answer > to it\n")
    source = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    assert "2 pairs, 2 excluded" in fails(*source, "--exclude_texts", tmp_path / "seen.txt")


def test_subreddits_without_a_comment_are_named(run, fails, world, tmp_path, caplog):
    source = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    message = fails(*source, "--subreddits", "nosuch,r/Neither")
    assert "; --subreddits: no comment is in 'neither', 'nosuch'; " in message
    caplog.clear()
    run(*source, "--subreddits", "SUB,nosuch")
    run(*source, "--subreddits", "SUB,nosuch", "--train_shards", 2, "--overwrite")  # read before
    warnings = [line for line in caplog.messages if line.startswith("warning: ")]
    assert warnings == 2 * [
        "warning: 2 of 13 lines (15.4%) are malformed; dead_letters-00000-of-00001.jsonl says why",
        "warning: --subreddits: no comment is in 'nosuch'",
    ]


@pytest.mark.parametrize(("good", "warned"), [(98, True), (99, False)])
def test_more_than_a_hundredth_of_the_lines_is_told_of(
    run, write_dump, comment, tmp_path, caplog, good, warned
):
    rows = [comment("c0"), *(comment(f"c{n}", f"t1_c{n - 1}") for n in range(1, good))]
    run("--input", write_dump("RC", [*rows, b"no"]), "--output", tmp_path / "out")
    said = [line for line in caplog.messages if "lines (1.0%) are malformed; dead" in line]
    assert len(said) == warned


def test_dead_letters_beyond_the_limit_are_counted(
    run, write_dump, comment, tmp_path, statistics_of, caplog
):
    good = [comment("c1"), comment("c2", "t1_c1"), *(comment(f"d{n}") for n in range(8))]
    write_dump("RC_1", [b"a1", *good, b"a2", b"a3"])
    write_dump("RC_2", [b"b1", b"b2"])
    source = ("--input", f"{tmp_path}/RC_*", "--cache", tmp_path / "cache")

    def raw(name, *options):
        output = tmp_path / name
        run(*source, "--output", output, *options)
        (letters,) = output.glob("dead_letters-*")
        assert statistics_of(output)["malformed"] == 5
        return [json.loads(line)["raw"] for line in letters.read_text().splitlines()]

    assert sorted(raw("two", "--max_dead_letters", 2)) == ["a1", "a2"]
    assert "warning: 3 of 5 malformed lines are only counted, not stored" in caplog.text
    page = (tmp_path / "two" / "data_card.html").read_text()
    assert "The first\n2 are stored" in page
    assert "3 more are only counted" in page
    # The first dump was read with too few letters for this job, and is read again.
    assert sorted(raw("all")) == ["a1", "a2", "a3", "b1", "b2"]
    assert raw("none", "--max_dead_letters", 0) == []
    assert "are stored" in (tmp_path / "all" / "data_card.html").read_text()


def test_dead_letters_of_a_dump_are_read_one_by_one(write_dump, tmp_path):
    path = write_dump("RC", [b"1", b"2", b"3"])
    cache = InputCache(str(tmp_path / "cache"), RedditSource(Selection()), compressed=False)
    cached = cache.read(*find_inputs([str(path)]), lambda *_: None)
    letters = cached.dead_letters()
    assert json.loads(next(letters))["line"] == 1
    assert [json.loads(letter)["line"] for letter in letters] == [2, 3]
    (file,) = tmp_path.rglob("dead_letters.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"raw":"2"', b'"raw":"7"'))
    with pytest.raises(DamagedFileError):
        list(cached.dead_letters())


def test_the_limit_is_part_of_the_job_only_where_it_is_not_the_default(fails, run, world, tmp_path):
    source = ("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    run(*source)
    run(*source, "--max_dead_letters", Limits().max_dead_letters, "--max_malformed", 0.9)
    assert "max_dead_letters was None, now 1" in fails(*source, "--max_dead_letters", 1)
    assert "--max_dead_letters: -1 is not 0 or more" in fails(*source, "--max_dead_letters", -1)


def test_snli_refuses_the_wrong_file_too(tmp_path, capsys):
    path, output = tmp_path / "tickets.jsonl", tmp_path / "nli"
    path.write_bytes(3 * (TICKET + b"\n"))
    command = ["snli", "--input", str(path), "--output", str(output)]
    with pytest.raises(SystemExit) as raised:
        main(command)
    assert "3 of 3 lines (100.0%) are malformed" in str(raised.value)
    assert "JSON without the fields 'gold_label', 'sentence1'" in str(raised.value)
    assert not output.exists()
    with pytest.raises(SystemExit, match=r"more than --max_malformed 0\.5 accepts"):
        main([*command, "--allow_empty"])
    main([*command, "--allow_empty", "--max_malformed", "1", "--max_dead_letters", "1"])
    (letters,) = output.glob("dead_letters-*")
    assert len(letters.read_text().splitlines()) == 1
    assert json.loads((output / "statistics.json").read_text())["malformed"] == 3


def test_a_vocabulary_without_words_is_an_error(vocabulary):
    assert "the files hold no pairs (0 pairs); pass --allow_empty" in vocabulary([])
    pairs = [{"input": "one", "response": "two"}]
    assert "none of 3 words occurs 9 times (1 pairs)" in vocabulary(pairs, "--min_count", "9")
    message = vocabulary(pairs, "--min_count", "1", "--min_responses", "5")
    assert "--min_count, --min_responses: none of 3 words occurs 1 times and in 5 resp" in message
    assert (vocabulary(pairs, "--min_count", "9", "--allow_empty") / "COMPLETED").exists()
