"""Rules on texts and authors, with other values than the paper's; counted by hand."""

from fractions import Fraction

import pyarrow as pa
import pytest

from data_pipeline.sources.rules.columns import count_letters, masks
from data_pipeline.sources.rules.message_rules import NONE, PAPER, MessageRules

HINDI = "मैं बीस साल का हूँ"  # 7 letters, 7 marks, 4 spaces
THAI = "ฉันอายุยี่สิบปี"  # 9 letters, 6 marks
AGE = "I am 20 years old"  # 11 letters of 17


def dropped_by(rules, text, author=""):
    found = masks(rules, pa.array([text], pa.large_string()), pa.array([author], pa.string()))
    return next((name for name, mask in found.items() if mask[0]), None)


def letters(text, *, with_marks=False):
    return count_letters(pa.array([text], pa.large_string()), with_marks=with_marks)[0]


def test_the_papers_rules_have_their_names_and_their_order():
    assert PAPER.names == ["length", "alphabetic", "prefix", "bot"]
    assert PAPER._replace(min_characters=1).names[-1] == "min_characters"
    assert NONE.names == []


@pytest.mark.parametrize(
    ("setting", "kept", "dropped", "rule"),
    [
        ({"max_characters": 3}, "abc", "abcd", "length"),
        ({"min_characters": 3}, "abc", "ab", "min_characters"),
        ({"min_letter_share": Fraction(1, 2)}, AGE, "ab12", "alphabetic"),
        ({"min_letter_share": Fraction(0)}, "a1234567", "12345678", "alphabetic"),
        ({"drop_prefixes": ("!", "www.")}, "see www.x", "www.x", "prefix"),
        ({"drop_prefixes": ("!", "www.")}, "hello!", "!help", "prefix"),
    ],
)
def test_a_setting_turns_on_its_rule_alone(setting, kept, dropped, rule):
    rules = MessageRules(**setting)
    assert rules.names == [rule]
    assert dropped_by(rules, kept) is None
    assert dropped_by(rules, dropped) == rule


def test_authors_are_found_in_any_case():
    rules = MessageRules(drop_authors_containing=("bot", "é"))
    assert dropped_by(rules, "hi", "UbotU") == dropped_by(rules, "hi", "ANDRÉ") == "bot"
    assert dropped_by(rules, "hi", "bo t") is None


def test_the_papers_letters_drop_an_age_and_scripts_with_marks():
    assert dropped_by(PAPER, AGE) == "alphabetic"
    assert dropped_by(PAPER._replace(min_letter_share=Fraction(1, 2)), AGE) is None
    assert [dropped_by(PAPER, text) for text in (HINDI, THAI)] == ["alphabetic"] * 2
    marks = PAPER._replace(letters_and_marks=True)
    assert [dropped_by(marks, text) for text in (HINDI, THAI)] == [None, None]
    assert [letters(text) for text in (HINDI, THAI, AGE)] == [7, 9, 11]
    assert [letters(text, with_marks=True) for text in (HINDI, THAI, AGE)] == [14, 15, 11]


@pytest.mark.parametrize("share", ["0.1", "0.29", "0.57", "0.7"])
def test_shares_are_exact(share):
    """As binary fractions, 0.29 of 100 is 28.999999999999996 and 0.57 of 100 is 56.99999999999999.

    A message with exactly the share is dropped, and one more letter keeps it.
    """
    letters = int(share[2:].ljust(2, "0"))
    rules = MessageRules(min_letter_share=Fraction(share))
    assert dropped_by(rules, "a" * letters + "1" * (100 - letters)) == "alphabetic"
    assert dropped_by(rules, "a" * (letters + 1) + "1" * (99 - letters)) is None


def test_rules_describe_themselves_and_leave_the_papers_out():
    assert PAPER.describe() == {"min_characters": 0}
    assert PAPER._replace(min_characters=5).describe() == {"min_characters": 5}
    assert NONE._replace(drop_prefixes=("!",)).describe() == {
        "min_characters": 0,
        "max_characters": None,
        "min_letter_share": None,
        "letters_and_marks": False,
        "drop_prefixes": ["!"],
        "drop_authors_containing": [],
    }
    assert PAPER._replace(letters_and_marks=True).describe()["min_letter_share"] == 0.7
