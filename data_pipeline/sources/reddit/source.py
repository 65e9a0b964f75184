"""Reddit's comment dumps as a source of messages."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.sources.reddit.columns import parse_batch, seconds_of, texts_of, without_prefix
from data_pipeline.sources.reddit.comment import FIELDS, Fields
from data_pipeline.sources.reddit.filters import Rules, Selection
from data_pipeline.sources.rules.columns import dropped_by
from data_pipeline.sources.source import MESSAGES, Layout, MessageBatch, Wording
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import LineBatch, read_line_batches


class RedditSource:
    """Comments of Pushshift dumps, judged by the rules of a selection."""

    layout = Layout.LINKED
    wording = Wording("Reddit", message="comment", group="subreddit", file="dump file")
    fields = FIELDS

    def __init__(self, selection: Selection):
        self._selection = selection

    @cached_property
    def _rules(self) -> Rules:
        return Rules(self._selection)

    def __reduce__(self) -> tuple:
        return RedditSource, (self._selection,)

    @property
    def rule_names(self) -> Sequence[str]:
        """The paper's rules and the optional ones that are on."""
        return self._rules.names

    def describe(self) -> dict[str, Any]:
        """The selection."""
        return {"source": "reddit", **self._selection.describe()}

    def faults(self, groups: frozenset[str]) -> list[str]:
        """None."""
        del groups
        return []

    def hints(self, groups: frozenset[str]) -> list[str]:
        """Subreddits that were asked for and have no comment."""
        unmatched = sorted(self._selection.subreddits - groups)
        if not unmatched:
            return []
        return [f"--subreddits: no comment is in {', '.join(map(repr, unmatched))}"]

    def reads_parts(self, file: InputFile) -> bool:
        """True: a line is a comment."""
        return True

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the comments of a dump."""
        for batch in read_line_batches(file, tap):
            yield self.judge(batch)

    def judge(self, batch: LineBatch) -> MessageBatch:
        """The comments of some lines."""
        comments, malformed = parse_batch(batch)
        subreddits = [comment.subreddit for comment in comments]
        wanted = self._selection.subreddits
        groups = wanted & set(map(str.lower, set(subreddits))) if wanted else frozenset()
        messages = self._messages(comments, pa.array(subreddits, pa.string()))
        return MessageBatch(messages, len(comments) + len(malformed), malformed, groups)

    def _messages(self, comments: list[Fields], subreddits: Any) -> pa.RecordBatch:
        ids = pa.array([comment.id for comment in comments], pa.string())
        parents, is_reply = without_prefix(
            pa.array([comment.parent_id for comment in comments], pa.string())
        )
        texts = texts_of([comment.body for comment in comments])
        masks = self._rules.masks(comments, texts, subreddits)
        columns = {
            "id": without_prefix(ids)[0],
            "parent": pc.if_else(is_reply, parents, pa.scalar(None, pa.string())),
            "thread": pa.array([comment.link_id for comment in comments], pa.string()),
            "group": subreddits,
            "text": texts,
            "created": seconds_of([comment.created_utc for comment in comments]),
            "dropped_by": dropped_by(masks, rows=len(comments)),
        }
        return pa.RecordBatch.from_arrays(
            [columns[name] for name in MESSAGES.names], schema=MESSAGES
        )
