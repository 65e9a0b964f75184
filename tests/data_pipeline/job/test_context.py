"""The turns before an input, one at a time."""

import pyarrow as pa

from data_pipeline.execution.exchange import Exchange
from data_pipeline.job import context
from data_pipeline.job.context import add_turn
from data_pipeline.job.join import OWN_MESSAGES, OWN_SCHEMA, OwnMessages
from data_pipeline.pairs.schema import pairs_schema

INLINE = Exchange("", inline=True)


def messages(*dropped, **parents):
    """Kept messages by id, with the ids that they reply to, and dropped ones."""
    rows = [
        {"id": name, "parent": parent, "text": f"text of {name}"}
        for name, parent in parents.items()
    ]
    rows += [{"id": name, "dropped_by": 3} for name in dropped]
    batch = pa.RecordBatch.from_pylist(rows, schema=OWN_SCHEMA)
    return OwnMessages(blocks_of(batch))


def blocks_of(*batches):
    return [block for _, block in INLINE.blocks((0, batch) for batch in batches)]


def turns(before, own, count):
    """The context and the next id of a pair of c2 and c3 after some turns."""
    pair = {"input": "q", "response": "a", "input_id": "c2", "response_id": "c3"}
    pair |= {"thread_id": "t", "subreddit": "s", "before_input": before}
    pairs = pa.RecordBatch.from_pylist([pair], schema=pairs_schema(count))
    for turn in range(count):
        (pairs,) = add_turn(pairs, own, turn=turn)
    (row,) = pairs.to_pylist()
    texts = [row[f"context/{turn}"] for turn in range(count)]
    found = [text for text in texts if text is not None]
    assert texts == found + [None] * (count - len(found))
    return found, row["before_input"]


def test_each_turn_adds_what_the_last_one_replies_to():
    own = messages(c1="c0", c0="b9", b9=None)
    assert turns("c1", own, 2) == (["text of c1", "text of c0"], "b9")
    assert turns("c1", own, 7) == (["text of c1", "text of c0", "text of b9"], None)


def test_a_chain_ends_where_a_message_is_missing_or_was_dropped():
    own = messages("c5", c1="gone")
    assert turns("c1", own, 3) == (["text of c1"], None)
    assert turns("c5", own, 3) == ([], None)
    assert turns(None, own, 3) == ([], None)


def test_a_chain_that_closes_a_circle_ends():
    assert turns("c1", messages(c1="c0", c0="c1"), 9)[0] == ["text of c1", "text of c0"]
    # The input's parent answers the response itself.
    assert turns("c3", messages(c3="c2"), 9)[0] == []
    assert turns("c1", messages(c1="c1"), 9)[0] == ["text of c1"]


def test_the_pairs_of_a_partition_are_in_memory_a_part_at_a_time(monkeypatch):
    monkeypatch.setattr(context, "_WAITING_BYTES", 1)
    schema = pairs_schema(1)
    pairs = [
        pa.RecordBatch.from_pylist([{"response_id": name, "before_input": "c1"}], schema=schema)
        for name in ("c3", "c4")
    ]
    own = pa.RecordBatch.from_pylist([{"id": "c1", "text": "q"}], schema=OWN_SCHEMA)
    element = 0, {context._WAITING: blocks_of(*pairs), OWN_MESSAGES: blocks_of(own)}
    found = [batch.to_pylist() for batch in context._add_turn(element, turn=0, schema=schema)]
    assert sorted((row["response_id"], row["context/0"]) for (row,) in found) == [
        ("c3", "q"),
        ("c4", "q"),
    ]
