"""Which messages are dropped: the rules on a message's text and author, and their options.

`PAPER` has the values of Yang et al. 2018, section 3: a message is dropped if it was deleted, if it
has 350 characters or more, if 70% of its characters or less are alphabetic, if it starts with
"https", "/r/" or "@", or if its author's name contains "bot". A rule is on if its setting is;
`masks` applies those that are on in their order, and a message counts for the first that holds.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from common.command_line import Options, option
from common.errors import InputError

SETTINGS = {
    "deleted": "placeholders",
    "length": "max_characters",
    "alphabetic": "min_letter_share",
    "prefix": "drop_prefixes",
    "bot": "drop_authors_containing",
    "min_characters": "min_characters",
}
"""Rule -> the setting that turns it on, in the order in which rules apply."""
PLACEHOLDERS = ("none", "reddit")
"""Sites of which it is known what they show for a text that is gone."""


class MessageRules(NamedTuple):
    """The settings of the rules; by default all are off."""

    min_characters: int = 0  # a shorter message is dropped
    max_characters: int | None = None  # a longer message is dropped
    min_letter_share: Fraction | None = None
    """A message with no larger share of letters is dropped; 7 letters of 10 are exactly 0.7."""
    drop_prefixes: tuple[str, ...] = ()  # a message that starts with one of these is dropped
    drop_authors_containing: tuple[str, ...] = ()  # lower case
    placeholders: str = "none"  # the site whose texts for a message that is gone are dropped

    @property
    def names(self) -> list[str]:
        """Names of the rules that are on, in their order."""
        return [name for name, on in SETTINGS.items() if getattr(self, on) != getattr(NONE, on)]

    def describe(self) -> dict[str, Any]:
        """As JSON."""
        share = self.min_letter_share
        described = self._asdict() | {"min_letter_share": None if share is None else float(share)}
        return {name: list(v) if isinstance(v, tuple) else v for name, v in described.items()}


NONE = MessageRules()
PAPER = MessageRules(
    max_characters=349,
    min_letter_share=Fraction(7, 10),
    drop_prefixes=("https", "/r/", "@"),
    drop_authors_containing=("bot",),
    placeholders="reddit",
)
RULES = {"paper": PAPER, "none": NONE}  # the sets of rules that `--rules` names
_rule = partial(option, group="rules that drop messages")


def rules_option(default: str) -> Any:
    """Declares `--rules`."""
    return _rule(
        default,
        help="paper: the rules of Yang et al. 2018; none: only messages without a text are "
        "dropped; each option below changes one rule, or turns it on",
        choices=tuple(RULES),
    )


@dataclass(frozen=True, kw_only=True)
class RuleOptions(Options):
    """Which messages are dropped."""

    rules: str = rules_option("none")
    max_characters: int | None = _rule(
        None,
        help=f"drop messages with more characters; the paper's: {PAPER.max_characters}",
        minimum=1,
    )
    min_characters: int = _rule(0, help="drop messages with fewer characters", minimum=0)
    min_letter_share: float | None = _rule(
        None,
        help="drop messages in which at most this share of the characters, spaces included, are "
        f"letters; the paper's: {float(PAPER.min_letter_share or 0)}",
        minimum=0,
        below=1,
    )
    drop_prefixes: str | None = _rule(
        None,
        help=f"drop messages that start like this; the paper's: {','.join(PAPER.drop_prefixes)}",
        metavar="TEXT[,TEXT...]",
    )
    drop_authors_containing: str | None = _rule(
        None,
        help="drop messages whose author's name contains this, in any case; the paper's: "
        + ",".join(PAPER.drop_authors_containing),
        metavar="TEXT[,TEXT...]",
        needs="author_field",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.message_rules()  # raises

    def message_rules(self) -> MessageRules:
        """The rules that are asked for; InputError if they keep no message."""
        given = {name: getattr(self, name, None) for name in MessageRules._fields}
        changed = {name: value for name, value in given.items() if value is not None}
        if (share := self.min_letter_share) is not None:
            # To six digits, as it was written: multiples fit into 64 bits.
            changed["min_letter_share"] = Fraction(str(share)).limit_denominator(10**6)
        for name in {"drop_prefixes", "drop_authors_containing"} & changed.keys():
            texts = changed[name].lower() if "authors" in name else changed[name]
            changed[name] = texts_of(name, texts)
        rules = RULES[self.rules]._replace(**changed)
        if rules.max_characters is not None and rules.min_characters > rules.max_characters:
            raise InputError(
                f"--min_characters: {rules.min_characters} is more than --max_characters "
                f"{rules.max_characters}; no message is kept"
            )
        return rules


def texts_of(name: str, given: str | None) -> tuple[str, ...] | None:
    """The texts between the commas of an option, at least one; None if it was not given."""
    if given is None:
        return None
    texts = tuple(filter(None, map(str.strip, given.split(","))))
    if not texts:
        raise InputError(f"--{name}: {given!r} names none; accepted: texts with commas between")
    return texts
