"""Turns to messages with ids and parents, by hand."""

from collections import Counter

import pyarrow as pa

from data_pipeline.job.ambiguity import Cases
from data_pipeline.job.turns import ORDERED, link_messages
from data_pipeline.sources.source import MESSAGES, Flow


def linked(*turns):
    rows = [
        {"id": "", "thread": thread, "group": "", "text": text, "order": order, "position": place}
        for place, (thread, order, text) in enumerate(turns)
    ]
    batch = pa.RecordBatch.from_pylist(rows[::-1], schema=ORDERED)
    messages = link_messages(batch, Cases(["a.csv"]), Counter(), Flow())
    assert messages.schema.names == [*MESSAGES.names, "position"]
    return [(row["id"], row["parent"], row["text"]) for row in messages.to_pylist()]


def test_turns_are_ordered_as_numbers_within_their_thread():
    assert linked() == []
    large = ("c", str(2**60 + 1), "y"), ("c", str(2**60), "x")
    assert [own for own, _, _ in linked(*large)] == [f"c:{2**60}", f"c:{2**60 + 1}"]
    assert linked(("b", "10", "x"), ("a", "3", "y"), ("b", "9.5", "z"), ("b", "-1", "w")) == [
        ("a:3", None, "y"),
        ("b:-1", None, "w"),
        ("b:9.5", "b:-1", "z"),
        ("b:10", "b:9.5", "x"),
    ]


def test_turns_of_one_order_stay_in_reading_order_and_copies_are_one():
    assert linked(
        ("a", "1", "first"), ("a", "1", "also"), ("a", "1", "first"), ("a", "2", "last")
    ) == [
        ("a:1", None, "first"),
        ("a:1#2", "a:1", "also"),
        ("a:2", "a:1#2", "last"),
    ]
