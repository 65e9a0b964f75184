"""The options of the message rules: declared, and made into `MessageRules`."""

import argparse
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from common.errors import InputError
from data_pipeline.execution.acceptance import add_option
from data_pipeline.sources.rules.message_rules import NONE, PAPER, MessageRules

RULES = {"paper": PAPER, "none": NONE}
"""The sets of rules that `--rules` names."""


@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """The options as a user gives them; each has the name of its flag."""

    rules: str = "none"
    max_characters: int | None = None
    min_characters: int = 0
    min_letter_share: float | None = None
    letters_and_marks: bool = False
    drop_prefixes: str | None = None
    drop_authors_containing: str | None = None


def add_arguments(parser: argparse._ActionsContainer, options: RuleOptions) -> None:
    """Declares the options; `options` holds their defaults."""
    add = partial(add_option, parser, options)
    share = float(PAPER.min_letter_share or 0)
    add(
        "rules",
        "paper: the rules of Yang et al. 2018; none: only messages without a text are dropped; "
        "each option below changes one rule, or turns it on; default: %(default)s",
        choices=tuple(RULES),
    )
    add(
        "max_characters",
        f"drop messages with more characters; the paper's: {PAPER.max_characters}",
        int,
        metavar="N",
    )
    add("min_characters", "drop messages with fewer characters; default: %(default)s", int)
    add(
        "min_letter_share",
        "drop messages in which at most this share of the characters, spaces included, are "
        f"letters, in [0, 1); the paper's: {share}",
        float,
        metavar="F",
    )
    add(
        "letters_and_marks",
        "count combining marks as letters too, as Hindi, Thai and other scripts need",
        action="store_true",
    )
    add(
        "drop_prefixes",
        f"drop messages that start like this; the paper's: {','.join(PAPER.drop_prefixes)}",
        metavar="TEXT[,TEXT...]",
    )
    add(
        "drop_authors_containing",
        "drop messages whose author's name contains this, in any case; the paper's: "
        + ",".join(PAPER.drop_authors_containing),
        metavar="TEXT[,TEXT...]",
    )


def message_rules(options: RuleOptions) -> MessageRules:
    """The rules that the options ask for.

    Raises:
      InputError: if a value is invalid; names the flag, the value and the accepted values.
    """
    if options.rules not in RULES:
        raise InputError(f"--rules: {options.rules!r} is not one of {', '.join(RULES)}")
    rules = RULES[options.rules]._replace(min_characters=options.min_characters)
    if options.min_characters < 0:
        raise InputError(f"--min_characters: {options.min_characters} is not 0 or more")
    if options.max_characters is not None:
        if options.max_characters < 1:
            raise InputError(f"--max_characters: {options.max_characters} is not 1 or more")
        rules = rules._replace(max_characters=options.max_characters)
    if rules.max_characters is not None and rules.min_characters > rules.max_characters:
        raise InputError(
            f"--min_characters: {rules.min_characters} is more than --max_characters "
            f"{rules.max_characters}; no message is kept"
        )
    share = options.min_letter_share
    if share is not None:
        if not 0 <= share < 1:
            raise InputError(f"--min_letter_share: {share} is not in [0, 1)")
        rules = rules._replace(min_letter_share=Fraction(str(share)))
    if options.letters_and_marks:
        if rules.min_letter_share is None:
            raise InputError(
                "--letters_and_marks: no rule counts letters; accepted with --min_letter_share or "
                "--rules paper"
            )
        rules = rules._replace(letters_and_marks=True)
    if options.drop_prefixes is not None:
        prefixes = _texts("drop_prefixes", options.drop_prefixes, example="http,www.")
        rules = rules._replace(drop_prefixes=prefixes)
    if options.drop_authors_containing is not None:
        parts = _texts(
            "drop_authors_containing", options.drop_authors_containing, example="bot,helper"
        )
        rules = rules._replace(drop_authors_containing=tuple(part.lower() for part in parts))
    return rules


def _texts(option: str, given: str, *, example: str) -> tuple[str, ...]:
    texts = tuple(filter(None, map(str.strip, given.split(","))))
    if not texts:
        raise InputError(f"--{option}: {given!r} names none; accepted: texts, as in {example}")
    return texts
