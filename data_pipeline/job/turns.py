"""Messages of threads in an order -> messages with ids and parents, linked as `Flow` says.

The messages of a thread may lie in several files; they are brought together by their thread, sorted
by their order, linked, and go on to the join like any other messages.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.columns import values_of, with_columns
from data_pipeline.execution.exchange import Block, received
from data_pipeline.execution.report import TALLY, Tally
from data_pipeline.job.ambiguity import ASCENDING, SPREAD, TIES, Cases
from data_pipeline.job.read import POSITION, without_dropped_texts
from data_pipeline.sources.ids import rows_of
from data_pipeline.sources.source import SCHEMAS, Flow, Layout

ORDERED = SCHEMAS[Layout.ORDERED].append(POSITION)
MERGED = "merged"  # messages that are part of the turn of an earlier one of the same author
_MESSAGES_A_BATCH = 100_000
_SECONDS_AN_HOUR = 3600


def link(
    element: tuple[int, Iterable[Block]], *, tally: Tally, files: Mapping[int, str], flow: Flow
) -> Iterator[Any]:
    """(partition, messages), the tally of all files -> messages with ids and parents; a tally."""
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
        messages = _each_id_once(messages, cases)
    rows, ids = _in_order(messages, cases, ascending, are_turns=are_turns)
    ordered = messages.take(pa.array(rows, pa.int64()))
    if are_turns:
        ordered = _each_id_once(with_columns(ordered, id=ids), cases)
    threads, orders = ordered.column("thread"), ordered.column("order")
    is_tie = pc.and_(*(pc.equal(column[1:], column[:-1]) for column in (threads, orders)))
    ties = np.flatnonzero(values_of(is_tie))
    equal = [column.take(pa.array(ties)) for column in (orders, threads)]
    said = "messages, first {} in the thread {!r}"
    cases.add(TIES, said, equal, (ordered, ties), (ordered, ties + 1))
    return _follow(ordered, flow, cases, are_turns=are_turns).drop_columns("order")


def _each_id_once(messages: pa.RecordBatch, cases: Cases) -> pa.RecordBatch:
    """The first of each id in a thread; others are counted, and ambiguous if their text differs."""
    keys = _within_threads(messages, "id")
    first = pc.index_in(keys, value_set=keys).to_numpy()
    cases.add_recurring(messages, first)
    is_first = first == np.arange(len(first))
    cases.counts["duplicates"] += int((~is_first).sum())
    return messages.filter(pa.array(is_first))


def _within_threads(messages: pa.RecordBatch, ids: str) -> Any:
    """The ids in a column, which may be those of messages in other threads, with their threads."""
    return pc.binary_join_element_wise(messages.column("thread"), messages.column(ids), "\x1f")


def _in_order(
    messages: pa.RecordBatch, cases: Cases, ascending: Counter, *, are_turns: bool
) -> tuple[list[int], list[str]]:
    """The rows of messages thread by thread, in order; and of turns the ids, THREAD:ORDER.

    Of turns of one order that stand together in their file, the later ones have a number behind
    it. One with the text of another is that turn read twice, and has its id.
    """
    threads, orders, positions = (
        messages.column(name).to_pylist() for name in ("thread", "order", POSITION.name)
    )
    places = list(zip(threads, map(Decimal, orders), strict=True))
    files = list(map(cases.file_of, positions))
    ranks = {file: rank for rank, file in enumerate(dict.fromkeys(files))}
    runs: list[int] = []  # the first of those with one's order that stand together in its file
    # Of a thread and file, how often its order rises, less how often it falls; and the last row.
    steps: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], int] = {}
    for row, ((thread, number), file) in enumerate(zip(places, files, strict=True)):
        before = last.get((thread, file), row)
        step = (number > places[before][1]) - (number < places[before][1])
        steps[thread, file] += step
        runs.append(row if step or before == row else runs[before])
        last[thread, file] = row
    spread = Counter(thread for thread, _ in steps)
    cases.counts[SPREAD] += sum(count > 1 for count in spread.values())
    newest_first = {of for of in steps if (steps[of] or ascending[of[1]]) < 0}

    def key(row: int) -> tuple:
        of = threads[row], files[row]
        return *places[row], ranks[files[row]], -row if of in newest_first else row

    rows, ids = sorted(range(len(places)), key=key), list[str]()
    texts = messages.column("text").to_pylist() if are_turns else []
    for (thread, _), of_place in groupby(rows if are_turns else (), key=places.__getitem__):
        known: dict[str, str] = {}
        first, *_ = same = list(of_place)
        for row in same:
            suffix = f"#{len(known) + 1}" if known and runs[row] == runs[first] else ""
            ids.append(known.setdefault(texts[row], f"{thread}:{orders[row]}{suffix}"))
    return rows, ids


def _follow(turns: pa.RecordBatch, flow: Flow, cases: Cases, *, are_turns: bool) -> pa.RecordBatch:
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
    runs: dict[int, list[int]] = {}
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
            runs.setdefault(turn, [turn]).append(row)
        elif parent is None and (are_turns or gap is not None):
            links[row] = before
    first, is_kept = list(range(len(ids))), np.ones(len(ids), bool)
    for turn, rows in runs.items():
        spoken = [row for row in rows if rules[row] is None] or [turn]
        first[turn] = spoken[0]
        texts[spoken[0]] = "\n".join(texts[row] for row in spoken)
        is_kept[spoken[1:]] = False
    cases.counts[MERGED] += int((~is_kept).sum())

    def parent_of(turn: int) -> str | None:
        to = links[turn]
        return parents[turn] if to is None else ids[first[turn_of[to]]]

    linked = [parent_of(turn) if first[turn] == row else None for row, turn in enumerate(turn_of)]
    return with_columns(turns, text=texts, parent=linked).filter(pa.array(is_kept))
