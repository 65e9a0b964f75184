"""The rules that drop comments (Yang et al. 2018, section 3), and optional ones.

A comment is dropped by the first rule that holds, in the order of `Rules.names`. The paper
states `length`, `alphabetic`, `prefix` and `bot`; `deleted` comes first, so that comments that
the site removed are counted apart. The optional rules come after the paper's and are off by
default.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from data_pipeline.reddit.comment import Comment, whole_number

MAX_CHARACTERS = 350
"""A comment of this many characters or more is dropped."""
MIN_PERCENT_LETTERS = 70
"""A comment with this percentage of letters among all characters, or less, is dropped."""
PREFIXES = ("https", "/r/", "@")

_NOTHING_LEFT = frozenset(("", "[deleted]", "[removed]"))
_ASCII_BUT_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())


def is_deleted(comment: Comment) -> bool:
    """Its text is empty, [deleted] or [removed]."""
    return comment.text in _NOTHING_LEFT


def is_too_long(comment: Comment) -> bool:
    """It has `MAX_CHARACTERS` characters or more."""
    return len(comment.text) >= MAX_CHARACTERS


def has_few_letters(comment: Comment) -> bool:
    """Its letters (`str.isalpha`) are `MIN_PERCENT_LETTERS` of its characters or less."""
    text = comment.text
    # Most comments are ASCII; removing bytes is five times as fast as isalpha.
    if text.isascii():
        letters = len(text.encode().translate(None, _ASCII_BUT_LETTERS))
    else:
        letters = sum(map(str.isalpha, text))
    return 100 * letters <= MIN_PERCENT_LETTERS * len(text)


def starts_like_a_link(comment: Comment) -> bool:
    """It starts with a link, a subreddit or a user."""
    return comment.text.startswith(PREFIXES)


def is_by_a_bot(comment: Comment) -> bool:
    """Its author's name contains "bot", in any case."""
    return "bot" in comment.author.lower()


THE_PAPERS: dict[str, Callable[[Comment], bool]] = {
    "deleted": is_deleted,
    "length": is_too_long,
    "alphabetic": has_few_letters,
    "prefix": starts_like_a_link,
    "bot": is_by_a_bot,
}


class Selection(NamedTuple):
    """The settings of the optional rules; by default all are off."""

    min_characters: int = 0
    min_score: int | None = None
    subreddits: frozenset[str] = frozenset()
    """Lower case; empty for all."""
    exclude_subreddits: frozenset[str] = frozenset()
    bots: frozenset[str] = frozenset()
    """Authors' names in lower case, besides those that contain "bot"."""
    drop_over_18: bool = False

    def describe(self) -> dict[str, Any]:
        """As JSON, the same for the same selection."""
        return {
            name: sorted(value) if isinstance(value, frozenset) else value
            for name, value in self._asdict().items()
        }


class Rules:
    """The paper's rules, then the optional rules that are on."""

    def __init__(self, selection: Selection):
        optional: dict[str, tuple[Any, Callable[[Comment], bool]]] = {
            "min_characters": (
                selection.min_characters,
                lambda comment: len(comment.text) < selection.min_characters,
            ),
            "min_score": (
                selection.min_score is not None,
                lambda comment: _score(comment) < (selection.min_score or 0),
            ),
            "subreddits": (
                selection.subreddits,
                lambda comment: comment.subreddit.lower() not in selection.subreddits,
            ),
            "exclude_subreddits": (
                selection.exclude_subreddits,
                lambda comment: comment.subreddit.lower() in selection.exclude_subreddits,
            ),
            "bots": (
                selection.bots,
                lambda comment: comment.author.lower() in selection.bots,
            ),
            "over_18": (
                selection.drop_over_18,
                lambda comment: comment.over_18 in (True, "true"),
            ),
        }
        rules = THE_PAPERS | {name: holds for name, (is_on, holds) in optional.items() if is_on}
        self._rules = list(rules.values())
        self.names = list(rules)
        """Names of the rules, in the order in which they apply."""

    def that_drops(self, comment: Comment) -> int | None:
        """The index of the first rule that holds, or None for a comment to keep."""
        for index, holds in enumerate(self._rules):
            if holds(comment):
                return index
        return None


def _score(comment: Comment) -> float:
    """Its score; where the dump has none, less than any."""
    score = whole_number(comment.score)
    return -math.inf if score is None else score
