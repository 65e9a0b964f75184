"""The rules that keep noise out of the pairs (Yang et al. 2018, section 3).

A comment is dropped by the first rule that holds, in the order of `RULES`. The paper states
`length`, `alphabetic`, `prefix` and `bot`; `deleted` comes first so that what the site
removed is counted apart from what the rules removed.
"""

from collections.abc import Callable

from data_pipeline.comments import Comment

MAX_CHARACTERS = 350
"""A comment of this many characters or more is dropped."""
MIN_PERCENT_LETTERS = 70
"""A comment with this percentage of letters among all characters, or less, is dropped."""
PREFIXES = ("https", "/r/", "@")


def is_deleted(comment: Comment) -> bool:
    """Nothing is left of it."""
    return comment.text in ("", "[deleted]", "[removed]")


def is_too_long(comment: Comment) -> bool:
    """It has `MAX_CHARACTERS` characters or more."""
    return len(comment.text) >= MAX_CHARACTERS


def has_few_letters(comment: Comment) -> bool:
    """Its letters (`str.isalpha`) are `MIN_PERCENT_LETTERS` of its characters or less."""
    letters = sum(map(str.isalpha, comment.text))
    return 100 * letters <= MIN_PERCENT_LETTERS * len(comment.text)


def starts_like_a_link(comment: Comment) -> bool:
    """It starts with a link, a subreddit or a user."""
    return comment.text.startswith(PREFIXES)


def is_by_a_bot(comment: Comment) -> bool:
    """Its author's name contains "bot", in any case."""
    return "bot" in comment.author.lower()


RULES: dict[str, Callable[[Comment], bool]] = {
    "deleted": is_deleted,
    "length": is_too_long,
    "alphabetic": has_few_letters,
    "prefix": starts_like_a_link,
    "bot": is_by_a_bot,
}


def rule_that_drops(comment: Comment) -> str | None:
    """The name of the first rule that holds, or None for a comment to keep."""
    return next((name for name, holds in RULES.items() if holds(comment)), None)
