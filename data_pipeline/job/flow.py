"""Messages in the order of their thread -> the same, linked as `Flow` says."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.job.ambiguity import RECURRING, Cases
from data_pipeline.job.read import POSITION
from data_pipeline.sources.ids import published, rows_of
from data_pipeline.sources.source import MESSAGES, Flow

_MESSAGES = MESSAGES.append(POSITION)
MERGED = "merged"
"""Messages that are part of the turn of an earlier one of the same author."""
_SECONDS_AN_HOUR = 3600


def with_columns(
    turns: pa.RecordBatch, schema: pa.Schema = _MESSAGES, **columns: list[Any]
) -> pa.RecordBatch:
    """The columns of a schema, some of them replaced."""
    made = {name: pa.array(values, schema.field(name).type) for name, values in columns.items()}
    arrays = [made[name] if name in made else turns.column(name) for name in schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def each_id_once(turns: pa.RecordBatch, cases: Cases) -> pa.RecordBatch:
    """The first of each id in a thread; others are counted, and ambiguous if their text differs."""
    ids, texts = turns.column("id"), turns.column("text")
    keys = _within_threads(turns, "id")
    first = pc.index_in(keys, value_set=keys).to_numpy()
    is_first = first == np.arange(len(first))
    for row in np.flatnonzero(~is_first).tolist():
        if texts[int(first[row])] != texts[row]:
            own_id = published(ids.slice(row, 1))[0].as_py()
            those = (turns, int(first[row])), (turns, row)
            cases.add(RECURRING, f"messages, first the id {own_id!r}", *those)
    cases.counts["duplicates"] += int((~is_first).sum())
    return turns.filter(pa.array(is_first))


def _within_threads(turns: pa.RecordBatch, ids: str) -> Any:
    """The ids in a column, which may be those of messages in other threads, with their threads."""
    return pc.binary_join_element_wise(turns.column("thread"), turns.column(ids), "\x1f")


def follow(turns: pa.RecordBatch, flow: Flow, cases: Cases, *, are_turns: bool) -> pa.RecordBatch:
    """Messages of whole threads in their order, each id once -> the same, linked as `flow` says.

    Of a run of one author, the first message that no rule drops gets the texts of all such ones,
    which are left out. Dropped ones stay, to be counted.
    """
    threads, ids, parents, authors, texts, rules = (
        turns.column(name).to_pylist()
        for name in ("thread", "id", "parent", "author", "text", "dropped_by")
    )
    gap = None if flow.gap is None else Decimal(str(flow.gap)) * _SECONDS_AN_HOUR
    seconds = [] if gap is None else list(map(Decimal, turns.column("order").to_pylist()))
    links = rows_of(_within_threads(turns, "parent"), _within_threads(turns, "id")).to_pylist()
    turn_of = list(range(len(ids)))
    last: dict[tuple[str, str | None], int] = {}

    def named(row: int) -> Any:
        """The turn that a message replies to; an id if it is elsewhere."""
        to = links[row]
        return parents[row] if to is None else turn_of[to]

    for row, (thread, parent, author) in enumerate(zip(threads, parents, authors, strict=True)):
        key = thread, parent if flow.is_apart else None
        before, last[key] = last.get(key), row
        if before is None or (gap is not None and seconds[row] - seconds[before] > gap):
            continue
        turn = turn_of[before]
        is_same = flow.merges_author_runs and author is not None and author == authors[before]
        if is_same and (parent is None or named(row) in (turn, named(turn))):
            turn_of[row] = turn
        elif parent is None and (are_turns or gap is not None):
            links[row] = before
    first, left_out = _merge(turn_of, texts, rules)
    cases.counts[MERGED] += int(left_out.sum())

    def parent_of(turn: int) -> str | None:
        to = links[turn]
        return parents[turn] if to is None else ids[first[turn_of[to]]]

    linked = [parent_of(turn) if first[turn] == row else None for row, turn in enumerate(turn_of)]
    return with_columns(turns, text=texts, parent=linked).filter(pa.array(~left_out))


def _merge(
    turn_of: Sequence[int], texts: list[str], rules: Sequence[int | None]
) -> tuple[list[int], np.ndarray]:
    """Joins the texts of each turn, in place: its first kept row, and which rows are left out."""
    first = list(range(len(texts)))
    left_out = np.zeros(len(texts), bool)
    turns: dict[int, list[int]] = {}
    for row, turn in enumerate(turn_of):
        if turn != row:
            turns.setdefault(turn, [turn]).append(row)
    for turn, rows in turns.items():
        kept = [row for row in rows if rules[row] is None] or [turn]
        first[turn] = kept[0]
        texts[kept[0]] = "\n".join(texts[row] for row in kept)
        left_out[kept[1:]] = True
    return first, left_out
