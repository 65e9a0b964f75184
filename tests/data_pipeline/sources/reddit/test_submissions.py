"""Dumps of submissions: title and text are the input of top-level comments."""

import orjson
import pytest

from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.storage.lines import LineBatch


def submission(own_id, title="whatever it is", **fields):
    about = {"id": own_id, "subreddit": "sub", "author": "someone", "selftext": "", "is_self": True}
    return about | {"title": title, "created_utc": 1422835200} | fields


def judged(*lines):
    batch = LineBatch("RS", 1, b"\n".join(lines), len(lines))
    return RedditSource(submissions=frozenset({"RS"})).judge_submissions(batch)


@pytest.mark.parametrize(
    ("fields", "text", "rule"),
    [
        ({"selftext": "More &amp; more words\n"}, "whatever it is\n\nMore & more words", None),
        *(
            ({"selftext": gone}, "whatever it is", None)
            for gone in ("[removed]", "[deleted]", None, "")
        ),
        ({"selftext": "x" * 333}, f"whatever it is\n\n{'x' * 333}", None),
        ({"selftext": "x" * 334}, "whatever it is", None),  # 350 characters together
        ({"title": "x" * 350}, "x" * 350, "length"),
        ({"title": "[deleted by user]"}, "[deleted by user]", "deleted"),
        ({"_meta": {"was_deleted_later": True}}, "whatever it is", "deleted_later"),
        ({"selftext": "1" * 99}, f"whatever it is\n\n{'1' * 99}", "alphabetic"),
        ({"author": "a_bot"}, "whatever it is", "bot"),
    ],
)
def test_the_text_is_title_and_text_and_the_rules_judge_it(fields, text, rule):
    (row,) = judged(orjson.dumps(submission("p", **fields))).messages.to_pylist()
    assert row["text"] == text
    assert row["dropped_by"] == (None if rule is None else RedditSource().rule_names.index(rule))
    assert (row["id"], row["parent"], row["thread"], row["group"]) == ("t3_p", None, "t3_p", "sub")


def test_an_advertisement_has_no_subreddit_and_what_is_no_submission_is_malformed(comment):
    advertisement = submission("t3_p")
    del advertisement["subreddit"]
    found = judged(orjson.dumps(advertisement), b"[]", orjson.dumps(comment("c")))
    (row,) = found.messages.to_pylist()
    assert (row["id"], row["group"]) == ("t3_p", "")
    assert [line.number for line in found.malformed] == [2, 3]


@pytest.fixture
def files(write_dump, comment):
    rows = [
        comment("c1", body="a comment on the submission"),
        comment("c2", "t1_c1", body="a reply to the comment"),
        comment("c3", "t3_gone", body="on one that is not there", link_id="t3_gone"),
        comment("c4", "t3_q", body="on one that is dropped", link_id="t3_q"),
    ]
    return (
        write_dump("RC_1.zst", rows),
        write_dump("RS_1.zst", [submission("p", selftext="a text"), submission("q", "[deleted]")]),
    )


def test_top_level_comments_reply_to_submissions_if_there_are_any(
    run, refused, files, tmp_path, stored, statistics_of
):
    comments, submissions = files
    output = tmp_path / "out"
    options = ("--input", comments, "--format", "jsonl", "--context_turns", 1, "--output", output)
    run(*options)
    assert [pair["response_id"] for pair in stored(output)] == ["c2"]
    before = {path.name: path.read_bytes() for path in output.glob("t*")}
    assert "--overwrite" in refused("reddit", *options, "--submissions", submissions)
    both = ("--input", comments, submissions, "--submissions", submissions)
    run(*options, *both, "--overwrite")
    pairs = {pair["response_id"]: pair for pair in stored(output)}
    assert {own: (pair["input_id"], pair["thread_id"]) for own, pair in pairs.items()} == {
        "c1": ("t3_p", "t3_p"),
        "c2": ("c1", "t3_p"),
    }
    assert pairs["c1"]["input"] == pairs["c2"]["context/0"] == "whatever it is\n\na text"
    statistics = statistics_of(output)
    assert (statistics["comments"], statistics["replies"], statistics["pairs"]) == (6, 4, 2)
    run(*options, "--overwrite")
    assert {path.name: path.read_bytes() for path in output.glob("t*")} == before
    assert str(comments) in refused("reddit", *options, "--submissions", comments, "--overwrite")
