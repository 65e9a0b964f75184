"""Lines to comments, comments to kept or dropped, by hand."""

import orjson
import pytest

from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.sources.rules import NONE, PAPER
from data_pipeline.storage.lines import LineBatch

FIELDS = {
    "id": "c2",
    "parent_id": "t1_c1",
    "link_id": "t3_p",
    "subreddit": "s",
    "author": "a",
    "body": " fish &amp; chips\n",
}


def judge(line, source=RedditSource()):  # noqa: B008
    return source.judge(LineBatch("RC", 1, line, 1 + line.count(b"\n")))


def message(**fields):
    (row,) = judge(orjson.dumps(FIELDS | fields)).messages.to_pylist()
    return row


def test_reads_the_fields_and_cleans_the_body():
    assert message(created_utc="1422835200") == {
        "id": "c2",
        "parent": "c1",
        "thread": "t3_p",
        "group": "s",
        "author": None,
        "text": "fish & chips",
        "created": 1422835200,
        "dropped_by": None,
    }
    for value in ({"$date": 1422835200}, -1, 2**33, "soon", None, True, "inf", 1e400):
        assert message(created_utc=value)["created"] is None
    for value in (1422835200.0, "1422835200.5", 1422835200):
        assert message(created_utc=value)["created"] == 1422835200
    assert message(parent_id="t3_p")["parent"] is None
    assert message(id="t1_c2")["id"] == "c2"
    # Entities of entities are what readers see; in a link none begins with &section.
    for body, text in (
        ("&nbsp;a &amp;lt; b&amp;nbsp;&amp;amp; c &amp; d&#32;", "a < b\xa0& c & d"),
        ("https://a.b/?x=1&amp;section=0", "https://a.b/?x=1&section=0"),
    ):
        assert message(body=body)["text"] == text


@pytest.mark.parametrize(
    ("text", "author", "rule"),
    [
        ("", "a", "deleted"),
        ("&#8203; \u3164", "a", "deleted"),
        ("[deleted]", "a", "deleted"),
        ("[removed]", "a", "deleted"),
        ("x" * 350, "a", "length"),
        ("x" * 349, "a", None),
        ("abcdefg 12", "a", "alphabetic"),  # 7 letters of 10: not more than 70%
        ("abcdefgh 1", "a", None),  # 8 of 10
        ("абвгдежз 1", "a", None),  # letters of any script
        ("httpsabcdefgh", "a", "prefix"),
        ("@someone", "a", "prefix"),
        ("/r/pictures", "a", "prefix"),
        ("see https and r", "a", None),
        ("hello there", "AutoModeratorBOT", "bot"),
        ("hello there", "Abbott", "bot"),
        ("hello there", "a", None),
        ("hello there", None, None),
        # The first rule that holds, in the stated order:
        ("[deleted]", "robot", "deleted"),
        ("1" * 350, "robot", "length"),
        ("https://x.y/1", "robot", "alphabetic"),
        ("httpsabcdefgh", "robot", "prefix"),
    ],
)
def test_the_first_rule_that_holds_drops(text, author, rule):
    assert dropped_by({"body": text, "author": author}) == rule


@pytest.mark.parametrize(
    "body",
    [
        *("[deleted]", "[Removed]", "[deleted by user]", "[ Removed by Reddit ]", "(deleted)"),
        *("[removed by moderator]", "[unavailable]", "<deleted>", "{removed}", "**[deleted]**"),
        *("\\\\[removed\\\\]", "[[deleted]]", "\u3010deleted\u3011", "[This comment was deleted]"),
        "[ Removed by Reddit in response to a copyright notice. ]",
        "[ Removed by reddit on account of violating the content policy. ]",
        "[ Removed by Reddit on account of violating the [content policy](/help/contentpolicy). ]",
        *("[Content unavailable]", "&#91;deleted&#93;", " [deleted] ", "&amp;nbsp;"),
    ],
)
def test_what_stands_for_a_comment_that_is_gone_is_no_text(body):
    assert dropped_by({"body": body}) == "deleted"


@pytest.mark.parametrize(
    "body",
    [
        *("deleted it myself", "(I removed the battery)", "[deleted] was right"),
        *("[link](removed.com)", "[removed by mods] what a pity (again)"),
    ],
)
def test_what_only_speaks_of_it_is_a_text(body):
    assert dropped_by({"body": body}, rules=NONE) is None


def test_names_that_never_occur_are_mentioned():
    asked = {"subreddits": {"a", "b"}, "exclude_subreddits": {"c"}, "bots": {"d", "e"}}
    source = RedditSource(names={name: frozenset(names) for name, names in asked.items()})
    lines = [FIELDS | {"subreddit": "A", "author": "E"}, FIELDS | {"subreddit": "C"}]
    groups = judge(b"\n".join(map(orjson.dumps, lines)), source).groups
    hints = source.hints(groups)
    found = [(hint.partition(":")[0], hint.count("'") // 2, hint[-3:]) for hint in hints]
    assert found == [("--subreddits", 1, "'b'"), ("--bots", 1, "'d'")]
    many = RedditSource(names={"bots": frozenset(map(str, range(1000)))})
    assert len(many.hints(frozenset())[0]) < 200


def dropped_by(fields, min_characters=0, rules=PAPER, min_score=None, **names):
    named = {option: frozenset({name}) for option, name in names.items()}
    source = RedditSource(rules._replace(min_characters=min_characters), min_score, named)
    line = orjson.dumps(FIELDS | {"body": "long enough to be kept"} | fields)
    (rule,) = judge(line, source).messages.column("dropped_by").to_pylist()
    return None if rule is None else source.rule_names[rule]


@pytest.mark.parametrize(
    ("asked", "fields", "rule"),
    [
        ({"min_characters": 5}, {"body": "four"}, "min_characters"),
        ({"min_characters": 4}, {"body": "four"}, None),
        ({"min_score": 2}, {"score": 1}, "min_score"),
        ({"min_score": 2}, {"score": 2}, None),
        ({"min_score": 2}, {"score": "2"}, None),
        ({"min_score": 2}, {"score": 2.5}, None),
        ({"min_score": 0}, {"score": True}, "min_score"),
        ({"min_score": 0}, {"score": [12]}, "min_score"),
        ({"min_score": 0}, {"score": -1}, "min_score"),
        ({"min_score": 0}, {"score": 0}, None),
        ({"min_score": -5}, {"score": None}, "min_score"),
        ({"subreddits": "news"}, {"subreddit": "News"}, None),
        ({"subreddits": "news"}, {"subreddit": "newsy"}, "subreddits"),
        ({"exclude_subreddits": "news"}, {"subreddit": "News"}, "exclude_subreddits"),
        ({"exclude_subreddits": "news"}, {"subreddit": "other"}, None),
        ({"bots": "élan"}, {"author": "ÉLAN"}, "bots"),
        ({"bots": "élan"}, {"author": "elan"}, None),
        # What is there again is kept.
        ({}, {"_meta": {"was_deleted_later": True, "removal_type": "deleted"}}, "deleted_later"),
        ({}, {"_meta": {"was_initially_deleted": True, "removal_type": "removed"}}, None),
        # The paper's come first:
        ({"min_score": 2}, {"author": "robot", "score": 1}, "bot"),
    ],
)
def test_optional_rules_drop_only_when_asked(asked, fields, rule):
    assert dropped_by(fields, **asked) == rule
    assert dropped_by(fields) == (rule if rule in ("bot", "deleted_later") else None)
