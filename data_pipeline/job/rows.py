"""Rows that are pairs already -> pairs, without a join."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.report import COUNTS, TALLY
from data_pipeline.pairs.schema import (
    BEFORE_INPUT,
    CREATED,
    INPUT,
    INPUT_ID,
    RESPONSE,
    RESPONSE_ID,
    SUBREDDIT,
    THREAD_ID,
    pairs_schema,
)


def pairs_of_rows(rows: pa.RecordBatch, *, rule_names: Sequence[str]) -> Iterator[Any]:
    """A batch of rows -> their pairs; tagged, their counts.

    A row counts as one comment: `kept`, `replies` and `pairs` are the rows that no rule drops.
    """
    yield as_pairs(rows)
    yield TaggedOutput(TALLY, {COUNTS: _count(rows, rule_names)})


def as_pairs(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The kept rows as pairs, with the ids ROW:input and ROW:response."""
    kept = rows.filter(rows.column("dropped_by").is_null())
    schema = pairs_schema(0)
    columns = {
        INPUT: kept.column("input"),
        RESPONSE: kept.column("text"),
        INPUT_ID: pc.binary_join_element_wise(kept.column("id"), "input", ":"),
        RESPONSE_ID: pc.binary_join_element_wise(kept.column("id"), "response", ":"),
        THREAD_ID: kept.column("thread"),
        SUBREDDIT: kept.column("group"),
        CREATED: kept.column("created"),
        BEFORE_INPUT: pa.nulls(kept.num_rows, pa.string()),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _count(rows: pa.RecordBatch, rule_names: Sequence[str]) -> Counter:
    by_rule = np.bincount(
        rows.column("dropped_by").drop_null().to_numpy(), minlength=len(rule_names)
    )
    counts = Counter({f"dropped/{rule_names[rule]}": int(n) for rule, n in enumerate(by_rule) if n})
    kept = rows.column("dropped_by").null_count
    counts.update(comments=rows.num_rows, kept=kept, replies=kept, pairs=kept)
    return counts
