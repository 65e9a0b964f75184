"""A pair on its way through the job."""

from collections.abc import Sequence
from typing import Any, NamedTuple

PAIRS_A_BATCH = 500
"""Stages hand on as many at once, so that a comment with a million replies, all in one
partition, does not fill the memory."""


class Pair(NamedTuple):
    """A kept comment and a kept reply to it; thread, subreddit and time are the reply's."""

    input: str
    response: str
    input_id: str
    response_id: str
    thread_id: str
    subreddit: str
    created: Any
    """`created_utc` as in the dump."""
    before_input: str | None
    """The id of the comment that the input, or the last of `context`, replies to."""
    context: Sequence[str] = ()
    """Texts of the context turns before the input, the nearest first."""
    context_ids: Sequence[str] = ()
