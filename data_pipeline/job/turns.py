"""Turns of threads -> messages with ids and parents: each turn replies to the one before.

The turns of a thread may lie in several files; they are brought together by their thread, sorted
by their order, and go on to the join like any other messages. Where messages follow each other as
`Flow` says, `flow` links them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby, pairwise
from typing import Any

import pyarrow as pa
from apache_beam.pvalue import TaggedOutput
from apache_beam.typehints import no_annotations

from data_pipeline.execution.exchange import Block, received
from data_pipeline.execution.report import TALLY, Tally
from data_pipeline.job.ambiguity import ASCENDING, RECURRING, SPREAD, TIES, Cases
from data_pipeline.job.flow import each_id_once, follow, with_columns
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.pairs.options import ALL
from data_pipeline.sources.source import SCHEMAS, Flow, Layout, Source

TURNS = SCHEMAS[Layout.TURNS].append(POSITION)
_MESSAGES_A_BATCH = 100_000


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
        return with_columns(messages, id=ids, parent=parents)
    messages = with_columns(messages, TURNS, id=ids, parent=[None] * len(ids))
    return follow(each_id_once(messages, cases), flow, cases, are_turns=True)


def link_channels(
    messages: pa.RecordBatch, cases: Cases, ascending: Counter, flow: Flow
) -> pa.RecordBatch:
    """Messages of whole threads, some with parents -> the same in order, linked as `flow` says.

    Of several with one id the first counts. Messages of one order keep that of their file.
    """
    messages = each_id_once(messages.sort_by(POSITION.name), cases)
    in_order, places, _ = _in_order(messages, cases, ascending)
    messages = messages.take(pa.array(in_order, pa.int64()))
    for row, (before, own) in enumerate(pairwise(in_order)):
        if places[before] == places[own]:
            those = (messages, row), (messages, row + 1)
            cases.add(TIES, f"messages, first in the thread {places[own][0]!r}", *those)
    return follow(messages, flow, cases, are_turns=False)


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
