"""The join: who answers whom, each id once."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from data_pipeline.execution.exchange import Exchange, divided
from data_pipeline.execution.report import COUNTS
from data_pipeline.job import join
from data_pipeline.job.join import OWN_MESSAGES, OWN_SCHEMA, REPLIES, REPLIES_SCHEMA
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.sources.source import MESSAGES

NAMES = RedditSource().rule_names


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


@pytest.fixture
def pair_partition(tmp_path):
    """A function of blocks: all pairs, the sizes of their batches, and the counts."""

    def run(blocks):
        about = {"rule_names": NAMES, "context_turns": 0, "files": None, "folder": str(tmp_path)}
        *batches, tally = join.pair_partition((0, blocks), **about)
        pairs = [row for batch in batches for row in batch.to_pylist()]
        return pairs, [batch.num_rows for batch in batches], +tally.value[COUNTS]

    return run


def comment(own_id, parent=None, *, text=None, thread="t", created=None):
    return {
        "id": own_id,
        "parent": parent,
        "thread": thread,
        "group": "sub",
        "text": text or f"text of {own_id}",
        "created": created,
    }


def one_partition(*batches):
    """All comments in one partition."""
    return blocks_of(*batches)[0]


def messages(comments):
    """A batch of (comment, name of the rule that drops it, or None)."""
    rows = [
        row | {"dropped_by": None if rule is None else NAMES.index(rule)} for row, rule in comments
    ]
    return pa.RecordBatch.from_pylist(rows, schema=MESSAGES)


def ids(pairs):
    return sorted((pair["input_id"], pair["response_id"]) for pair in pairs)


@pytest.mark.parametrize(
    ("rows", "pairs", "counts"),
    [
        # Dropped ones neither ask nor answer, but are counted.
        (["c1", "c2 c1 bot", "c3 c2"], [], {"dropped/bot": 1, "kept": 2, "replies": 1}),
        # A first line that is dropped drops the later copy, too.
        (["c1", "c2 c1 deleted", "c2 c1"], [], {"duplicates": 1, "dropped/deleted": 1, "kept": 1}),
        # Nothing answers itself or what is not there.
        (["c1 c1", "c2 gone"], [], {"replies": 2, "pairs": 0}),
        # Copies that disagree on their parent.
        (["a", "b", "c a", "c b", "c a"], [("a", "c"), ("b", "c")], {"duplicates": 2}),
    ],
)
def test_the_pairs_and_counts_of_any_partitions(pair_partition, rows, pairs, counts):
    for partitions in (1, 7, 64):
        some = [[*row.split(), None, None][:3] for row in rows]
        batch = 1, [(comment(own, parent), rule) for own, parent, rule in some]
        found = [pair_partition(each) for each in blocks_of(batch, partitions=partitions).values()]
        assert ids(pair for each, _, _ in found for pair in each) == pairs
        total = sum((counted for *_, counted in found), Counter())
        assert {name: total[name] for name in counts} == counts


def test_of_two_lines_with_one_id_the_first_by_path_and_line_counts(pair_partition):
    parent = (1, [(comment("c1"), None)])
    late = (90, [(comment("c2", "c1", text="late"), None)])
    early = (9, [(comment("c2", "c1", text="early"), None)])
    for batches in ([parent, late, early], [early, late, parent]):
        pairs, _, counts = pair_partition(one_partition(*batches))
        assert [pair["response"] for pair in pairs] == ["early"]
        assert (counts["duplicates"], counts["comments"]) == (1, 2)


def test_a_reply_finds_its_parent_in_another_file_and_another_thread(pair_partition):
    pairs, _, counts = pair_partition(
        one_partition(
            (90, [(comment("c1", thread="x"), None)]),
            (1, [(comment("c2", "c1", thread="y"), None), (comment("c3", "c2"), None)]),
        )
    )
    assert ids(pairs) == [("c1", "c2"), ("c2", "c3")]
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


def test_a_comment_with_many_replies_is_handed_on_piece_by_piece(pair_partition, monkeypatch):
    monkeypatch.setattr(join, "PAIRS_A_BATCH", 10)
    replies = [(comment(f"r{n}", "c1"), None) for n in range(95)]
    batches = [(2 * n, [(comment("c1"), None), reply]) for n, reply in enumerate(replies)]
    _, sizes, counts = pair_partition(one_partition(*batches))
    assert sizes == [*[10] * 9, 5]
    assert counts == {"comments": 96, "kept": 96, "duplicates": 94, "replies": 95, "pairs": 95}
