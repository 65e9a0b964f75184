"""Rows of tables as messages, turns and pairs, read by their source alone."""

import json

import pytest

from common.tables import Dialect
from data_pipeline.sources.rules import MessageRules
from data_pipeline.sources.source import Layout
from data_pipeline.sources.tables.source import TableSource
from data_pipeline.storage.filesystem import Tap, file_crc32c
from data_pipeline.storage.inputs import InputFile

LINKED = {"id": "n", "parent": "to", "text": "said"}
TURNS = {"thread": "talk", "order": "turn", "text": "said"}
PAIRS = {"input": "question", "response": "answer"}


def source_of(layout, names, rules=MessageRules(), **more):  # noqa: B008
    return TableSource(layout, names, rules, Dialect(), **more)


def read(source, path):
    """The rows of messages, the malformed lines and the hints."""
    tap = Tap()
    batches = list(source.read(InputFile(str(path), path.stat().st_size), tap))
    assert tap.crc32c == file_crc32c(str(path))
    rows = [row for batch in batches for row in batch.messages.to_pylist()]
    malformed = [line for batch in batches for line in batch.malformed]
    groups = frozenset().union(*(batch.groups for batch in batches))
    return rows, malformed, source.hints(groups)


def test_names_may_be_dotted_and_have_times_groups_and_authors(write_table):
    names = {"id": "m.id", "parent": "m.to", "text": "b.t", "author": "u.n", "time": "at"}
    names |= {"group": "where", "thread": "m.t"}
    row = {"m": {"id": "x", "to": "y", "t": 7}, "b": {"t": "text"}, "u": {"n": "Robot"}}
    row |= {"at": "2015-01-01", "where": "shop"}
    rules = MessageRules(drop_authors_containing=("bot",))
    source = source_of(Layout.LINKED, names, rules, ids_within="all")
    (found,), _, hints = read(source, write_table("c.jsonl", [row]))
    assert found == {
        "id": "x",
        "parent": "y",
        "thread": "7",
        "group": "shop",
        "author": "Robot",
        "text": "text",
        "created": 1420070400,
        "dropped_by": 1,
    }
    assert source.rule_names == ["empty", "bot"]
    assert hints == []


@pytest.mark.parametrize(
    "text", ["", "\u00a0", "\u200b", "\ufeff \u2060", "\u00ad", "\u3164", "\ufe0f\x07"]
)
def test_a_text_without_a_visible_character_is_empty(write_table, text):
    said = [text, f"{text}.", "\U0001f382", "你"]
    path = write_table("c.jsonl", [{"n": n, "to": 1, "said": each} for n, each in enumerate(said)])
    rows, _, _ = read(source_of(Layout.LINKED_THREADS, LINKED), path)
    assert [row["dropped_by"] for row in rows] == [0, None, None, None]


def test_rows_that_are_no_messages_are_malformed(tmp_path):
    path = tmp_path / "c.jsonl"
    deep = b'{"n": ' + b"[" * 300 + b"]" * 300 + b', "said": "w"}'
    large = b'{"n": %d, "said": "w"}' % 2**64  # which JSON's readers take for a float
    bad = [b"{", b"[1]", b'{"to": 1, "said": "y"}', b'{"n": true, "said": "z"}', deep, large]
    bad += [b'{"n": 2}', b'{"n": 2, "said": ["z"]}']
    path.write_bytes(b"\n".join([b'{"n": 1, "said": "x"}', *bad, b'{"n": 3, "said": null}']))
    rows, malformed, _ = read(source_of(Layout.LINKED_THREADS, LINKED), path)
    assert [(row["id"], row["text"]) for row in rows] == [("1", "x"), ("3", "")]
    assert [line.number for line in malformed] == [*range(2, 10)]
    assert ["'n'" in line.reason for line in malformed[2:6]] == [True] * 4
    assert ["'said'" in line.reason for line in malformed[6:]] == [True] * 2
    assert all(json.loads(line.as_dead_letter())["raw"] for line in malformed)


def test_a_message_that_is_its_own_parent_or_names_none_replies_to_none(write_table):
    """As in an export of Slack, where most threads have no reply, and as a blog's comments."""
    rows = [{"n": "1.5", "to": "1.5", "said": "a"}, {"n": "2.5", "to": 0, "said": "b"}]
    path = write_table("c.jsonl", rows)
    found, _, hints = read(source_of(Layout.LINKED_THREADS, LINKED), path)
    assert [row["parent"] for row in found] == [None, "0"]
    assert ["--no_parent 0" in hint for hint in hints] == [True]
    found, _, hints = read(source_of(Layout.LINKED_THREADS, LINKED, no_parent="0"), path)
    assert [row["parent"] for row in found] == [None, None]
    assert hints == []


def test_fields_without_a_value_are_told_of(write_table):
    rows = [{"n": 1, "to": None, "said": "a", "at": 1448467200000, "nick": "x"}]
    path = write_table("a.jsonl", rows)
    for names, hinted in (
        (LINKED | {"time": "at", "author": "nick"}, ["--time_field"]),
        (LINKED | {"author": "nik", "group": "room"}, ["--author_field", "--group_field"]),
    ):
        _, _, hints = read(source_of(Layout.LINKED_THREADS, names), path)
        assert [hint.partition(":")[0] for hint in hints] == hinted


@pytest.mark.parametrize(
    ("orders", "hinted"),
    [
        (["2024-01-01", 20240102, "20240103"], 1),
        (["2024-01-01", "20240102T030405", None, "soon"], 0),
        ([1, "2", -3.5, "1e-5", None], 0),
    ],
)
def test_an_order_of_numbers_and_times_is_told_of(write_table, orders, hinted):
    rows = [{"room": 1, "at": order, "said": "a"} for order in orders]
    names = {"thread": "room", "order": "at", "text": "said"}
    _, _, hints = read(source_of(Layout.ORDERED, names), write_table("c.jsonl", rows))
    assert [hint.partition(":")[0] for hint in hints] == ["--order_field"] * hinted


def test_turns_have_an_order_of_numbers_or_times(write_table):
    orders = [10, "1.5", -1, None, "2020-01-02T10:00:05+01:00", "2020-01-02 09:00:05"]
    rows = [{"talk": 7, "turn": order, "said": "x"} for order in orders]
    found, malformed, _ = read(source_of(Layout.ORDERED, TURNS), write_table("c.jsonl", rows))
    assert [(row["thread"], row["order"]) for row in found] == [
        *(("7", "10"), ("7", "1.5"), ("7", "-1")),
        *[("7", "1577955605")] * 2,
    ]
    assert [line.number for line in malformed] == [4]


def test_each_row_is_a_pair_and_counts_under_the_first_rule_that_drops_a_text(write_table):
    rows = [
        {"question": "It starts", "answer": "Is it\nplugged in?"},
        {"question": "It starts", "answer": ""},
        {"question": "a long question", "answer": ""},
        {"question": "why", "answer": "a long, long, long answer"},
    ]
    source = source_of(Layout.ROWS, PAIRS, MessageRules(max_characters=16))
    found, _, _ = read(source, write_table("t.csv", rows))
    assert [row["dropped_by"] for row in found] == [1, 0, 0, 1]
    # The text that the rule drops is the one to show.
    assert [row["text"] for row in found][1:] == ["", "", "a long, long, long answer"]
    assert [row["id"] for row in found] == ["t.csv:2", "t.csv:4", "t.csv:5", "t.csv:6"]
    assert found[0]["thread"] == found[1]["thread"] != found[2]["thread"]
    named = source._replace(names=PAIRS | {"thread": "answer"}, same_names=True)
    path = write_table("t.jsonl", rows[:1])
    ((row,), _, _) = read(named, path)
    assert (row["id"], row["thread"]) == (f"{path}:1", "Is it\nplugged in?")
