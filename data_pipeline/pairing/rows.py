"""Rows that are pairs already -> pairs, without a join."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from apache_beam.pvalue import TaggedOutput

from data_pipeline.card.statistics import COUNTS, TALLY
from data_pipeline.execution.shuffle import PAIRS_A_BATCH, Block, Pair, read_blocks
from data_pipeline.pairing.whole_rows import read_whole_rows


def pairs_of_rows(element: tuple[int, Block], *, rule_names: Sequence[str]) -> Iterator[Any]:
    """(partition, block of rows) -> batches of pairs; tagged, their counts.

    A row counts as one comment: `kept`, `replies` and `pairs` are the rows that no rule drops.
    """
    _, block = element
    for packed in read_blocks([block]):
        for rows in read_whole_rows(packed):
            pairs = [as_pair(row) for row in rows if row[6] is None]
            for start in range(0, len(pairs), PAIRS_A_BATCH):
                yield pairs[start : start + PAIRS_A_BATCH]
            dropped = Counter(f"dropped/{rule_names[row[6]]}" for row in rows if row[6] is not None)
            kept = Counter(comments=len(rows), kept=len(pairs), replies=len(pairs))
            kept["pairs"] = len(pairs)
            yield TaggedOutput(TALLY, {COUNTS: dropped + kept})


def as_pair(row: Sequence[Any]) -> Pair:
    """A row of `SCHEMAS[Layout.ROWS]` as a pair."""
    own_id, _, thread, group, text, created, _, text_before = row
    return Pair(
        input=text_before,
        response=text,
        input_id=f"{own_id}:input",
        response_id=f"{own_id}:response",
        thread_id=thread,
        subreddit=group,
        created=created,
        before_input=None,
    )
