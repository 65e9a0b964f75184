"""The rules on columns: what the rules say of each message, all at once."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_pipeline.sources.rules.columns import count_letters, dropped_by, masks
from data_pipeline.sources.rules.message_rules import NONE, PAPER, MessageRules
from tests.data_pipeline.sources import one_by_one

characters = st.characters(codec="utf-8") | st.sampled_from("aZ19 @/é\u0903\u0e31\u200dßİΣ🙂")
texts = st.text(characters, max_size=80)
rules = st.builds(
    MessageRules,
    max_characters=st.none() | st.integers(0, 40),
    min_letter_share=st.none() | st.fractions(0, 1, max_denominator=10**6),
    letters_and_marks=st.booleans(),
    drop_prefixes=st.lists(st.text(characters, min_size=1, max_size=2), max_size=2).map(tuple),
    drop_authors_containing=st.lists(
        st.text(characters, min_size=1, max_size=2).map(str.lower), max_size=2
    ).map(tuple),
    min_characters=st.integers(0, 5),
)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.tuples(texts, texts), max_size=12),
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
    assert dropped_by(list(found.values()), rows=len(each)).to_pylist() == first


@pytest.mark.parametrize("with_marks", [False, True])
def test_letters_are_counted_in_texts_of_any_length(with_marks):
    some = ["", "a" * 63, "é" * 64, "1a" * 65, "की" * 33, "z" * 1000, "", "\u0e31" * 5, "@["]
    found = count_letters(pa.array(some, pa.large_string()), with_marks=with_marks)
    expected = [one_by_one.count_letters(text, with_marks=with_marks) for text in some]
    assert found.tolist() == expected
