"""The join: who answers whom, each id once."""

from collections import Counter

import numpy as np
import pyarrow as pa

from data_pipeline.execution.exchange import Exchange, divided
from data_pipeline.job import join
from data_pipeline.job.join import OWN_MESSAGES, OWN_SCHEMA, REPLIES, REPLIES_SCHEMA
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.sources.reddit.source import Selection
from data_pipeline.sources.source import MESSAGES

NAMES = Selection().rule_names


def blocks_of(*batches, partitions=1):
    """Partition -> blocks; a batch is (position, [(comment, name of a rule), ...])."""
    exchange, found = Exchange("", inline=True), {}
    for position, comments in batches:
        places = np.arange(position, position + len(comments))
        batch = without_dropped_texts(messages(comments)).append_column(POSITION, pa.array(places))
        for name, ids, schema in (
            (OWN_MESSAGES, "id", OWN_SCHEMA),
            (REPLIES, "parent", REPLIES_SCHEMA),
        ):
            some = batch.select(schema.names)
            rows, keys = join.by_partition(some, ids=ids, partitions=partitions)
            for partition, block in exchange.blocks(divided(rows, keys)):
                blocks = found.setdefault(partition, {OWN_MESSAGES: [], REPLIES: []})
                blocks[name].append(block)
    return found


def pair_partition(blocks):
    """All pairs and counts of one partition at once."""
    pairs, counts = [], Counter()
    for some, counted in join.pair_partition(blocks, rule_names=NAMES, context_turns=0):
        pairs += some.to_pylist()
        counts.update(counted)
    return pairs, +counts


def one_partition(*batches):
    """All comments in one partition."""
    return blocks_of(*batches)[0]


def comment(own_id, parent=None, *, text=None, thread="t", created=None):
    return {
        "id": own_id,
        "parent": parent,
        "thread": thread,
        "group": "sub",
        "text": text or f"text of {own_id}",
        "created": created,
    }


def messages(comments):
    """A batch of (comment, name of the rule that drops it, or None)."""
    rows = [
        row | {"dropped_by": None if rule is None else NAMES.index(rule)} for row, rule in comments
    ]
    return pa.RecordBatch.from_pylist(rows, schema=MESSAGES)


def ids(pairs):
    return [(pair["input_id"], pair["response_id"]) for pair in pairs]


def test_a_reply_finds_its_parent_in_another_file_and_another_thread():
    pairs, counts = pair_partition(
        one_partition(
            (90, [(comment("c1", thread="x"), None)]),
            (1, [(comment("c2", "c1", thread="y"), None), (comment("c3", "c2"), None)]),
        )
    )
    assert sorted(ids(pairs)) == [("c1", "c2"), ("c2", "c3")]
    assert min(pairs, key=lambda pair: pair["input_id"]) == {
        "input": "text of c1",
        "response": "text of c2",
        "input_id": "c1",
        "response_id": "c2",
        "thread_id": "y",
        "subreddit": "sub",
        "created": None,
        "own_reply": None,
        "before_input": None,
    }
    assert counts == {"comments": 3, "kept": 3, "replies": 2, "pairs": 2}


def test_dropped_comments_neither_ask_nor_answer_but_are_counted():
    rows = [(comment("c1"), None), (comment("c2", "c1"), "bot"), (comment("c3", "c2"), None)]
    pairs, counts = pair_partition(one_partition((1, rows)))
    assert pairs == []
    assert counts["dropped/bot"] == 1
    assert (counts["comments"], counts["kept"], counts["replies"]) == (3, 2, 1)


def test_of_two_lines_with_one_id_the_first_by_path_and_line_counts():
    parent = (1, [(comment("c1"), None)])
    late = (90, [(comment("c2", "c1", text="late"), None)])
    early = (9, [(comment("c2", "c1", text="early"), None)])
    for batches in ([parent, late, early], [early, late, parent]):
        pairs, counts = pair_partition(one_partition(*batches))
        assert [pair["response"] for pair in pairs] == ["early"]
        assert counts["duplicates"] == 1
        assert counts["comments"] == 2


def test_a_first_line_that_is_dropped_drops_the_later_copy_too():
    rows = [(comment("c1"), None), (comment("c2", "c1"), "deleted"), (comment("c2", "c1"), None)]
    pairs, counts = pair_partition(one_partition((1, rows)))
    assert pairs == []
    assert (counts["duplicates"], counts["dropped/deleted"], counts["kept"]) == (1, 1, 1)


def test_nothing_answers_itself_and_a_missing_parent_gives_no_pair():
    pairs, counts = pair_partition(
        one_partition((1, [(comment("c1", "c1"), None), (comment("c2", "gone"), None)]))
    )
    assert pairs == []
    assert (counts["replies"], counts["pairs"]) == (2, 0)


def test_parent_and_reply_meet_in_one_of_many_partitions():
    rows = []
    for number in range(100):
        rows += [(comment(f"p{number}"), None), (comment(f"r{number}", f"p{number}"), None)]
    partitions = blocks_of((1, rows), partitions=64)
    assert len(partitions) > 32
    found = [pair for blocks in partitions.values() for pair in pair_partition(blocks)[0]]
    assert sorted(ids(found)) == sorted((f"p{n}", f"r{n}") for n in range(100))


def test_copies_that_disagree_on_their_parent_give_the_same_pairs_in_any_partitions():
    rows = [comment("a"), comment("b"), comment("c", "a"), comment("c", "b"), comment("c", "a")]
    for partitions in (1, 7, 64):
        batch = (1, [(row, None) for row in rows])
        found = [pair_partition(some) for some in blocks_of(batch, partitions=partitions).values()]
        pairs = [pair for some, _ in found for pair in some]
        assert sorted(ids(pairs)) == [("a", "c"), ("b", "c")]
        assert sum(counts["duplicates"] for _, counts in found) == 2


def test_a_thread_of_any_size_is_spread_over_all_partitions():
    rows = pa.RecordBatch.from_pydict({"id": [f"c{n}" for n in range(16_000)]})
    _, partitions = join.by_partition(rows, ids="id", partitions=16)
    sizes = Counter(partitions.tolist())
    assert len(sizes) == 16
    assert max(sizes.values()) < 1200  # 1000 each, but for chance


def test_a_comment_with_many_replies_is_handed_on_piece_by_piece(monkeypatch):
    monkeypatch.setattr(join, "PAIRS_A_BATCH", 10)
    replies = [(comment(f"r{n}", "c1"), None) for n in range(95)]
    batches = [(2 * n, [(comment("c1"), None), reply]) for n, reply in enumerate(replies)]
    blocks = one_partition(*batches)
    pieces = list(join.pair_partition(blocks, rule_names=NAMES, context_turns=0))
    assert [pairs.num_rows for pairs, _ in pieces] == [0, *[10] * 9, 5]
    _, counts = pair_partition(blocks)
    assert counts == {"comments": 96, "kept": 96, "duplicates": 94, "replies": 95, "pairs": 95}


def test_a_long_text_with_many_replies_is_handed_on_piece_by_piece():
    rows = [(comment("c1", text="x" * (1 << 20)), None)]
    rows += [(comment(f"r{n}", "c1"), None) for n in range(40)]
    found = join.pair_partition(one_partition((1, rows)), rule_names=NAMES, context_turns=0)
    sizes = [pairs.num_rows for pairs, _ in found]
    assert sizes == [0, 16, 16, 8]


def test_a_pair_has_the_replys_time_and_the_parents_parent_and_room_for_turns():
    rows = [comment("c2", "c1", created=4), comment("c3", "c2", created=9), comment("c1")]
    found = join.pair_partition(
        one_partition((1, [(row, None) for row in rows])), rule_names=NAMES, context_turns=1
    )
    pairs = {pair["response_id"]: pair for some, _ in found for pair in some.to_pylist()}
    assert (pairs["c3"]["created"], pairs["c2"]["created"]) == (9, 4)
    assert [pairs[reply]["before_input"] for reply in ("c3", "c2")] == ["c1", None]
    assert (pairs["c3"]["context/0"], pairs["c3"]["context_id/0"]) == (None, None)
