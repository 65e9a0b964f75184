"""Reddit's comment dumps as a source of messages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.sources.reddit.columns import parse_batch, seconds_of, texts_of, without_prefix
from data_pipeline.sources.reddit.comment import Comment
from data_pipeline.sources.reddit.filters import Selection
from data_pipeline.sources.rules.columns import dropped_by
from data_pipeline.sources.source import MESSAGES, Layout, MessageBatch, Wording
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import LineBatch, read_line_batches


@dataclass(frozen=True)
class RedditSource:
    """Comments of Pushshift dumps, judged by the rules of a selection."""

    selection: Selection

    layout = Layout.LINKED
    wording = Wording("Reddit", message="comment", group="subreddit", file="dump file")

    @property
    def rule_names(self) -> list[str]:
        """The paper's rules and the optional ones that are on."""
        return self.selection.rule_names

    def hints(self, groups: frozenset[str]) -> list[str]:
        """Subreddits that were asked for and have no comment."""
        unmatched = sorted(self.selection.subreddits - groups)
        if not unmatched:
            return []
        return [f"--subreddits: no comment is in {', '.join(map(repr, unmatched))}"]

    def reads_parts(self, file: InputFile) -> bool:
        """True: a line is a comment."""
        return True

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the comments of a dump."""
        return map(self.judge, read_line_batches(file, tap))

    def judge(self, batch: LineBatch) -> MessageBatch:
        """The comments of some lines."""
        comments, malformed = parse_batch(batch)
        subreddits = [comment.subreddit for comment in comments]
        wanted = self.selection.subreddits
        groups = wanted & set(map(str.lower, set(subreddits))) if wanted else frozenset()
        messages = self._messages(comments, pa.array(subreddits, pa.string()))
        return MessageBatch(messages, len(comments) + len(malformed), malformed, groups)

    def _messages(self, comments: list[Comment], subreddits: Any) -> pa.RecordBatch:
        ids = pa.array([comment.id for comment in comments], pa.string())
        parents, is_reply = without_prefix(
            pa.array([comment.parent_id for comment in comments], pa.string())
        )
        texts = texts_of([comment.body for comment in comments])
        masks = self.selection.masks(comments, texts, subreddits)
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
