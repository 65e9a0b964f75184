"""Dumps of Reddit's comments as a source of messages, and the rules that drop comments.

The dumps hold one JSON object a line, and their fields come and go over the years; the five that
are required here have always been there. `id` has no `t1_`, but `parent_id` does; a parent that
begins with `t3_` is the submission itself, of which other dumps have the title and the text. What
columns cannot do exactly, such as HTML entities and lines that are no JSON, is done row by row.

The rules apply in order, and a comment counts for the first that holds: `deleted`, of which the
dump has no text; `deleted_later`, of which it has; the rules of every kind of message
(`sources.rules`), the paper's by default; Reddit's own, off by default.
"""

import html
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from common.text_files import VISIBLE, load_json
from data_pipeline.execution.columns import values_of
from data_pipeline.pairs.options import ALL
from data_pipeline.sources.markup import without_entities
from data_pipeline.sources.masks import are_gone, dropped_by, masks
from data_pipeline.sources.rules import PAPER, MessageRules
from data_pipeline.sources.source import MESSAGES, Flow, Layout, MessageBatch, Wording
from data_pipeline.sources.tables.values import FIRST_SECOND, LAST_SECOND, as_order, as_seconds
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import LineBatch, MalformedLine, read_line_batches

_COMMENT, _SUBMISSION = "t1_", "t3_"  # what ids begin with where they may be of both
_SPACES = "".join(character for character in map(chr, range(0x3001)) if character.isspace())
"""All characters that `str.strip` strips."""
_SHOWN = 10  # names that one warning lists


class Comment(msgspec.Struct, gc=False):
    """The fields of a line that are used, as in the dump."""

    id: str
    parent_id: str
    link_id: str  # the thread, which a reply shares with its parent
    subreddit: str
    body: str
    author: str | None = None
    created_utc: Any = None
    score: Any = None  # upvotes less downvotes when the dump was made
    meta: Any = msgspec.field(name="_meta", default=None)
    """Since November 2023, what the dump's makers found out when they asked again after 36 hours:
    https://github.com/ArthurHeitmann/arctic_shift/blob/master/file_content_explanations.md. What
    was gone by then `was_deleted_later`; with `removal_type` alone it is there again."""


class Submission(msgspec.Struct, gc=False):
    """The same of a line of a dump of submissions; an advertisement has no subreddit."""

    id: str
    title: str
    selftext: str | None = None
    subreddit: str = ""
    author: str | None = None
    created_utc: Any = None
    score: Any = None
    meta: Any = msgspec.field(name="_meta", default=None)

    def as_comment(self) -> Comment:
        """A comment without a text that replies to nothing and begins a thread."""
        name = _SUBMISSION + self.id.removeprefix(_SUBMISSION)
        about = self.author, self.created_utc, self.score, self.meta
        return Comment(name, "", name, self.subreddit, "", *about)


DECODER = msgspec.json.Decoder(Comment)
"""Three times as fast as orjson, as it skips other fields, not checking that these are UTF-8."""
_SUBMISSION_DECODER = msgspec.json.Decoder(Submission)
_OBJECTS = re.compile(rb"\n\{")
"""`bytes.count` took 2.3 times as long (64 MB of a dump, Python 3.11, 29 November 2026)."""


def _parsed(batch: LineBatch, decoder: Any) -> tuple[list[Any], list[MalformedLine]]:
    """The comments or submissions of some lines, and the lines that are none."""
    with suppress(msgspec.MsgspecError, pa.ArrowInvalid, RecursionError):
        pa.array([batch.content], pa.binary()).cast(pa.string())  # fails if it is not UTF-8
        found = decoder.decode_lines(batch.content)
        starts = batch.content.startswith(b"{") + len(_OBJECTS.findall(batch.content))
        if len(found) == starts == batch.number_of_lines:  # one object a line
            return found, []
    found, malformed = [], []
    for number, line, fault in batch.numbered():
        try:
            line.decode()
            found.append(load_json(line, decoder.decode))
        except UnicodeDecodeError as error:
            reason = fault or f"not UTF-8: {error}"
            malformed.append(MalformedLine(batch.path, number, line, reason))
        except (msgspec.MsgspecError, RecursionError) as error:
            malformed.append(MalformedLine(batch.path, number, line, fault or str(error)))
    return found, malformed


def _without_prefix(ids: Any) -> Any:
    """The ids without `t1_` at their start [rows]."""
    has_prefix = pc.starts_with(ids, _COMMENT)
    if not pc.any(has_prefix).as_py():
        return ids
    return pc.if_else(has_prefix, pc.utf8_slice_codeunits(ids, len(_COMMENT)), ids)


def _texts_of(bodies: list[str]) -> Any:
    """The bodies with HTML entities unescaped and white space stripped, large_string [rows]."""
    texts = [unescaped(body) if "&" in body else body for body in bodies]
    return pc.utf8_trim(pa.array(texts, pa.large_string()), characters=_SPACES)


def unescaped(body: str) -> str:
    """A body with HTML entities unescaped, twice, as for `&amp;nbsp;`: Markdown has entities, too.

    The body itself if a reference has thousands of digits.
    """
    try:
        return without_entities(html.unescape(body))
    except ValueError:
        return body


def _seconds_of(values: list[Any]) -> Any:
    """`as_seconds` of each value, int64 [rows]; at once if all are numbers, or text of digits."""
    kinds = set(map(type, values))
    with suppress(OverflowError, pa.ArrowInvalid):
        if kinds == {int} or (kinds == {str} and all(map(str.isdecimal, values))):
            times = pa.array(values).cast(pa.int64())
            if pc.min(times).as_py() >= FIRST_SECOND and pc.max(times).as_py() < LAST_SECOND:
                return times
    return pa.array(list(map(as_seconds, values)), pa.int64())


def score_of(value: Any) -> float | Decimal:
    """A score as dumps of different years write it: 12, 12.0 or "12"; all else is below any."""
    try:
        return value if type(value) is int else as_order(value)
    except ValueError:
        return -math.inf


def _are_absent(texts: Any) -> np.ndarray:
    """Whether each text has no visible character or stands for one that is gone [rows]."""
    # Most begin with a letter or digit, and so are there.
    absent = ~values_of(pc.ascii_is_alnum(pc.utf8_slice_codeunits(texts, 0, 1)))
    rest = texts.filter(pa.array(absent))
    absent[absent] = ~values_of(pc.match_substring_regex(rest, VISIBLE)) | are_gone(rest)
    return absent


@dataclass(frozen=True)
class RedditSource:
    """Comments of Pushshift dumps; by default the paper's rules are on and Reddit's own off."""

    messages: MessageRules = PAPER
    min_score: int | None = None
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """`RedditOptions.named`: option -> the names that it was given, in lower case."""
    submissions: frozenset[str] = frozenset()
    """Files of submissions, if any; then comments reply to them, too. Their ids begin with t3_."""

    layout = Layout.LINKED
    ids_within = ALL
    repeated = None
    flow = Flow()
    wording = Wording("Reddit", message="comment", group="subreddit", file="dump file")

    @property
    def rule_names(self) -> list[str]:
        """Names of the rules that are on, in the order in which they apply."""
        own = ["min_score"] * (self.min_score is not None) + [*self.names]
        return ["deleted", "deleted_later", *self._others.names, *own]

    @property
    def _others(self) -> MessageRules:
        """The rules on messages but for placeholders, which are always dropped."""
        return self.messages._replace(placeholders="none")

    def hints(self, groups: frozenset[str]) -> list[str]:
        """Names of subreddits and authors that were given and have no comment."""
        hints = []
        for option, names in self.names.items():
            if unmatched := sorted(name for name in names if f"{option}/{name}" not in groups):
                shown = ", ".join(map(repr, unmatched[:_SHOWN]))
                what = f"{len(unmatched):,} of these names, such as {shown}"
                hints.append(f"--{option}: no comment is of {what}")
        return hints

    def reads_parts(self, file: InputFile) -> bool:
        """True: a line is a comment."""
        return True

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the comments or the submissions of a dump."""
        judge = self.judge_submissions if file.path in self.submissions else self.judge
        return map(judge, read_line_batches(file, tap))

    def judge(self, batch: LineBatch) -> MessageBatch:
        """The comments of some lines."""
        comments, malformed = _parsed(batch, DECODER)
        texts = _texts_of([comment.body for comment in comments])
        return self._judged(comments, texts, malformed)

    def judge_submissions(self, batch: LineBatch) -> MessageBatch:
        """The submissions of some lines: title, empty line and text, unless that is too long."""
        found, malformed = _parsed(batch, _SUBMISSION_DECODER)
        titles = _texts_of([submission.title for submission in found])
        texts = _texts_of([submission.selftext or "" for submission in found])
        between = pa.scalar("\n\n", pa.large_string())
        whole = pc.binary_join_element_wise(titles, texts, between)
        is_alone = _are_absent(texts)
        if (most := self.messages.max_characters) is not None:
            is_alone |= values_of(pc.greater(pc.utf8_length(whole), most))
        texts = pc.if_else(pa.array(is_alone), titles, whole)
        return self._judged([submission.as_comment() for submission in found], texts, malformed)

    def _judged(
        self, comments: list[Comment], texts: Any, malformed: list[MalformedLine]
    ) -> MessageBatch:
        authors = pa.array([comment.author or "" for comment in comments], pa.string())
        subreddits = pa.array([comment.subreddit for comment in comments], pa.string())
        metas = [comment.meta for comment in comments]
        went = [type(meta) is dict and meta.get("was_deleted_later") is True for meta in metas]
        rules = [_are_absent(texts), np.array(went, bool)]
        rules += masks(self._others, texts, authors).values()
        if (least := self.min_score) is not None:
            rules.append(np.array([score_of(comment.score) < least for comment in comments], bool))
        groups: set[str] = set()
        for option, wanted in self.names.items():
            encoded = (authors if option == "bots" else subreddits).dictionary_encode()
            known = [name.lower() for name in encoded.dictionary.to_pylist()]
            groups |= {f"{option}/{name}" for name in wanted.intersection(known)}
            are_named = np.array([name in wanted for name in known], bool)
            are_dropped = ~are_named if option == "subreddits" else are_named
            rules.append(are_dropped[encoded.indices.to_numpy()])
        ids = pa.array([comment.id for comment in comments], pa.string())
        parents = pa.array([comment.parent_id for comment in comments], pa.string())
        is_reply = pc.starts_with(parents, _COMMENT)
        if self.submissions:
            is_reply = pc.or_(is_reply, pc.starts_with(parents, _SUBMISSION))
        columns = {
            "id": _without_prefix(ids),
            "parent": pc.if_else(is_reply, _without_prefix(parents), pa.scalar(None, pa.string())),
            "thread": pa.array([comment.link_id for comment in comments], pa.string()),
            "group": subreddits,
            "author": pa.nulls(len(comments), pa.string()),
            "text": texts,
            "created": _seconds_of([comment.created_utc for comment in comments]),
            "dropped_by": dropped_by(rules),
        }
        messages = pa.RecordBatch.from_pydict(columns, schema=MESSAGES)
        return MessageBatch(messages, malformed, frozenset(groups))
