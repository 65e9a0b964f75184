"""What is ambiguous in ids, threads and orders: counted, the first case named, and judged.

Whoever finds a case adds it to the `Cases` of a partition; they travel as a tally. When the job has
read everything, `require_decided` ends it or returns what to warn of.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from common.errors import InputError
from data_pipeline.execution.columns import values_of
from data_pipeline.execution.report import COUNTS, Tally
from data_pipeline.pairs.options import ALL
from data_pipeline.sources.ids import published, whole

TIES = "ties"  # turns with the order of the turn before, in their thread and file
RECURRING = "recurring"
"""Messages with the id, or the thread and order elsewhere, of another whose text differs."""
RESTARTING, SPREAD = "ids in several threads", "threads in several files"
ELSEWHERE = "parents in other threads"
"""Replies whose parent is not in their thread, while a message of this id is in another."""
_FIRST = "first cases"
ASCENDING = "ascending"
"""File -> `MessageBatch.ascending`; below 0 where the newest turns come first."""
ROW_BITS = 40
"""The position of a message is that of its file or part, and its row in it."""


class Cases:
    """How often something was ambiguous in a partition, and the first case of each kind."""

    def __init__(self, files: Mapping[int, str]):
        """Takes the path of each file or part, by its position."""
        self._files = files
        self.counts: Counter = Counter()  # of each kind; those that are not named are added here
        self._first: dict[str, tuple[int, str]] = {}

    def file_of(self, position: int) -> str:
        """The file that a message is in."""
        return self._files[position >> ROW_BITS]

    def add(
        self, kind: str, what: str, values: list[Any], *places: tuple[pa.RecordBatch, np.ndarray]
    ) -> None:
        """Counts cases; `places` are batches and the rows in them of each one's messages [cases].

        `what` says of the `values` [cases] what a case is. First is the one that is complete in the
        lowest position.
        """
        positions = np.array([batch.column("position").take(rows) for batch, rows in places])
        if not positions.size:
            return
        self.counts[kind] += positions.shape[1]
        case = int(positions.max(axis=0).argmin())
        last = int(positions[:, case].max())
        if kind not in self._first or last < self._first[kind][0]:
            texts = [batch.column("text")[int(rows[case])].as_py() or "" for batch, rows in places]
            files = map(self.file_of, positions[:, case].tolist())
            shown = [f"{t[:60]!r} in {file!r}" for t, file in zip(texts, files, strict=True)]
            said = what.format(*(column[case].as_py() for column in values))
            self._first[kind] = last, f"{said}: {' and '.join(shown)}"

    def add_recurring(self, messages: pa.RecordBatch, first: np.ndarray) -> None:
        """Adds messages whose text is not that of the first of their id, at the rows `first`."""
        texts, later = messages.column("text"), np.flatnonzero(first != np.arange(len(first)))
        some, others = texts.take(first[later]), texts.take(later)
        # Null is the text of a message that is dropped.
        are_null = pc.and_(some.is_null(), others.is_null())
        later = later[~(values_of(pc.equal(some, others)) | values_of(are_null))]
        ids = published(messages.column("id").take(later))
        those = (messages, first[later]), (messages, later)
        self.add(RECURRING, "messages, first the id {!r}", [ids], *those)

    def tally(self) -> Tally:
        """The counts and the first cases."""
        first = [orjson.dumps([kind, *case]).decode() for kind, case in self._first.items()]
        return {COUNTS: self.counts, _FIRST: Counter(first)}


def add_linked(cases: Cases, messages: pa.RecordBatch, replies: pa.RecordBatch, rows: Any) -> None:
    """Adds messages that share an id, and replies whose parent is in another thread.

    Messages are those of one partition, in reading order if two share an id; `rows` are of the
    message that each reply to them names, null where there is none.
    """
    ids = messages.column("id")
    cases.add_recurring(messages, pc.index_in(ids, value_set=ids).to_numpy())
    own = whole(published(ids))
    if own is ids:
        return
    several = pc.subtract(pc.count_distinct(ids), pc.count_distinct(own))
    cases.counts[RESTARTING] += several.as_py()
    lost = replies.filter(rows.is_null())
    found = pc.index_in(whole(published(lost.column("parent"))), value_set=own)
    lost, found = lost.filter(found.is_valid()), found.drop_null()
    said = "replies, first to {!r} in the thread {!r}"
    those = (lost, np.arange(len(found))), (messages, found.to_numpy())
    cases.add(ELSEWHERE, said, [own.take(found), lost.column("thread")], *those)


def require_decided(tally: Mapping[str, Mapping[str, int]], ids_within: str | None) -> list[str]:
    """What to warn of; raises an InputError if an id may name several different messages."""
    counts = Counter(tally.get(COUNTS, {}))
    cases = sorted(map(orjson.loads, tally.get(_FIRST, {})), reverse=True)
    first = {kind: f"{counts[kind]:,} {what}" for kind, _, what in cases}
    hints = []
    if counts[RECURRING] and ids_within != ALL:
        raise InputError(
            "--ids_within: different messages have the same id, or the same thread and order: "
            f"{first[RECURRING]}; accepted: file or folder if these restart there, the fields that "
            "tell such messages apart as --thread_field, or all, which keeps the first of each"
        )
    if counts[ELSEWHERE] and ids_within is None:
        if counts[ELSEWHERE] > counts[RESTARTING]:
            raise InputError(
                f"--ids_within: the parent is in another thread: {first[ELSEWHERE]}; accepted: all "
                "if replies cross threads, or thread if these parents are missing"
            )
        hints.append(f"--ids_within: left out as missing in their thread: {first[ELSEWHERE]}")
    if counts[TIES]:
        hints.append(
            f"--order_field, --time_field: equal values, in the order of the file: {first[TIES]}"
        )
    if counts[SPREAD] and ids_within is None:
        hints.append(
            f"--ids_within: {counts[SPREAD]:,} threads have turns in several files and are each "
            "read as one; pass file if they are not one, or thread if they are"
        )
    return hints
