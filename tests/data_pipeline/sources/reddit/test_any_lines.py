"""Whatever the lines of a dump hold: every one is counted once, and nothing stops the job."""

import json
from collections import Counter

import orjson
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from data_pipeline.card.statistics import SUBREDDITS, describe
from data_pipeline.execution.exchange import Exchange, divided
from data_pipeline.execution.report import add_up
from data_pipeline.job.join import OWN_MESSAGES, REPLIES, by_id, by_parent, pair_partition
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.pairs.formats import FORMATS, make_format
from data_pipeline.pairs.schema import stored_columns
from data_pipeline.pairs.shards import Sharding
from data_pipeline.sources.reddit.comment import parse_comment, seconds
from data_pipeline.sources.reddit.filters import Rules, Selection
from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.sources.rules.message_rules import PAPER
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import _split_lines
from data_pipeline.storage.malformed_lines import MalformedLineError

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


FIELDS_OF_WHOLE = {
    "id": "w",
    "parent_id": "t1_a",
    "link_id": "t3_p",
    "subreddit": "sub",
    "author": "someone",
    "body": "some words",
}
WHOLE = orjson.dumps(FIELDS_OF_WHOLE)


def batch_of(lines):
    """The lines as a file's reader hands them on; a line feed in one makes two."""
    (batch,) = list(
        _split_lines(InputFile("RC", 1), iter([b"".join(line + b"\n" for line in lines or [b""])]))
    )
    return batch


def one_by_one(batch, rules):
    """Rows of messages, and (number, reason) of malformed lines: the reference."""
    rows, malformed = [], []
    for number, line in enumerate(batch.lines, start=1):
        try:
            comment = parse_comment(line)
        except MalformedLineError as error:
            malformed.append((number, line, str(error)))
        else:
            rows.append(
                {
                    "id": comment.id,
                    "parent": comment.parent_comment,
                    "thread": comment.thread,
                    "group": comment.subreddit,
                    "text": comment.text,
                    "created": seconds(comment.created),
                    "dropped_by": rules.that_drops(comment),
                }
            )
    return rows, malformed


def read(batch, source, *, partitions):
    """Counts, and blocks of messages by partition, as the job makes them of a dump."""
    judged, found = source.judge(batch), {}
    assert judged.lines == len(batch.lines)
    counts = Counter(lines=judged.lines, malformed=len(judged.malformed))
    for line in judged.malformed:
        letter = line.as_dead_letter()
        assert orjson.loads(letter)["line"] == line.number
        assert letter.count(b"\n") == 1
    places = pa.array(range(judged.messages.num_rows), pa.int64())
    messages = without_dropped_texts(judged.messages).append_column(POSITION, places)
    for name, key_of in ((OWN_MESSAGES, by_id), (REPLIES, by_parent)):
        rows, keys = key_of(messages, partitions=partitions)
        for partition, block in Exchange("", inline=True).blocks(divided(rows, [keys])):
            blocks = found.setdefault(partition, {OWN_MESSAGES: [], REPLIES: []})
            blocks[name].append(block)
    return counts, list(found.values())


def join(packed, rule_names):
    """Counts and batches of pairs of all partitions."""
    counts, batches = Counter(), []
    for blocks in packed:
        for pairs, counted in pair_partition(blocks, rule_names=rule_names, context_turns=1):
            pairs.validate(full=True)
            batches.append(pairs)
            counts.update(counted)
    return counts, batches


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
        every_line_is_counted_once(lines, selection, partitions=partitions)

    check()


@pytest.mark.parametrize("examples", [150, pytest.param(2000, marks=pytest.mark.slow)])
def test_columns_say_what_lines_say_one_by_one(examples):
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(lines_of_dumps, st.sampled_from(SELECTIONS))
    @example([b'{"id":"a"}{"id":"b"}', b"", b'{"id":"c"}'], SELECTIONS[0])
    @example([WHOLE + b"\r", b"\xef\xbb\xbf" + WHOLE], SELECTIONS[0])
    @example([WHOLE + WHOLE, b"", WHOLE], SELECTIONS[0])
    @example([WHOLE[:-1] + b',"x":"\xff"}', WHOLE], SELECTIONS[0])
    @example([WHOLE[:-1] + b',"x":"\\ud800"}', WHOLE], SELECTIONS[0])
    @example([WHOLE[:-1] + b',"x":1e999}', WHOLE], SELECTIONS[0])
    @example([WHOLE[:-1] + b',"id":1}', WHOLE[:-1] + b',"id":1,"id":"z"}'], SELECTIONS[0])
    @example([WHOLE[:-1] + b',"x":' + b"[" * 900 + b"]" * 900 + b"}", WHOLE], SELECTIONS[0])
    @example([WHOLE[:-1] + b',"x":' + b"[" * 9000 + b"]" * 9000 + b"}", WHOLE], SELECTIONS[0])
    @example([WHOLE[:-1] + b',"created_utc":' + b"9" * 60 + b"}", WHOLE], SELECTIONS[0])
    @example([WHOLE[:-1] + b',"created_utc":"0x1f"}'], SELECTIONS[0])
    @example(
        [WHOLE[:-1] + b',"created_utc":"1_0"}', WHOLE[:-1] + b',"score":"\xd9\xa3"}'], SELECTIONS[1]
    )
    def check(lines, selection):
        batch = batch_of(lines)
        judged = RedditSource(selection).judge(batch)
        rows, malformed = one_by_one(batch, Rules(selection))
        assert judged.messages.to_pylist() == rows
        found = [(line.number, line.line, line.reason) for line in judged.malformed]
        assert found == malformed
        judged.messages.validate(full=True)

    check()


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.text() | st.text("aZ&;#x0 é\u0903\u200d\u3000\x1c\x85@/r", max_size=40), max_size=8)
)
@example(
    ["\x1f words &amp;lt; \u2028", "&#0;&notit;", "x" * 349, "x" * 350, "\u00e9" * 70 + "1" * 30]
)
@example([f"&gt; &#{'9' * 5000}; &amp;#{'0' * 4400}62 &#62", f" a&#{'1' * 4301}"])
def test_bodies_in_columns_are_those_of_python(bodies):
    lines = [orjson.dumps(FIELDS_OF_WHOLE | {"body": body}) for body in bodies]
    batch = batch_of(lines or [b"{}"])
    for selection in SELECTIONS:
        judged = RedditSource(selection).judge(batch).messages.to_pylist()
        assert judged == one_by_one(batch, Rules(selection))[0]


def test_a_reference_of_too_many_digits_stays():
    huge = f"&#{'9' * 4301}"
    line = orjson.dumps(FIELDS_OF_WHOLE | {"body": f"&gt;{huge}; &#{'0' * 4298}62; {huge} &lt;"})
    assert parse_comment(line).text == f">{huge}; > {huge} <"


def every_line_is_counted_once(lines, selection, *, partitions):
    source = RedditSource(selection)
    counts, packed = read(batch_of(lines), source, partitions=partitions)
    joined, batches = join(packed, source.rule_names)
    counts.update(joined)
    dropped = {name: counts[f"dropped/{name}"] for name in source.rule_names}
    assert counts["lines"] == counts["malformed"] + counts["duplicates"] + counts["comments"]
    assert counts["comments"] == counts["kept"] + sum(dropped.values())
    assert counts["kept"] >= counts["replies"] * (counts["duplicates"] == 0)
    pairs = [pair for batch in batches for pair in batch.to_pylist()]
    assert counts["pairs"] == len(pairs) <= counts["replies"]
    for pair in pairs:
        assert pair["input_id"] != pair["response_id"]
        assert not any(text in ("", "[deleted]") for text in (pair["input"], pair["response"]))
    described = add_up(map(describe, batches))
    assert described.get(SUBREDDITS, Counter()).total() == len(pairs)
    orjson.dumps(described)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(lines_of_dumps)
def test_pairs_of_anything_can_be_stored_in_every_format(lines):
    source = RedditSource(Selection())
    _, batches = join(read(batch_of(lines), source, partitions=3)[1], source.rule_names)
    for name in FORMATS:
        form = make_format(name, names=stored_columns(1), gzipped=False)
        sharding = Sharding("thread", 0.5, 3, 2, form, 1, None)
        for pairs in batches:
            rows, shards = sharding.rows(pairs)
            assert len(shards) == rows.num_rows == pairs.num_rows
            form.file(b"".join(rows.column("row").to_pylist()))
