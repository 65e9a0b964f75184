"""Messages of threads in an order, by hand: turns, gaps, links, runs of one author."""

import re
from collections import Counter

import pyarrow as pa
import pytest

from data_pipeline.execution.report import COUNTS
from data_pipeline.job.ambiguity import Cases
from data_pipeline.job.turns import ORDERED, link_messages
from data_pipeline.sources.source import MESSAGES, Flow

START = 1_700_000_000
GAP, RUNS, BOTH = Flow(1), Flow(None, True), Flow(1, True)
MESSAGE = re.compile(
    r"(?P<id>\w+)@(?P<at>[\d.]+)(/(?P<thread>\w))?(:(?P<author>\w))?(>(?P<to>.+))?"
)


def chat(text):
    """Messages: id, hours, and if given thread, author and parent; the id is the text, too.

    A message with "dropped" in its id is dropped by a rule.
    """
    rows = []
    for found in map(MESSAGE.fullmatch, text.split()):
        own_id, at, thread, author, to = found.group("id", "at", "thread", "author", "to")
        row = {"id": own_id, "parent": to, "thread": thread or "c", "group": "", "author": author}
        row |= {"text": own_id, "dropped_by": 0 if "dropped" in own_id else None}
        rows.append(row | {"order": f"{START + 3600 * float(at):.0f}"})
    return rows


def linked(messages, flow):
    """Id -> parent and text, and the counts."""
    rows = [row | {"position": place} for place, row in enumerate(messages)]
    cases = Cases(["a.csv"])
    batch = pa.RecordBatch.from_pylist(rows[::-1], schema=ORDERED)
    found = link_messages(batch, cases, Counter(), flow).to_pylist()
    return {row["id"]: (row["parent"], row["text"]) for row in found}, cases.tally()[COUNTS]


def parents(messages, flow):
    return {own: parent for own, (parent, _) in linked(messages, flow)[0].items()}


def test_a_message_without_a_parent_replies_to_the_one_before_within_the_gap():
    messages = chat("a@0 b@1 other@1.2/d c@2.5 d@3>a e@3.2 f@3.3>gone g@9>c")
    expected = {"a": None, "b": "a", "c": None, "d": "a", "e": "d", "f": "gone", "g": "c"}
    expected["other"] = None
    assert parents(messages, GAP) == expected
    assert parents(messages[::-1], GAP) == expected


def test_without_a_gap_only_turns_follow_each_other():
    messages = chat("a@0 b@9>a c@10")
    assert parents(messages, RUNS) == {"a": None, "b": "a", "c": None}
    turns = [row | {"id": "", "parent": None} for row in messages]
    a, b, c = (f"c:{START + 3600 * at}" for at in (0, 9, 10))
    for flow, second in ((RUNS, a), (GAP, None)):
        found, _ = linked(turns, flow)
        assert {own: parent for own, (parent, _) in found.items()} == {a: None, b: second, c: b}


def test_replies_that_are_apart_follow_those_to_the_same_message():
    messages = chat("a@0 b@.1 a1@.2:x>a c@.3:x a2@.4:x>a")
    found, counts = linked(messages, Flow(1, merges_author_runs=True, is_apart=True))
    assert found == {"a": (None, "a"), "b": ("a", "b"), "a1": ("a", "a1\na2"), "c": ("b", "c")}
    assert counts["merged"] == 1


def test_a_run_of_one_author_is_one_turn_and_has_the_replies_to_each():
    messages = chat(
        "q@0:x q2@.1:x a@.2:y a2@.3:y>a a3@.4:y>q2 b@.5:z>q2 b2@.6:z>a3 later@2:z who@2.1 who2@2.2"
    )
    found, counts = linked(messages, BOTH)
    assert found == {
        "q": (None, "q\nq2"),
        "a": ("q", "a\na2\na3"),
        "b": ("q", "b"),
        "b2": ("a", "b2"),
        "later": (None, "later"),
        "who": ("later", "who"),
        "who2": ("who", "who2"),
    }
    assert counts["merged"] == 3


def test_messages_that_a_rule_drops_are_not_part_of_a_turn():
    messages = chat("q@0:x dropped@.1:y a@.2:y dropped2@.3:y a2@.4:y b@.5:z>dropped")
    found, counts = linked(messages, BOTH)
    of = {own: parent for own, (parent, _) in found.items()}
    assert of == {"q": None, "dropped": None, "a": "q", "dropped2": None, "b": "a"}
    assert found["a"][1] == "a\na2"
    assert counts["merged"] == 1


@pytest.mark.parametrize("flow", [GAP, BOTH])
def test_copies_count_once_and_others_of_an_id_are_ambiguous(flow):
    messages = chat("a@0:x b@.1:x a@0/d:x")
    found, counts = linked([*messages, *messages], flow)
    assert (counts["duplicates"], counts["recurring"]) == (3, 0)
    assert linked(messages, flow)[0] == found
    other = messages[1] | {"text": "other"}
    assert linked([*messages, other], flow)[1]["recurring"] == 1


def test_parents_may_be_written_as_pandas_writes_them():
    assert parents(chat("1@0:x 2@.1:x 3@.2>2.0"), BOTH) == {"1": None, "3": "1"}


def said_in(*turns):
    rows = [
        {"id": "", "thread": thread, "group": "", "text": text, "order": order, "position": place}
        for place, (thread, order, text) in enumerate(turns)
    ]
    batch = pa.RecordBatch.from_pylist(rows[::-1], schema=ORDERED)
    messages = link_messages(batch, Cases(["a.csv"]), Counter(), Flow())
    assert messages.schema.names == [*MESSAGES.names, "position"]
    return [(row["id"], row["parent"], row["text"]) for row in messages.to_pylist()]


def test_turns_are_ordered_as_numbers_within_their_thread():
    assert said_in() == []
    large = ("c", str(2**60 + 1), "y"), ("c", str(2**60), "x")
    assert [own for own, _, _ in said_in(*large)] == [f"c:{2**60}", f"c:{2**60 + 1}"]
    assert said_in(("b", "10", "x"), ("a", "3", "y"), ("b", "9.5", "z"), ("b", "-1", "w")) == [
        ("a:3", None, "y"),
        ("b:-1", None, "w"),
        ("b:9.5", "b:-1", "z"),
        ("b:10", "b:9.5", "x"),
    ]


def test_turns_of_one_order_stay_in_reading_order_and_copies_are_one():
    assert said_in(
        ("a", "1", "first"), ("a", "1", "also"), ("a", "1", "first"), ("a", "2", "last")
    ) == [
        ("a:1", None, "first"),
        ("a:1#2", "a:1", "also"),
        ("a:2", "a:1#2", "last"),
    ]
