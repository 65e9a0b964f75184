"""Lines to comments, comments to kept or dropped, by hand."""

import orjson
import pytest

from data_pipeline.comments import Comment, MalformedLineError, parse_comment
from data_pipeline.filters import rule_that_drops

FIELDS = {
    "id": "c2",
    "parent_id": "t1_c1",
    "link_id": "t3_p",
    "subreddit": "s",
    "author": "a",
    "body": " fish &amp; chips\n",
}


def comment(text="long enough to be kept", author="a"):
    return Comment("c", None, "t3_p", "s", author, text)


def test_reads_the_fields_and_cleans_the_body():
    assert parse_comment(orjson.dumps(FIELDS)) == Comment(
        id="c2",
        parent_comment="c1",
        thread="t3_p",
        subreddit="s",
        author="a",
        text="fish & chips",
    )


def test_a_reply_to_the_post_has_no_parent_comment():
    assert parse_comment(orjson.dumps(FIELDS | {"parent_id": "t3_p"})).parent_comment is None


def test_an_id_may_carry_the_prefix_that_parents_have():
    assert parse_comment(orjson.dumps(FIELDS | {"id": "t1_c2"})).id == "c2"


def test_entities_are_unescaped_once_and_before_stripping():
    body = "&nbsp;a &amp;lt; b&#32;"
    assert parse_comment(orjson.dumps(FIELDS | {"body": body})).text == "a &lt; b"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"id": "c2", "bo', "not JSON"),
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[1]", "not a JSON object but list"),
        *[
            (orjson.dumps({k: v for k, v in FIELDS.items() if k != name}), f"'{name}' .* missing")
            for name in FIELDS
        ],
        (orjson.dumps(FIELDS | {"body": None}), "'body' .* NoneType"),
        (orjson.dumps(FIELDS | {"id": 7}), "'id' .* int"),
    ],
)
def test_what_is_no_comment_says_why(line, reason):
    with pytest.raises(MalformedLineError, match=reason):
        parse_comment(line)


@pytest.mark.parametrize(
    ("text", "author", "rule"),
    [
        ("", "a", "deleted"),
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
        # The first rule that holds, in the stated order:
        ("[deleted]", "robot", "deleted"),
        ("1" * 350, "robot", "length"),
        ("https://x.y/1", "robot", "alphabetic"),
        ("httpsabcdefgh", "robot", "prefix"),
    ],
)
def test_the_first_rule_that_holds_drops(text, author, rule):
    assert rule_that_drops(comment(text, author)) == rule
