"""The rules that drop comments (Yang et al. 2018, section 3), and optional ones.

A comment is dropped by the first rule that holds, in the order of `Rules.names`. The paper
states `length`, `alphabetic`, `prefix` and `bot`; `deleted` comes first, so that comments that
the site removed are counted apart. The optional rules come after the paper's and are off by
default.
"""

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

    def has_few_characters(self, comment: Comment) -> bool:
        """It has less than `min_characters` characters."""
        return len(comment.text) < self.min_characters

    def has_a_low_score(self, comment: Comment) -> bool:
        """Its score is below `min_score`, or the dump has none."""
        score = whole_number(comment.score)
        return score is None or score < (self.min_score or 0)

    def is_elsewhere(self, comment: Comment) -> bool:
        """It is in none of `subreddits`."""
        return comment.subreddit.lower() not in self.subreddits

    def is_in_an_excluded_subreddit(self, comment: Comment) -> bool:
        """It is in one of `exclude_subreddits`."""
        return comment.subreddit.lower() in self.exclude_subreddits

    def is_by_a_listed_bot(self, comment: Comment) -> bool:
        """Its author is one of `bots`."""
        return comment.author.lower() in self.bots


def is_over_18(comment: Comment) -> bool:
    """The dump marks it as for adults only."""
    return comment.over_18 in (True, "true")


class Rules:
    """The paper's rules, then the optional rules that are on."""

    def __init__(self, selection: Selection):
        asked: dict[str, tuple[Any, Callable[[Comment], bool]]] = {
            "min_characters": (selection.min_characters, selection.has_few_characters),
            "min_score": (selection.min_score is not None, selection.has_a_low_score),
            "subreddits": (selection.subreddits, selection.is_elsewhere),
            "exclude_subreddits": (
                selection.exclude_subreddits,
                selection.is_in_an_excluded_subreddit,
            ),
            "bots": (selection.bots, selection.is_by_a_listed_bot),
            "over_18": (selection.drop_over_18, is_over_18),
        }
        optional = {name: holds for name, (is_on, holds) in asked.items() if is_on}
        self._rules = list((THE_PAPERS | optional).values())
        self.names = [*THE_PAPERS, *optional]
        """Names of the rules, in the order in which they apply."""

    def that_drops(self, comment: Comment) -> int | None:
        """The index of the first rule that holds, or None for a comment to keep."""
        for index, holds in enumerate(self._rules):
            if holds(comment):
                return index
        return None
