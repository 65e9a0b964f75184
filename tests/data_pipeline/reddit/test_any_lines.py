"""Whatever the lines of a dump hold: every one is counted once, and nothing stops the job."""

import json
from collections import Counter

import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from data_pipeline.card.statistics import SUBREDDITS, add_up, describe
from data_pipeline.execution.shuffle import Block
from data_pipeline.files.malformed_lines import MalformedLine, MalformedLineError
from data_pipeline.pairing.join import Packer, pair_partition, partition_of
from data_pipeline.pairs.formats import FORMATS, make_format
from data_pipeline.pairs.shards import Sharding, stored_columns
from data_pipeline.reddit.comment import parse_comment
from data_pipeline.reddit.filters import Rules, Selection
from data_pipeline.rules.message_rules import PAPER

SELECTIONS = (
    Selection(),
    Selection(
        PAPER._replace(min_characters=2),
        min_score=1,
        subreddits=frozenset({"sub", "ß"}),
        exclude_subreddits=frozenset({"other"}),
        bots=frozenset({"someone"}),
        drop_over_18=True,
    ),
)
IDS = ("a", "b", "c", "t1_a", "t1_d", "", "t1_", "t1_t1_a", "ü")
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
NEAR_COMMENT = {
    "id": st.sampled_from(IDS),
    "parent_id": st.sampled_from([*(f"t1_{own_id}" for own_id in IDS), "t3_p", "a", ""]),
    "link_id": st.sampled_from(["t3_p", "t3_q", ""]),
    "subreddit": st.sampled_from(["sub", "Other", "ẞ", ""]),
    "author": st.sampled_from(["someone", "aBot", ""]),
    "body": st.sampled_from(["some words", "[deleted]", "x" * 350, "&#0;\x00\u2028", "@a", "1"])
    | st.text(max_size=12),
    "created_utc": values,
    "score": st.integers(-3, 3) | values,
    "over_18": st.booleans() | values,
}


@st.composite
def near_comments(draw):
    """A comment's line, of which a field or two may be missing or be anything."""
    fields = draw(st.fixed_dictionaries(NEAR_COMMENT))
    for name in draw(st.lists(st.sampled_from(list(NEAR_COMMENT)), max_size=2)):
        if draw(st.booleans()):
            fields.pop(name, None)
        else:
            fields[name] = draw(values)
    return json.dumps(fields, ensure_ascii=draw(st.booleans())).encode(errors="surrogatepass")


lines_of_dumps = st.lists(
    near_comments()
    | near_comments()
    | st.binary(max_size=30)
    | values.map(lambda value: json.dumps(value).encode()),
    max_size=25,
)


def read(lines, rules):
    """Counts, and the packed rows by partition, as `cached_input` makes them of a dump."""
    counts, packer = Counter(lines=len(lines)), Packer()
    for number, line in enumerate(lines, start=1):
        try:
            comment = parse_comment(line)
        except MalformedLineError as error:
            counts["malformed"] += 1
            letter = MalformedLine("RC", number, line, str(error)).as_dead_letter()
            assert orjson.loads(letter)["line"] == number
            assert letter.count(b"\n") == 1
        else:
            packer.add(comment, rules.that_drops(comment))
    return counts, list(packer.packed())


def join(packed, rules, *, partitions):
    """Counts and pairs of all partitions."""
    blocks = {}
    for subpartition, rows in packed:
        block = Block("RC", subpartition, len(rows), rows, compressed=False)
        blocks.setdefault(partition_of(subpartition, partitions), []).append(block)
    counts, pairs = Counter(), []
    for of_partition in blocks.values():
        for some, counted in pair_partition(
            of_partition, rule_names=rules.names, with_parents=True
        ):
            pairs += some
            counts.update(counted)
    return counts, pairs


@pytest.mark.parametrize("examples", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_lines_are_malformed_or_duplicates_or_comments(examples):
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(lines_of_dumps, st.sampled_from(SELECTIONS), st.sampled_from([1, 3, 1024]))
    @example([b'{"id":"a","parent_id":"t1_a"', b"", b"\xff"], SELECTIONS[0], 1)
    def check(lines, selection, partitions):
        every_line_is_counted_once(lines, Rules(selection), partitions=partitions)

    check()


def every_line_is_counted_once(lines, rules, *, partitions):
    counts, packed = read(lines, rules)
    joined, pairs = join(packed, rules, partitions=partitions)
    counts.update(joined)
    dropped = {name: counts[f"dropped/{name}"] for name in rules.names}
    assert counts["lines"] == counts["malformed"] + counts["duplicates"] + counts["comments"]
    assert counts["comments"] == counts["kept"] + sum(dropped.values())
    assert counts["kept"] >= counts["replies"] * (counts["duplicates"] == 0)
    assert counts["pairs"] == len(pairs) <= counts["replies"]
    for pair in pairs:
        assert pair.input_id != pair.response_id
        assert not any(text in ("", "[deleted]") for text in (pair.input, pair.response))
    described = add_up([describe(pairs)])
    assert described[SUBREDDITS].total() == len(pairs)
    orjson.dumps([described, [tuple(pair) for pair in pairs]])


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(lines_of_dumps)
def test_pairs_of_anything_can_be_stored_in_every_format(lines):
    rules = Rules(Selection())
    _, pairs = join(read(lines, rules)[1], rules, partitions=3)
    for name in FORMATS:
        form = make_format(name, names=stored_columns(1), gzipped=False)
        sharding = Sharding("thread", 0.5, 3, 2, form, 1, None, None)
        by_shard, counts = sharding.rows_by_shard(pairs)
        assert counts.total() == len(pairs)
        rows = [row for joined in by_shard.values() for row in form.split(joined)]
        assert len(rows) == len(pairs)
        form.file(sorted(rows, key=form.key))
