"""The columns of pairs on their way from the join to the shards."""

import pyarrow as pa

from common.tfrecord import CONTEXT, FEATURES, INPUT, OWN_REPLY, RESPONSE

CREATED = "created"  # seconds since 1970, UTC, of the response; null if unknown
SPLIT = "split"  # the index of the split, int8; the last column, when pairs have been split
BEFORE_INPUT = "before_input"
"""The id of the message that the input, or the last known context turn, replies to; null if it
replies to none, or if the job needs no more turns."""
CONTEXT_ID = "context_id/{}"
"""The ids of the context turns (`CONTEXT`); null where there are no more."""


def pairs_schema(context_turns: int) -> pa.Schema:
    """A kept message and a kept reply to it; thread, group and time are the reply's.

    Columns: the `FEATURES`, `OWN_REPLY`, `CREATED`, `BEFORE_INPUT`, and `CONTEXT` and `CONTEXT_ID`
    for each context turn, which are null until they are found.
    """
    texts = (INPUT, RESPONSE)
    columns = {name: pa.large_string() if name in texts else pa.string() for name in FEATURES}
    columns |= {OWN_REPLY: pa.string(), CREATED: pa.int64(), BEFORE_INPUT: pa.string()}
    for turn in range(context_turns):
        columns[CONTEXT.format(turn)] = pa.large_string()
        columns[CONTEXT_ID.format(turn)] = pa.string()
    return pa.schema(columns)
