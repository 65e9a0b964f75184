"""The options of the message rules: declared, and made into `MessageRules`."""

from dataclasses import dataclass
from fractions import Fraction

from common.command_line import Options, option
from common.errors import InputError
from data_pipeline.sources.rules.message_rules import NONE, PAPER, MessageRules

RULES = {"paper": PAPER, "none": NONE}
"""The sets of rules that `--rules` names."""
RULES_HELP = (
    "paper: the rules of Yang et al. 2018; none: only messages without a text are dropped; each "
    "option below changes one rule, or turns it on"
)
GROUP = "rules that drop messages"


@dataclass(frozen=True, kw_only=True)
class RuleOptions(Options):
    """Which messages are dropped."""

    rules: str = option("none", help=RULES_HELP, choices=tuple(RULES), group=GROUP)
    max_characters: int | None = option(
        None,
        help=f"drop messages with more characters; the paper's: {PAPER.max_characters}",
        minimum=1,
        group=GROUP,
    )
    min_characters: int = option(
        0, help="drop messages with fewer characters", minimum=0, group=GROUP
    )
    min_letter_share: float | None = option(
        None,
        help="drop messages in which at most this share of the characters, spaces included, are "
        f"letters; the paper's: {float(PAPER.min_letter_share or 0)}",
        minimum=0,
        below=1,
        group=GROUP,
    )
    letters_and_marks: bool = option(
        False,
        help="count combining marks as letters too, as Hindi, Thai and other scripts need",
        group=GROUP,
    )
    drop_prefixes: str | None = option(
        None,
        help=f"drop messages that start like this; the paper's: {','.join(PAPER.drop_prefixes)}",
        metavar="TEXT[,TEXT...]",
        group=GROUP,
    )
    drop_authors_containing: str | None = option(
        None,
        help="drop messages whose author's name contains this, in any case; the paper's: "
        + ",".join(PAPER.drop_authors_containing),
        metavar="TEXT[,TEXT...]",
        group=GROUP,
    )

    def __post_init__(self) -> None:
        """Checks options that depend on each other."""
        super().__post_init__()
        self.message_rules()

    def message_rules(self) -> MessageRules:
        """The rules that are asked for.

        Raises:
          InputError: if they keep no message, or an option changes nothing.
        """
        rules = RULES[self.rules]._replace(min_characters=self.min_characters)
        if self.max_characters is not None:
            rules = rules._replace(max_characters=self.max_characters)
        if rules.max_characters is not None and rules.min_characters > rules.max_characters:
            raise InputError(
                f"--min_characters: {rules.min_characters} is more than --max_characters "
                f"{rules.max_characters}; no message is kept"
            )
        if self.min_letter_share is not None:
            rules = rules._replace(min_letter_share=_exact(self.min_letter_share))
        if self.letters_and_marks:
            if rules.min_letter_share is None:
                raise InputError(
                    "--letters_and_marks: accepted with --min_letter_share or --rules paper"
                )
            rules = rules._replace(letters_and_marks=True)
        if self.drop_prefixes is not None:
            rules = rules._replace(drop_prefixes=texts_of("drop_prefixes", self.drop_prefixes))
        if self.drop_authors_containing is not None:
            parts = texts_of("drop_authors_containing", self.drop_authors_containing)
            rules = rules._replace(drop_authors_containing=tuple(map(str.lower, parts)))
        return rules


def _exact(share: float) -> Fraction:
    """A share as it was written, to six digits: its multiples fit into 64 bits."""
    return Fraction(str(share)).limit_denominator(10**6)


def texts_of(name: str, given: str) -> tuple[str, ...]:
    """The texts between commas.

    Raises:
      InputError: if there are none.
    """
    texts = tuple(filter(None, map(str.strip, given.split(","))))
    if not texts:
        raise InputError(f"--{name}: {given!r} names none; accepted: texts with commas between")
    return texts
