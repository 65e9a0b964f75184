"""Threads of messages that have none: what replies connect."""

import pyarrow as pa

from data_pipeline.job.threads import connect, links_of, with_threads
from data_pipeline.pairs.schema import pairs_schema
from data_pipeline.sources.source import MESSAGES


def pairs(*links):
    rows = [
        {"input_id": one, "response_id": other, "input": "i", "response": "r", "subreddit": ""}
        for one, other in links
    ]
    return pa.RecordBatch.from_pylist(rows, schema=pairs_schema(0))


def messages(batch, dropped=()):
    """The replies of the pairs, and dropped ones."""
    rows = [
        {"id": pair["response_id"], "parent": pair["input_id"], "text": "r"}
        for pair in batch.to_pylist()
    ]
    rows += [{"id": own, "parent": to, "text": "r", "dropped_by": 0} for to, own in dropped]
    return pa.RecordBatch.from_pylist(rows, schema=MESSAGES)


def threads(*batches, dropped=()):
    known = connect(links_of(messages(batch, dropped)) for batch in batches)
    return [with_threads(batch, known).column("thread_id").to_pylist() for batch in batches]


def test_chains_branches_and_cycles_are_one_thread_over_batches():
    one, other = threads(
        pairs(("a", "b"), ("x", "y"), ("c", "d"), ("p", "q")),
        pairs(("b", "c"), ("a", "e"), ("y", "x"), ("q", "p")),
    )
    assert one[0] == one[2] == other[0] == other[1]
    assert one[1] == other[2]
    assert one[3] == other[3]
    assert len({one[0], one[1], one[3]}) == 3
    assert all(len(thread) == 16 for thread in one)


def test_threads_do_not_depend_on_the_order_of_the_pairs():
    links = [("a", "b"), ("b", "c"), ("k", "l")]
    assert threads(pairs()) == [[]]
    (forward,), (backward,) = threads(pairs(*links)), threads(pairs(*reversed(links)))
    assert forward == backward[::-1]


def test_dropped_messages_connect_the_replies_around_them():
    links = pairs(("a", "b"), ("c", "d"), ("x", "y"))
    ((one, other, third),) = threads(links, dropped=[("b", "c")])
    assert one == other != third
    ((one, other, _),) = threads(links)
    assert one != other
