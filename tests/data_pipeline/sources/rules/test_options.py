"""The options of the rules: what they turn on, and the one line that names what they do not."""

from fractions import Fraction

import pytest

from common.errors import InputError
from data_pipeline.sources.rules.message_rules import NONE, PAPER
from data_pipeline.sources.rules.options import RuleOptions, message_rules


def test_a_set_of_rules_has_a_name():
    assert message_rules(RuleOptions()) == NONE
    assert message_rules(RuleOptions(rules="paper")) == PAPER


@pytest.mark.parametrize("rules", ["paper", "none"])
def test_a_value_changes_or_turns_on_one_rule(rules):
    begin = PAPER if rules == "paper" else NONE
    for given, value in (
        ({"max_characters": 5}, 5),
        ({"min_characters": 5}, 5),
        ({"min_letter_share": 0.57}, Fraction(57, 100)),
        ({"drop_prefixes": " http, !,"}, ("http", "!")),
        ({"drop_authors_containing": "Bot,HELPER"}, ("bot", "helper")),
    ):
        (name,) = given
        asked = message_rules(RuleOptions(rules=rules, **given))
        assert asked == begin._replace(**{name: value})
    both = message_rules(RuleOptions(rules=rules, min_letter_share=0.7, letters_and_marks=True))
    assert (both.min_letter_share, both.letters_and_marks) == (Fraction(7, 10), True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rules": "all"}, "--rules: 'all' is not one of paper, none"),
        ({"max_characters": 0}, "--max_characters: 0 is not 1 or more"),
        ({"min_characters": -1}, "--min_characters: -1 is not 0 or more"),
        (
            {"rules": "paper", "min_characters": 350},
            "--min_characters: 350 is more than --max_characters 349; no message is kept",
        ),
        ({"min_letter_share": 1.0}, "--min_letter_share: 1.0 is not in [0, 1)"),
        ({"min_letter_share": -0.1}, "--min_letter_share: -0.1 is not in [0, 1)"),
        ({"min_letter_share": float("nan")}, "--min_letter_share: nan is not in [0, 1)"),
        (
            {"letters_and_marks": True},
            "--letters_and_marks: no rule counts letters; accepted with --min_letter_share or "
            "--rules paper",
        ),
        (
            {"drop_prefixes": ","},
            "--drop_prefixes: ',' names none; accepted: texts, as in http,www.",
        ),
        (
            {"drop_authors_containing": ""},
            "--drop_authors_containing: '' names none; accepted: texts, as in bot,helper",
        ),
    ],
)
def test_a_value_that_cannot_be_is_one_line(given, message):
    with pytest.raises(InputError) as raised:
        message_rules(RuleOptions(**given))
    assert str(raised.value) == message
