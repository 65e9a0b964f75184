"""Whatever the lines of a dump hold: every one is a message or a dead letter, and nothing stops."""

import json

import orjson
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from data_pipeline.sources.reddit.source import RedditSource
from data_pipeline.sources.rules import PAPER
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.lines import _split_lines
from tests.data_pipeline.sources.one_by_one import parse_comment, rule_that_drops

SOURCES = (
    RedditSource(),
    RedditSource(
        PAPER._replace(min_characters=2),
        min_score=1,
        names={
            "subreddits": frozenset({"sub", "ß"}),
            "exclude_subreddits": frozenset({"other"}),
            "bots": frozenset({"someone"}),
        },
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
    "_meta": st.sampled_from([None, {"was_deleted_later": True}, {"removal_type": "deleted"}]),
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
        _split_lines("RC", iter([b"".join(line + b"\n" for line in lines or [b""])]), Tap())
    )
    return batch


def one_by_one(lines, source):
    """Rows of messages, and the numbers of malformed lines: the reference."""
    rows, malformed = [], []
    for number, line in enumerate(lines, start=1):
        comment = parse_comment(line)
        if comment is None:
            malformed.append(number)
            continue
        rule = rule_that_drops(source, comment)
        rows.append(
            {
                "id": comment.id,
                "parent": comment.parent,
                "thread": comment.thread,
                "group": comment.subreddit,
                "author": None,
                "text": comment.text,
                "created": comment.created,
                "dropped_by": None if rule is None else source.rule_names.index(rule),
            }
        )
    return rows, malformed


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(lines_of_dumps, st.sampled_from(SOURCES))
@example([b'{"id":"a"}{"id":"b"}', b"", b'{"id":"c"}'], SOURCES[0])
@example([WHOLE + b"\r", b"\xef\xbb\xbf" + WHOLE], SOURCES[0])
@example([WHOLE + WHOLE, b"", WHOLE], SOURCES[0])
@example([b"", WHOLE + WHOLE], SOURCES[0])
@example([WHOLE[:-1] + b',"x":"\xff"}', WHOLE], SOURCES[0])
@example([WHOLE[:-1] + b',"x":"\\ud800"}', WHOLE], SOURCES[0])
@example([WHOLE[:-1] + b',"x":1e999}', WHOLE], SOURCES[0])
@example([WHOLE[:-1] + b',"x":' + b"[" * 900 + b"]" * 900 + b"}", WHOLE], SOURCES[0])
@example([WHOLE[:-1] + b',"x":' + b"[" * 9000 + b"]" * 9000 + b"}", WHOLE], SOURCES[0])
@example([WHOLE[:-1] + b',"created_utc":' + b"9" * 60 + b"}", WHOLE], SOURCES[0])
@example([WHOLE[:-1] + b',"created_utc":"0x1f"}'], SOURCES[0])
@example([WHOLE[:-1] + b',"created_utc":"1_0"}', WHOLE[:-1] + b',"score":"\xd9\xa3"}'], SOURCES[1])
def test_columns_say_what_lines_say_one_by_one(lines, source):
    batch = batch_of(lines)
    judged = source.judge(batch)
    judged.messages.validate(full=True)
    rows, malformed = one_by_one(batch.lines, source)
    assert judged.messages.to_pylist() == rows
    assert [line.number for line in judged.malformed] == malformed
    assert len(rows) + len(malformed) == len(batch.lines)
    for line in judged.malformed:
        letter = line.as_dead_letter()
        assert (orjson.loads(letter)["line"], letter.count(b"\n")) == (line.number, 1)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.text() | st.text("aZ&;#x0 é\u0903\u200d\u3000\x1c\x85@/r", max_size=40), max_size=8)
)
@example(
    ["\x1f words &amp;lt; \u2028", "&#0;&notit;", "x" * 349, "x" * 350, "\u00e9" * 70 + "1" * 30]
)
@example([f"&gt; &#{'9' * 5000}; &amp;#{'0' * 4400}62 &#62", f" a&#{'1' * 4301}"])
def test_bodies_in_columns_are_those_of_python(bodies):
    batch = batch_of([orjson.dumps(FIELDS_OF_WHOLE | {"body": body}) for body in bodies or [""]])
    for source in SOURCES:
        judged = source.judge(batch).messages.to_pylist()
        assert judged == one_by_one(batch.lines, source)[0]
