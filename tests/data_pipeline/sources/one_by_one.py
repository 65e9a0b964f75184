"""Comments and rules one by one, in plain Python: what the columns must agree with."""

import re
import unicodedata
from typing import Any, NamedTuple

import msgspec

from common.text_files import is_visible, load_json
from data_pipeline.sources.masks import GONE
from data_pipeline.sources.reddit.source import DECODER, score_of, unescaped
from data_pipeline.sources.tables.values import as_seconds

IS_GONE = re.compile(re.sub(r"\\x{(....)}", r"\\u\1", GONE), re.IGNORECASE | re.ASCII).match


class Comment(NamedTuple):
    """A comment as the rules and the join see it."""

    id: str
    parent: str | None
    thread: str
    subreddit: str
    author: str
    text: str
    created: int | None = None
    score: Any = None
    was_deleted_later: bool = False


def parse_comment(line):
    """The comment of a line, or None if it is none."""
    try:
        line.decode()
        fields = load_json(line, DECODER.decode)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return Comment(
        fields.id.removeprefix("t1_"),
        fields.parent_id.removeprefix("t1_") if fields.parent_id.startswith("t1_") else None,
        fields.link_id,
        fields.subreddit,
        fields.author or "",
        unescaped(fields.body).strip(),
        as_seconds(fields.created_utc),
        fields.score,
        (fields.meta if isinstance(fields.meta, dict) else {}).get("was_deleted_later") is True,
    )


def count_letters(text):
    return [unicodedata.category(character)[0] for character in text].count("L")


def message_rules(rules, text, author=""):
    """Rule -> whether it drops a message, of `MessageRules` that are on."""
    share, letters = rules.min_letter_share, count_letters(text)
    holds = {
        "deleted": IS_GONE(text) is not None,
        "length": rules.max_characters is not None and len(text) > rules.max_characters,
        "alphabetic": share is not None
        and share.denominator * letters <= share.numerator * len(text),
        "prefix": text.startswith(rules.drop_prefixes),
        "bot": any(part in author.lower() for part in rules.drop_authors_containing),
        "min_characters": len(text) < rules.min_characters,
    }
    return {name: holds[name] for name in rules.names}


def rule_that_drops(source, comment):
    """The first rule of a `RedditSource` that drops a comment, or None."""
    subreddit = comment.subreddit.lower()
    holds = {
        **message_rules(source.messages, comment.text, comment.author),
        "deleted": not is_visible(comment.text) or IS_GONE(comment.text) is not None,
        "deleted_later": comment.was_deleted_later,
        "min_score": score_of(comment.score) < (source.min_score or 0),
        "subreddits": subreddit not in source.names.get("subreddits", ()),
        "exclude_subreddits": subreddit in source.names.get("exclude_subreddits", ()),
        "bots": comment.author.lower() in source.names.get("bots", ()),
    }
    return next((name for name in source.rule_names if holds[name]), None)
