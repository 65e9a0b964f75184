"""The options of the rules: what they turn on, and which values are refused."""

from fractions import Fraction

import pytest

from common.errors import InputError
from data_pipeline.sources.rules.message_rules import NONE, PAPER
from data_pipeline.sources.rules.options import RuleOptions


@pytest.mark.parametrize("rules", ["paper", "none"])
def test_a_value_changes_or_turns_on_one_rule(rules):
    begin = PAPER if rules == "paper" else NONE
    assert RuleOptions(rules=rules).message_rules() == begin
    for given, value in (
        ({"max_characters": 5}, 5),
        ({"min_characters": 5}, 5),
        ({"min_letter_share": 0.57}, Fraction(57, 100)),
        ({"drop_prefixes": " http, !,"}, ("http", "!")),
        ({"drop_authors_containing": "Bot,HELPER"}, ("bot", "helper")),
    ):
        (name,) = given
        asked = RuleOptions(rules=rules, **given).message_rules()
        assert asked == begin._replace(**{name: value})
    both = RuleOptions(rules=rules, min_letter_share=0.7, letters_and_marks=True).message_rules()
    assert (both.min_letter_share, both.letters_and_marks) == (Fraction(7, 10), True)


@pytest.mark.parametrize(
    "given",
    [
        {"rules": "all"},
        {"max_characters": 0},
        {"min_characters": -1},
        {"min_characters": 350, "rules": "paper"},
        {"min_letter_share": 1.0},
        {"min_letter_share": -0.1},
        {"min_letter_share": float("nan")},
        {"letters_and_marks": True},
        {"drop_prefixes": ","},
        {"drop_authors_containing": ""},
    ],
)
def test_a_value_that_cannot_be_is_refused(given):
    with pytest.raises(InputError, match=f"--{next(iter(given))}"):
        RuleOptions(**given)
