"""Which messages are dropped: the settings of the rules on a message's text and author.

`PAPER` has the values of Yang et al. 2018, section 3: a message is dropped if it has 350 characters
or more, if 70% of its characters or less are alphabetic, if it starts with "https", "/r/" or "@",
or if its author's name contains "bot". A rule is on if its setting is; `columns` applies those that
are on in their order, and a message counts for the first that holds.
"""

from fractions import Fraction
from typing import Any, NamedTuple


class MessageRules(NamedTuple):
    """The settings of the rules; by default all are off."""

    max_characters: int | None = None
    """A longer message is dropped (`length`)."""
    min_letter_share: Fraction | None = None
    """A message of which this share of the characters or less are letters is dropped
    (`alphabetic`). A fraction, so that 7 letters of 10 are exactly 0.7."""
    letters_and_marks: bool = False
    """Whether combining marks (Unicode's categories M*) count as letters."""
    drop_prefixes: tuple[str, ...] = ()
    """A message that starts with one of these is dropped (`prefix`)."""
    drop_authors_containing: tuple[str, ...] = ()
    """Lower case; a message whose author's name has one of these in it is dropped (`bot`)."""
    min_characters: int = 0
    """A shorter message is dropped (`min_characters`)."""

    @property
    def names(self) -> list[str]:
        """Names of the rules that are on, in their order."""
        are_on = {
            "length": self.max_characters is not None,
            "alphabetic": self.min_letter_share is not None,
            "prefix": bool(self.drop_prefixes),
            "bot": bool(self.drop_authors_containing),
            "min_characters": self.min_characters > 0,
        }
        return [name for name, is_on in are_on.items() if is_on]

    def describe(self) -> dict[str, Any]:
        """As JSON; the paper's values are left out."""
        if self._replace(min_characters=0) == PAPER:
            return {"min_characters": self.min_characters}
        return self.describe_all()

    def describe_all(self) -> dict[str, Any]:
        """As JSON, with every value."""
        share = self.min_letter_share
        return {
            "min_characters": self.min_characters,
            "max_characters": self.max_characters,
            "min_letter_share": None if share is None else float(share),
            "letters_and_marks": self.letters_and_marks,
            "drop_prefixes": list(self.drop_prefixes),
            "drop_authors_containing": list(self.drop_authors_containing),
        }


PAPER = MessageRules(
    max_characters=349,
    min_letter_share=Fraction(7, 10),
    drop_prefixes=("https", "/r/", "@"),
    drop_authors_containing=("bot",),
)
NONE = MessageRules()
