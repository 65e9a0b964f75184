"""Which messages are dropped: rules on a message's text and author, in a fixed order.

`PAPER` has the values of Yang et al. 2018, section 3: a message is dropped if it has 350 characters
or more, if 70% of its characters or less are alphabetic, if it starts with "https", "/r/" or "@",
or if its author's name contains "bot". A rule is on if its setting is, and a message counts for
the first rule that holds.
"""

import unicodedata
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

_ASCII_BUT_LETTERS = bytes(code for code in range(128) if not chr(code).isalpha())


class Message(Protocol):
    """What the rules look at."""

    @property
    def text(self) -> str:
        """The text, stripped."""

    @property
    def author(self) -> str:
        """Who wrote it; empty if unknown."""


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

    def predicates(self) -> dict[str, Callable[[Message], bool]]:
        """Name -> whether a message is dropped, of the rules that are on, in their order."""
        rules: dict[str, tuple[bool, Callable[[Message], bool]]] = {
            "length": (self.max_characters is not None, self._is_too_long),
            "alphabetic": (self.min_letter_share is not None, self._has_few_letters),
            "prefix": (bool(self.drop_prefixes), self._starts_with_a_prefix),
            "bot": (bool(self.drop_authors_containing), self._has_such_an_author),
            "min_characters": (self.min_characters > 0, self._is_too_short),
        }
        return {name: holds for name, (is_on, holds) in rules.items() if is_on}

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

    def _is_too_long(self, message: Message) -> bool:
        return self.max_characters is not None and len(message.text) > self.max_characters

    def _has_few_letters(self, message: Message) -> bool:
        share = self.min_letter_share
        if share is None:
            return False
        letters = count_letters(message.text, with_marks=self.letters_and_marks)
        return share.denominator * letters <= share.numerator * len(message.text)

    def _starts_with_a_prefix(self, message: Message) -> bool:
        return message.text.startswith(self.drop_prefixes)

    def _has_such_an_author(self, message: Message) -> bool:
        author = message.author.lower()
        return any(part in author for part in self.drop_authors_containing)

    def _is_too_short(self, message: Message) -> bool:
        return len(message.text) < self.min_characters


PAPER = MessageRules(
    max_characters=349,
    min_letter_share=Fraction(7, 10),
    drop_prefixes=("https", "/r/", "@"),
    drop_authors_containing=("bot",),
)
NONE = MessageRules()


def count_letters(text: str, *, with_marks: bool = False) -> int:
    """How many characters of a text are letters (`str.isalpha`), or letters and combining marks."""
    # Most messages are ASCII; removing bytes is five times as fast as isalpha.
    if text.isascii():
        return len(text.encode().translate(None, _ASCII_BUT_LETTERS))
    letters = sum(map(str.isalpha, text))
    if with_marks:
        letters += sum(unicodedata.category(character)[0] == "M" for character in text)
    return letters
