"""Rules on texts and authors: one by one and all at once, and their options."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.errors import InputError
from data_pipeline import ConversationOptions
from data_pipeline.sources.masks import count_letters, dropped_by, masks
from data_pipeline.sources.rules import NONE, PAPER, PLACEHOLDERS, MessageRules, RuleOptions
from tests.data_pipeline.sources import one_by_one

HINDI = "मैं बीस साल का हूँ"  # 7 letters of 18 characters: the rest are marks and spaces
AGE = "I am 20 years old"  # 11 letters of 17

characters = st.characters(codec="utf-8") | st.sampled_from("aZ19 @/é\u0903\u0e31\u200dßİΣ🙂")
gone = st.sampled_from(["[deleted]", "[ Removed by Reddit ]", "(unavailable)", "[deleted] by me"])
texts = st.text(characters, max_size=80) | gone
rules = st.builds(
    MessageRules,
    max_characters=st.none() | st.integers(0, 40),
    min_letter_share=st.none() | st.fractions(0, 1, max_denominator=10**6),
    drop_prefixes=st.lists(st.text(characters, min_size=1, max_size=2), max_size=2).map(tuple),
    drop_authors_containing=st.lists(st.text("az1é_", min_size=1, max_size=2), max_size=2).map(
        tuple
    ),
    min_characters=st.integers(0, 5),
    placeholders=st.sampled_from(PLACEHOLDERS),
)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.tuples(texts, st.text("aAzZ19éÉ_ ")), max_size=12),
    rules | st.sampled_from([PAPER, NONE]),
    st.integers(0, 3),
)
def test_columns_say_what_the_rules_say_of_each_message(messages, some, start):
    columns = [
        pa.array([text for text, _ in messages], pa.large_string())[start:],
        pa.array([author for _, author in messages], pa.string())[start:],
    ]
    found = masks(some, *columns)
    each = [one_by_one.message_rules(some, *message) for message in messages[start:]]
    assert list(found) == some.names
    assert {name: mask.tolist() for name, mask in found.items()} == {
        name: [holds[name] for holds in each] for name in some.names
    }
    first = [next((i for i, holds in enumerate(row.values()) if holds), None) for row in each]
    if found:
        assert dropped_by(list(found.values())).to_pylist() == first


def test_letters_are_counted_in_texts_of_any_length():
    some = ["", "a" * 63, "é" * 64, "1a" * 65, "की" * 33, "z" * 1000, "", "\u0e31" * 5, "@["]
    found = count_letters(pa.array(some, pa.large_string()))
    assert found.tolist() == list(map(one_by_one.count_letters, some))
    assert count_letters(pa.array([HINDI, AGE], pa.large_string())).tolist() == [7, 11]


def test_the_papers_rules_and_their_order():
    assert PAPER._replace(min_characters=1).names == [
        *("deleted", "length", "alphabetic", "prefix", "bot", "min_characters")
    ]
    assert NONE.names == []


def test_settings_are_described_as_json():
    paper = {"max_characters": 349, "min_letter_share": 0.7, "placeholders": "reddit"}
    paper |= {"drop_prefixes": ["https", "/r/", "@"], "drop_authors_containing": ["bot"]}
    assert PAPER.describe() == {"min_characters": 0} | paper
    assert NONE.describe().keys() == PAPER.describe().keys()


@pytest.mark.parametrize("rules", ["paper", "none"])
def test_an_option_changes_or_turns_on_one_rule(rules):
    begin = PAPER if rules == "paper" else NONE
    assert RuleOptions(rules=rules).message_rules() == begin
    for changed, value in (
        ({"max_characters": 5}, 5),
        ({"min_characters": 5}, 5),
        ({"min_letter_share": 0.57}, Fraction(57, 100)),
        ({"drop_prefixes": " http, !,"}, ("http", "!")),
        ({"drop_authors_containing": "Bot,HELPER"}, ("bot", "helper")),
    ):
        (name,) = changed
        asked = RuleOptions(rules=rules, **changed).message_rules()
        assert asked == begin._replace(**{name: value})


@pytest.mark.parametrize(
    "given",
    [{"rules": "all"}, {"min_characters": 350, "rules": "paper"}, {"drop_authors_containing": ""}],
)
def test_a_value_that_cannot_be_is_refused(given):
    with pytest.raises(InputError, match=f"--{next(iter(given))}"):
        RuleOptions(**given)


@pytest.mark.parametrize(
    ("given", "is_on"),
    [
        ({}, False),
        ({"placeholders": "reddit"}, True),
        ({"rules": "paper"}, True),
        ({"rules": "paper", "placeholders": "none"}, False),
    ],
)
def test_placeholders_are_dropped_in_any_conversations_if_asked(given, is_on):
    fields = {"id_field": "id", "parent_field": "to", "text_field": "text"}
    options = ConversationOptions(input=("chat.jsonl",), output="out", **fields, **given)
    assert ("deleted" in options.message_rules().names) == is_on
