"""Reddit's comment dumps as a source of messages."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from data_pipeline.files.filesystem import Tap
from data_pipeline.files.inputs import InputFile
from data_pipeline.files.lines import LineBatch, read_line_batches
from data_pipeline.files.malformed_lines import MalformedLineError
from data_pipeline.messages.source import BatchBuilder, Layout, MessageBatch
from data_pipeline.reddit.comment import FIELDS, parse_comment, seconds
from data_pipeline.reddit.filters import Rules, Selection


class RedditSource:
    """Comments of Pushshift dumps, judged by the rules of a selection."""

    layout = Layout.LINKED
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

    def hints(self, groups: frozenset[str]) -> list[str]:
        """Subreddits that were asked for and have no comment."""
        unmatched = sorted(self._selection.subreddits - groups)
        if not unmatched:
            return []
        return [f"--subreddits: no comment is in {', '.join(map(repr, unmatched))}"]

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the comments of a dump."""
        for batch in read_line_batches(file, tap):
            yield self._judge(batch)

    def _judge(self, batch: LineBatch) -> MessageBatch:
        builder, malformed = BatchBuilder(), []
        subreddits: set[str] = set()
        for index, line in enumerate(batch.lines):
            try:
                comment = parse_comment(line)
            except MalformedLineError as error:
                malformed.append(batch.malformed(index, str(error)))
                continue
            subreddits.add(comment.subreddit)
            builder.add(
                own_id=comment.id,
                parent=comment.parent_comment,
                thread=comment.thread,
                group=comment.subreddit,
                text=comment.text,
                created=seconds(comment.created),
                dropped_by=self._rules.that_drops(comment),
            )
        wanted = self._selection.subreddits & set(map(str.lower, subreddits))
        return MessageBatch(builder.batch(), len(batch.lines), malformed, wanted)
