"""Messages of threads in an order -> messages with ids and parents.

The messages of a thread may lie in several files; they are brought together by their thread, sorted
by their order, linked as `Flow` says, and go on to the join like any other messages.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.exchange import Block, received
from data_pipeline.execution.report import TALLY, Tally
from data_pipeline.job.ambiguity import ASCENDING, SPREAD, TIES, Cases
from data_pipeline.job.flow import each_id_once, follow, with_columns
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.sources.source import SCHEMAS, Flow, Layout

ORDERED = SCHEMAS[Layout.ORDERED].append(POSITION)
_MESSAGES_A_BATCH = 100_000
Place = tuple[str, Decimal]
"""A thread, and the order of a message in it."""


def link(
    element: tuple[int, Iterable[Block]], tally: Tally, *, files: Sequence[str], flow: Flow
) -> Iterator[Any]:
    """(partition, blocks of messages) -> batches of messages with ids and parents.

    Tagged, it yields what is ambiguous. `tally` is that of all files.
    """
    _, blocks = element
    cases = Cases(files)
    linked = link_messages(received(blocks, ORDERED), cases, tally.get(ASCENDING, Counter()), flow)
    messages = without_dropped_texts(linked)
    for start in range(0, messages.num_rows, _MESSAGES_A_BATCH):
        yield messages.slice(start, _MESSAGES_A_BATCH)
    yield TaggedOutput(TALLY, cases.tally())


def link_messages(
    messages: pa.RecordBatch, cases: Cases, ascending: Counter, flow: Flow
) -> pa.RecordBatch:
    """Messages of whole threads -> the same thread by thread, each id once, linked as `flow` says.

    Those of one order keep the order of their file, or its reverse where it has the newest first.
    `ascending` counts for each file how many come behind an earlier one of their thread.
    """
    messages = messages.sort_by(POSITION.name)
    are_turns = not pc.any(pc.not_equal(messages.column("id"), "")).as_py()
    if not are_turns:
        messages = each_id_once(messages, cases)
    rows, places, runs = _in_order(messages, cases, ascending)
    ordered = messages.take(pa.array(rows, pa.int64()))
    if are_turns:
        ids = _ids_of_turns(messages, rows, places, runs)
        ordered = each_id_once(with_columns(ordered, ORDERED, id=ids), cases)
    said = [ordered.column(name) for name in ("thread", "order")]
    is_tie = pc.and_(*(pc.equal(column[1:], column[:-1]) for column in said))
    for row in np.flatnonzero(is_tie).tolist():
        thread, order = (column[row].as_py() for column in said)
        what = f"messages, first {order} in the thread {thread!r}"
        cases.add(TIES, what, (ordered, row), (ordered, row + 1))
    return follow(ordered, flow, cases, are_turns=are_turns)


def _ids_of_turns(
    turns: pa.RecordBatch, rows: Sequence[int], places: Sequence[Place], runs: Sequence[int]
) -> list[str]:
    """The ids of turns in the order of `rows`: THREAD:ORDER.

    Of turns of one order that stand together in their file, the later ones have a number behind
    it. One with the text of another is that turn read twice, and has its id.
    """
    orders, texts = (turns.column(name).to_pylist() for name in ("order", "text"))
    ids = []
    for (thread, _), of_place in groupby(rows, key=places.__getitem__):
        known: dict[str, str] = {}
        first = None
        for row in of_place:
            first = row if first is None else first
            number = f"#{len(known) + 1}" if known and runs[row] == runs[first] else ""
            ids.append(known.setdefault(texts[row], f"{thread}:{orders[row]}{number}"))
    return ids


def _in_order(
    messages: pa.RecordBatch, cases: Cases, ascending: Counter
) -> tuple[list[int], list[Place], list[int]]:
    """The rows of messages thread by thread, in order; and of each its place, its run (`_runs`)."""
    threads, orders, positions = (
        messages.column(name).to_pylist() for name in ("thread", "order", POSITION.name)
    )
    places = list(zip(threads, map(Decimal, orders), strict=True))
    files = list(map(cases.file_of, positions))
    runs, steps = _runs(places, files)
    ranks = {file: rank for rank, file in enumerate(dict.fromkeys(files))}
    newest_first = {of for of in steps if (steps[of] or ascending[of[1]]) < 0}

    def key(row: int) -> tuple:
        of = threads[row], files[row]
        return *places[row], ranks[files[row]], -row if of in newest_first else row

    spread = Counter(thread for thread, _ in steps)
    cases.counts[SPREAD] += sum(count > 1 for count in spread.values())
    return sorted(range(len(places)), key=key), places, runs


def _runs(
    places: Sequence[Place], files: Sequence[str]
) -> tuple[list[int], dict[tuple[str, str], int]]:
    """How messages in reading order stand in their files.

    Returns:
      Of each message the first of those with its order that stand together in its thread and file;
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
