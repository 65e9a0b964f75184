"""Reddit's comment dumps as a source of messages, and the rules that drop comments.

The rules apply in a fixed order, and a comment counts for the first that holds. Those that are gone
come first: `deleted`, of which the dump has no text, and `deleted_later`, of which it has; then the
rules of every kind of message (`sources.rules`), which are the paper's by default; then Reddit's
own, which are off by default.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from common.text_files import VISIBLE
from data_pipeline.execution.columns import values_of
from data_pipeline.pairs.options import ALL
from data_pipeline.sources.masks import are_gone, dropped_by, masks
from data_pipeline.sources.reddit.comments import (
    DECODER,
    SUBMISSION_DECODER,
    SUBMISSION_PREFIX,
    Comment,
    parse_batch,
    seconds_of,
    texts_of,
    was_deleted_later,
    whole_number,
    without_prefix,
)
from data_pipeline.sources.rules import PAPER, MessageRules
from data_pipeline.sources.source import MESSAGES, Flow, Layout, MessageBatch, Wording
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import LineBatch, MalformedLine, read_line_batches

_SHOWN = 10
"""Names that one warning lists."""


class Selection(NamedTuple):
    """The settings of the rules; by default the paper's are on and Reddit's own off."""

    messages: MessageRules = PAPER
    min_score: int | None = None
    subreddits: frozenset[str] = frozenset()
    """Lower case; empty for all."""
    exclude_subreddits: frozenset[str] = frozenset()
    bots: frozenset[str] = frozenset()
    """Authors in lower case, besides those that contain "bot"."""

    def describe(self) -> dict[str, Any]:
        """As JSON, the same for the same selection."""
        return self.messages._replace(placeholders="reddit").describe() | {
            "min_score": self.min_score,
            "subreddits": sorted(self.subreddits),
            "exclude_subreddits": sorted(self.exclude_subreddits),
            "bots": sorted(self.bots),
        }

    @property
    def rule_names(self) -> list[str]:
        """Names of the rules that are on, in the order in which they apply."""
        own = self._asdict()
        del own["messages"]
        are_on = [name for name, setting in own.items() if setting not in (None, frozenset())]
        return ["deleted", "deleted_later", *self._others.names, *are_on]

    @property
    def _others(self) -> MessageRules:
        """The rules on messages but for placeholders, which are always dropped."""
        return self.messages._replace(placeholders="none")

    @property
    def named(self) -> dict[str, frozenset[str]]:
        """Option -> the names that it was given, of those that were."""
        options = ("subreddits", "exclude_subreddits", "bots")
        return {option: names for option in options if (names := getattr(self, option))}

    def masks(self, comments: list[Comment], texts: Any, subreddits: Any) -> Iterator[np.ndarray]:
        """Whether each rule drops each comment: booleans [rows], in the order of `rule_names`.

        `texts` are unescaped and stripped, large_string [rows], `subreddits` string [rows].
        """
        yield are_absent(texts)
        about = [comment.meta for comment in comments]
        yield np.array([each is not None and was_deleted_later(each) for each in about], bool)
        authors = pa.array([comment.author or "" for comment in comments], pa.string())
        yield from masks(self._others, texts, authors).values()
        if self.min_score is not None:
            scores = [whole_number(comment.score) for comment in comments]
            # Where the dump has no score, it is less than any.
            known = [-math.inf if score is None else score for score in scores]
            yield np.array([score < self.min_score for score in known], bool)
        if self.subreddits:
            yield ~_are_in(subreddits, self.subreddits)
        if self.exclude_subreddits:
            yield _are_in(subreddits, self.exclude_subreddits)
        if self.bots:
            yield _are_in(authors, self.bots)


def are_absent(texts: Any) -> np.ndarray:
    """Whether each text has no visible character or stands for one that is gone [rows]."""
    # Most begin with a letter or digit, and so are there.
    absent = ~values_of(pc.ascii_is_alnum(pc.utf8_slice_codeunits(texts, 0, 1)))
    rest = texts.filter(pa.array(absent))
    absent[absent] = ~values_of(pc.match_substring_regex(rest, VISIBLE)) | are_gone(rest)
    return absent


def _are_in(names: Any, accepted: frozenset[str]) -> np.ndarray:
    """Whether the lower case of each name is among the accepted [rows]."""
    encoded = names.dictionary_encode()
    is_accepted = [name.lower() in accepted for name in encoded.dictionary.to_pylist()]
    return np.array(is_accepted, bool)[encoded.indices.to_numpy()]


@dataclass(frozen=True)
class RedditSource:
    """Comments of Pushshift dumps, judged by the rules of a selection."""

    selection: Selection
    submissions: frozenset[str] = frozenset()
    """Files of submissions. If there are any, comments reply to them, too: their ids, and those of
    such parents, begin with `t3_`."""

    layout = Layout.LINKED
    ids_within = ALL
    repeated = None
    flow = Flow()
    wording = Wording("Reddit", message="comment", group="subreddit", file="dump file")

    @property
    def rule_names(self) -> list[str]:
        """Those of the selection."""
        return self.selection.rule_names

    def hints(self, groups: frozenset[str]) -> list[str]:
        """Names of subreddits and authors that were given and have no comment."""
        hints = []
        for option, names in self.selection.named.items():
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
        comments, malformed = parse_batch(batch, DECODER)
        texts = texts_of([comment.body for comment in comments])
        return self._judged(comments, texts, malformed)

    def judge_submissions(self, batch: LineBatch) -> MessageBatch:
        """The submissions of some lines: title, empty line and text.

        The title alone where there is no text, or if both are longer than a message may be.
        """
        found, malformed = parse_batch(batch, SUBMISSION_DECODER)
        titles = texts_of([submission.title for submission in found])
        texts = texts_of([submission.selftext or "" for submission in found])
        between = pa.scalar("\n\n", pa.large_string())
        whole = pc.binary_join_element_wise(titles, texts, between)
        is_alone = are_absent(texts)
        if (most := self.selection.messages.max_characters) is not None:
            is_alone |= values_of(pc.greater(pc.utf8_length(whole), most))
        texts = pc.if_else(pa.array(is_alone), titles, whole)
        return self._judged([submission.as_comment() for submission in found], texts, malformed)

    def _judged(
        self, comments: list[Comment], texts: Any, malformed: list[MalformedLine]
    ) -> MessageBatch:
        names = [comment.subreddit for comment in comments]
        groups: set[str] = set()
        for option, wanted in self.selection.named.items():
            here = [comment.author or "" for comment in comments] if option == "bots" else names
            found = wanted.intersection(map(str.lower, set(here)))
            groups |= {f"{option}/{name}" for name in found}
        subreddits = pa.array(names, pa.string())
        rules = list(self.selection.masks(comments, texts, subreddits))
        ids = pa.array([comment.id for comment in comments], pa.string())
        parents = pa.array([comment.parent_id for comment in comments], pa.string())
        parents, is_reply = without_prefix(parents)
        if self.submissions:
            is_reply = pc.or_(is_reply, pc.starts_with(parents, SUBMISSION_PREFIX))
        columns = {
            "id": without_prefix(ids)[0],
            "parent": pc.if_else(is_reply, parents, pa.scalar(None, pa.string())),
            "thread": pa.array([comment.link_id for comment in comments], pa.string()),
            "group": subreddits,
            "author": pa.nulls(len(comments), pa.string()),
            "text": texts,
            "created": seconds_of([comment.created_utc for comment in comments]),
            "dropped_by": dropped_by(rules, rows=len(comments)),
        }
        messages = pa.RecordBatch.from_pydict(columns, schema=MESSAGES)
        lines = len(comments) + len(malformed)
        return MessageBatch(messages, lines, malformed, frozenset(groups))
