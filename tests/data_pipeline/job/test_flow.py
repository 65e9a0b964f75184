"""Messages of channels that follow each other, by hand: gaps, links, runs of one author."""

from collections import Counter

import pyarrow as pa
import pytest

from data_pipeline.execution.report import COUNTS
from data_pipeline.job.ambiguity import Cases
from data_pipeline.job.turns import TURNS, link_channels, link_turns
from data_pipeline.sources.source import Flow

HOUR = 3600
START = 1_700_000_000
GAP, RUNS, BOTH = Flow(1), Flow(None, True), Flow(1, True)


def message(own_id, after=0.0, parent=None, author=None, thread="c", dropped_by=None):
    """A message some hours after the start, with its id as the text."""
    seconds = f"{START + after * HOUR:.0f}"
    return {"id": own_id, "parent": parent, "thread": thread, "group": "", "author": author} | {
        "text": own_id,
        "dropped_by": dropped_by,
        "order": seconds,
    }


def linked(messages, flow, *, link=link_channels, **more):
    """Id -> parent and text, in the order that is yielded; and the counts."""
    rows = [row | {"position": place} for place, row in enumerate(messages)]
    cases = Cases(["a.csv"])
    batch = link(
        pa.RecordBatch.from_pylist(rows[::-1], schema=TURNS), cases, Counter(), flow=flow, **more
    )
    found = {row["id"]: (row["parent"], row["text"]) for row in batch.to_pylist()}
    return found, cases.tally()[COUNTS]


def parents(messages, flow):
    return {own: parent for own, (parent, _) in linked(messages, flow)[0].items()}


def test_a_message_without_a_parent_replies_to_the_one_before_within_the_gap():
    messages = [
        message("a"),
        message("b", 1),
        message("other", 1.2, thread="d"),
        message("c", 2.5),
        message("d", 3, parent="a"),
        message("e", 3.2),
        message("f", 3.3, parent="of another file"),
        message("g", 9, parent="c"),
    ]
    expected = {"a": None, "b": "a", "c": None, "d": "a", "e": "d"}
    expected |= {"f": "of another file", "g": "c", "other": None}
    assert parents(messages, GAP) == expected
    assert parents(messages[::-1], GAP) == expected


def test_without_a_gap_only_turns_follow_each_other():
    messages = [message("a"), message("b", 9, parent="a"), message("c", 10)]
    assert parents(messages, RUNS) == {"a": None, "b": "a", "c": None}
    turns = [row | {"id": "", "parent": None} for row in messages]
    for flow, last in ((RUNS, f"c:{START + 9 * HOUR}"), (GAP, f"c:{START + 9 * HOUR}")):
        found, _ = linked(turns, flow, link=link_turns, keeps_first=False)
        assert found[f"c:{START + 10 * HOUR}"][0] == last
    assert found[last][0] is None


def test_replies_that_are_apart_follow_those_to_the_same_message():
    messages = [
        message("a"),
        message("b", 0.1),
        message("a1", 0.2, parent="a", author="x"),
        message("c", 0.3, author="x"),
        message("a2", 0.4, parent="a", author="x"),
    ]
    apart = Flow(1, merges_author_runs=True, is_apart=True)
    found, counts = linked(messages, apart)
    assert found == {
        "a": (None, "a"),
        "b": ("a", "b"),
        "a1": ("a", "a1\na2"),
        "c": ("b", "c"),
    }
    assert counts["merged"] == 1


def test_a_run_of_one_author_is_one_turn_and_has_the_replies_to_each():
    messages = [
        message("q", author="x"),
        message("q2", 0.1, author="x"),
        message("a", 0.2, author="y"),
        message("a2", 0.3, parent="a", author="y"),  # to the run itself
        message("a3", 0.4, parent="q2", author="y"),  # what the run replies to
        message("b", 0.5, parent="q2", author="z"),
        message("b2", 0.6, parent="a3", author="z"),  # to something else
        message("later", 2, author="z"),
        message("who", 2.1),
        message("who2", 2.2),
    ]
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
    messages = [
        message("q", author="x"),
        message("empty", 0.1, author="y", dropped_by=0),
        message("a", 0.2, author="y"),
        message("again", 0.3, author="y", dropped_by=1),
        message("a2", 0.4, author="y"),
        message("b", 0.5, parent="empty", author="z"),
    ]
    found, counts = linked(messages, BOTH)
    expected = {"q": None, "empty": None, "a": "q", "again": None, "b": "a"}
    assert {own: parent for own, (parent, _) in found.items()} == expected
    assert found["a"][1] == "a\na2"
    assert counts["merged"] == 1


@pytest.mark.parametrize("flow", [GAP, BOTH])
def test_copies_count_once_and_others_of_an_id_are_ambiguous(flow):
    messages = [message("a", author="x"), message("b", 0.1, author="x")]
    found, counts = linked([*messages, *messages], flow)
    assert counts["duplicates"] == 2
    assert counts["recurring"] == 0
    assert linked(messages, flow)[0] == found
    other = messages[1] | {"text": "other"}
    assert linked([*messages, other], flow)[1]["recurring"] == 1


def test_equal_times_keep_the_direction_of_their_file():
    messages = [message("a"), message("b", 0.5), message("c", 0.5), message("d", 1)]
    for rows in (messages, messages[::-1]):
        assert parents(rows, GAP) == {"a": None, "b": "a", "c": "b", "d": "c"}
        assert linked(rows, GAP)[1]["ties"] == 1


def test_parents_may_be_written_as_pandas_writes_them():
    messages = [message("1", author="x"), message("2", 0.1, author="x"), message("3", 0.2, "2.0")]
    assert parents(messages, BOTH) == {"1": None, "3": "1"}
