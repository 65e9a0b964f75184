"""The rules on columns: what the rules say of each message, all at once."""

from fractions import Fraction
from typing import NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.sources.rules.columns import count_letters, dropped_by, masks
from data_pipeline.sources.rules.message_rules import NONE, PAPER, MessageRules
from data_pipeline.sources.rules.message_rules import count_letters as count_letters_of

characters = st.characters(codec="utf-8") | st.sampled_from("aZ19 @/é\u0903\u0e31\u200dßİΣ🙂")
texts = st.text(characters, max_size=80)
rules = st.builds(
    MessageRules,
    max_characters=st.none() | st.integers(0, 40),
    min_letter_share=st.none() | st.fractions(0, 1) | st.just(Fraction(10**17 - 1, 10**17)),
    letters_and_marks=st.booleans(),
    drop_prefixes=st.lists(st.text(characters, min_size=1, max_size=2), max_size=2).map(tuple),
    drop_authors_containing=st.lists(
        st.text(characters, min_size=1, max_size=2).map(str.lower), max_size=2
    ).map(tuple),
    min_characters=st.integers(0, 5),
)


class Message(NamedTuple):
    text: str
    author: str


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.tuples(texts, texts).map(lambda both: Message(*both)), max_size=12),
    rules | st.sampled_from([PAPER, NONE]),
    st.integers(0, 3),
)
def test_columns_say_what_the_rules_say_of_each_message(messages, some, start):
    columns = [
        pa.array([message.text for message in messages], pa.large_string())[start:],
        pa.array([message.author for message in messages], pa.string())[start:],
    ]
    found = masks(some, *columns)
    expected = {
        name: [holds(message) for message in messages[start:]]
        for name, holds in some.predicates().items()
    }
    assert {name: mask.tolist() for name, mask in found.items()} == expected
    assert list(found) == list(expected)
    first = [
        next((index for index, holds in enumerate(row) if holds), None)
        for row in zip(*expected.values(), strict=True)
    ] or [None] * len(messages[start:])
    assert dropped_by(list(found.values()), rows=len(messages[start:])).to_pylist() == first


@pytest.mark.parametrize("with_marks", [False, True])
def test_letters_are_counted_in_texts_of_any_length(with_marks):
    some = ["", "a" * 63, "é" * 64, "1a" * 65, "की" * 33, "z" * 1000, "", "\u0e31" * 5, "@["]
    found = count_letters(pa.array(some, pa.large_string()), with_marks=with_marks)
    assert found.tolist() == [count_letters_of(text, with_marks=with_marks) for text in some]
