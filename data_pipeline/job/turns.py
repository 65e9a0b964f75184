"""Turns of threads -> messages with ids and parents: each turn replies to the one before.

The turns of a thread may lie in several files; they are brought together by their thread, sorted
by their order, and go on to the join like any other messages. Messages of channels have ids, and
some have parents, already; `Flow` says which of the others reply to the one before.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import TaggedOutput
from apache_beam.typehints import no_annotations

from data_pipeline.execution.exchange import Block, received
from data_pipeline.execution.report import TALLY, Tally
from data_pipeline.job.ambiguity import ASCENDING, RECURRING, SPREAD, TIES, Cases
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.pairs.options import ALL
from data_pipeline.sources.ids import published, rows_of
from data_pipeline.sources.source import MESSAGES, SCHEMAS, Flow, Layout, Source

TURNS = SCHEMAS[Layout.TURNS].append(POSITION)
_MESSAGES = MESSAGES.append(POSITION)
_MESSAGES_A_BATCH = 100_000
MERGED = "merged"
"""Messages that are part of the turn of an earlier one of the same author."""
_SECONDS_AN_HOUR = 3600


@no_annotations  # Beam cannot check that a value is of a protocol
def link(
    element: tuple[int, Iterable[Block]], tally: Tally, *, files: Sequence[str], source: Source
) -> Iterator[Any]:
    """(partition, blocks of turns) -> batches of messages with ids and parents.

    Tagged, it yields what is ambiguous. `tally` is that of all files.
    """
    _, blocks = element
    cases = Cases(files)
    of: Any = received(blocks, TURNS), cases, tally.get(ASCENDING, Counter()), source.flow
    if source.layout is Layout.CHANNELS:
        messages = without_dropped_texts(link_channels(*of))
    else:
        messages = without_dropped_texts(link_turns(*of, keeps_first=source.ids_within == ALL))
    for start in range(0, messages.num_rows, _MESSAGES_A_BATCH):
        yield messages.slice(start, _MESSAGES_A_BATCH)
    yield TaggedOutput(TALLY, cases.tally())


def link_turns(
    turns: pa.RecordBatch, cases: Cases, ascending: Counter, flow: Flow | None, *, keeps_first: bool
) -> pa.RecordBatch:
    """Turns of whole threads -> messages, thread by thread.

    A turn's id is THREAD:ORDER. Turns of one order that stand together in their file are ties: they
    keep the order of the file, or its reverse where it has the newest turns first, and the later
    ones have a number behind their id. One with the same text is the same turn read twice, and gets
    the same id and parent; so does one that stands elsewhere, if the first of these is to be kept.
    """
    turns = turns.sort_by(POSITION.name)
    orders, texts = (turns.column(name).to_pylist() for name in ("order", "text"))
    in_order, places, runs = _in_order(turns, cases, ascending)
    ids: list[str] = []
    parents: list[str | None] = []
    last_thread, before = None, None
    for (thread, _), rows in groupby(in_order, key=places.__getitem__):
        before = before if thread == last_thread else None
        last_thread = thread
        known: dict[str, tuple[str, str | None]] = {}
        first = None
        for row in rows:
            first = row if first is None else first
            is_tie = runs[row] == runs[first]
            if texts[row] not in known:
                if known:
                    what = f"turns, first {orders[row]} in the thread {thread!r}"
                    cases.add(TIES if is_tie else RECURRING, what, (turns, first), (turns, row))
                if known and keeps_first and not is_tie:
                    known[texts[row]] = known[texts[first]]
                else:
                    own_id = f"{thread}:{orders[row]}" + (f"#{len(known) + 1}" if known else "")
                    known[texts[row]] = own_id, before
                    before = own_id
            own_id, parent = known[texts[row]]
            ids.append(own_id)
            parents.append(parent)
    messages = turns.take(pa.array(in_order, pa.int64()))
    if flow is None:
        return _with_columns(messages, id=ids, parent=parents)
    messages = _with_columns(messages, TURNS, id=ids, parent=[None] * len(ids))
    return _follow(_each_id_once(messages, cases), flow, cases, are_turns=True)


def link_channels(
    messages: pa.RecordBatch, cases: Cases, ascending: Counter, flow: Flow
) -> pa.RecordBatch:
    """Messages of whole threads, some with parents -> the same in order, linked as `flow` says.

    Of several with one id the first counts. Messages of one order keep that of their file.
    """
    messages = _each_id_once(messages.sort_by(POSITION.name), cases)
    in_order, places, _ = _in_order(messages, cases, ascending)
    messages = messages.take(pa.array(in_order, pa.int64()))
    for row, (before, own) in enumerate(pairwise(in_order)):
        if places[before] == places[own]:
            those = (messages, row), (messages, row + 1)
            cases.add(TIES, f"messages, first in the thread {places[own][0]!r}", *those)
    return _follow(messages, flow, cases, are_turns=False)


def _with_columns(
    turns: pa.RecordBatch, schema: pa.Schema = _MESSAGES, **columns: list[Any]
) -> pa.RecordBatch:
    """The columns of a schema, some of them replaced."""
    made = {name: pa.array(values, schema.field(name).type) for name, values in columns.items()}
    arrays = [made[name] if name in made else turns.column(name) for name in schema.names]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _each_id_once(turns: pa.RecordBatch, cases: Cases) -> pa.RecordBatch:
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


def _follow(turns: pa.RecordBatch, flow: Flow, cases: Cases, *, are_turns: bool) -> pa.RecordBatch:
    """Messages of whole threads in their order, each id once -> the same, linked as `flow` says.

    Of a run of one author, the first message that no rule drops gets the texts of all such ones,
    which are left out. Dropped ones stay, to be counted.
    """
    threads, ids, parents, authors, texts, rules = (
        turns.column(name).to_pylist()
        for name in ("thread", "id", "parent", "author", "text", "dropped_by")
    )
    seconds = list(map(Decimal, turns.column("order").to_pylist()))
    gap = None if flow.gap is None else Decimal(str(flow.gap)) * _SECONDS_AN_HOUR
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
    return _with_columns(turns, text=texts, parent=linked).filter(pa.array(~left_out))


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


def _in_order(
    turns: pa.RecordBatch, cases: Cases, ascending: Counter
) -> tuple[list[int], list[tuple[str, Decimal]], list[int]]:
    """The rows of turns thread by thread, in order; and of each its thread and order, its run."""
    threads, orders, positions = (
        turns.column(name).to_pylist() for name in ("thread", "order", POSITION.name)
    )
    places = list(zip(threads, map(Decimal, orders), strict=True))
    files = list(map(cases.file_of, positions))
    runs, steps = _runs(places, files)
    ranks = {file: rank for rank, file in enumerate(dict.fromkeys(files))}
    newest_first = {of for of in steps if (steps[of] or ascending[of[1]]) < 0}

    def place(row: int) -> tuple:
        of = threads[row], files[row]
        return *places[row], ranks[files[row]], -row if of in newest_first else row

    spread = Counter(thread for thread, _ in steps)
    cases.counts[SPREAD] += sum(count > 1 for count in spread.values())
    return sorted(range(len(places)), key=place), places, runs


def _runs(
    places: Sequence[tuple[str, Decimal]], files: Sequence[str]
) -> tuple[list[int], dict[tuple[str, str], int]]:
    """How turns in reading order stand in their files.

    Returns:
      Of each turn the first of those with its order that stand together in its thread and file;
      and of each thread and file, how often its order rises, less how often it falls.
    """
    runs: list[int] = []
    steps: dict[tuple[str, str], int] = {}
    last: dict[tuple[str, str], int] = {}
    for row, ((thread, number), file) in enumerate(zip(places, files, strict=True)):
        before = last.get((thread, file), row)
        step = (number > places[before][1]) - (number < places[before][1])
        steps[thread, file] = steps.get((thread, file), 0) + step
        runs.append(row if step or before == row else runs[before])
        last[thread, file] = row
    return runs, steps
