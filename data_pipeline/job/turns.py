"""Turns of threads -> messages with ids and parents: each turn replies to the one before.

The turns of a thread may lie in several files; they are brought together by their thread, sorted
by their order, and go on to the join like any other messages.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

import pyarrow as pa
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.exchange import Block, received
from data_pipeline.execution.report import TALLY, Tally
from data_pipeline.job.ambiguity import ASCENDING, RECURRING, SPREAD, TIES, Cases
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.sources.source import MESSAGES, SCHEMAS, Layout

TURNS = SCHEMAS[Layout.TURNS].append(POSITION)
_MESSAGES = MESSAGES.append(POSITION)
_MESSAGES_A_BATCH = 100_000


def link(
    element: tuple[int, Iterable[Block]], tally: Tally, *, files: Sequence[str], keeps_first: bool
) -> Iterator[Any]:
    """(partition, blocks of turns) -> batches of messages with ids and parents.

    Tagged, it yields what is ambiguous. `tally` is that of all files.
    """
    _, blocks = element
    cases = Cases(files)
    ascending = tally.get(ASCENDING, Counter())
    turns = link_turns(received(blocks, TURNS), cases, ascending, keeps_first=keeps_first)
    messages = without_dropped_texts(turns)
    for start in range(0, messages.num_rows, _MESSAGES_A_BATCH):
        yield messages.slice(start, _MESSAGES_A_BATCH)
    yield TaggedOutput(TALLY, cases.tally())


def link_turns(
    turns: pa.RecordBatch, cases: Cases, ascending: Counter, *, keeps_first: bool
) -> pa.RecordBatch:
    """Turns of whole threads -> messages, thread by thread.

    A turn's id is THREAD:ORDER. Turns of one order that stand together in their file are ties: they
    keep the order of the file, or its reverse where it has the newest turns first, and the later
    ones have a number behind their id. One with the same text is the same turn read twice, and gets
    the same id and parent; so does one that stands elsewhere, if the first of these is to be kept.
    """
    turns = turns.sort_by(POSITION.name)
    threads, orders, texts, positions = (
        turns.column(name).to_pylist() for name in ("thread", "order", "text", POSITION.name)
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
    in_order = sorted(range(len(places)), key=place)
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
                    those = ((positions[each], texts[each]) for each in (first, row))
                    cases.add(TIES if is_tie else RECURRING, what, *those)
                if known and keeps_first and not is_tie:
                    known[texts[row]] = known[texts[first]]
                else:
                    own_id = f"{thread}:{orders[row]}" + (f"#{len(known) + 1}" if known else "")
                    known[texts[row]] = own_id, before
                    before = own_id
            own_id, parent = known[texts[row]]
            ids.append(own_id)
            parents.append(parent)
    messages = turns.select(_MESSAGES.names).take(pa.array(in_order, pa.int64()))
    made = {"id": pa.array(ids, pa.string()), "parent": pa.array(parents, pa.string())}
    arrays = [made.get(name, messages.column(name)) for name in _MESSAGES.names]
    return pa.RecordBatch.from_arrays(arrays, schema=_MESSAGES)


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
