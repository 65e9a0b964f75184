"""An input file in, batches of messages out, with what was counted and the malformed lines."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.columns import values_of, with_columns
from data_pipeline.execution.progress import READING, Note
from data_pipeline.execution.report import COUNTS, INPUTS, TALLY
from data_pipeline.job.ambiguity import ASCENDING, ROW_BITS
from data_pipeline.sources.source import Layout, MessageBatch, Source
from data_pipeline.storage.filesystem import NewFile, Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.lines import KEPT_OF_TOO_LONG, MOST_DEAD_LETTERS

POSITION = pa.field("position", pa.int64())
"""The place of a message in reading order, over all files."""
TEXT = pa.field("text", pa.large_string())  # null where the message is dropped
GROUPS = "groups"  # how many batches have each of `MessageBatch.groups`
EXAMPLES = 3  # examples of dropped messages that are kept for each rule
_MALFORMED_LINES = 10_000  # how many end the search for first messages, at least


class FileRead(NamedTuple):
    """What is known of an input file, or of a part of one, that was read to its end."""

    position: int
    about: dict[str, Any]
    """Path, size, time and checksum (`InputFile.describe`); of parts, the last one's holds."""
    lines: int
    malformed: int
    dead_letters: str  # the file with the malformed lines; empty if there are none
    examples: dict[str, list[str]]  # rule -> starts of the first texts that it dropped


def read_file(
    file: InputFile, *, source: Source, folder: str, first: int | None = None
) -> Iterator[Any]:
    """A file -> batches of messages; tagged, all that is known of it, once it is read to its end.

    Its malformed lines are written into the folder. With `first`, it ends behind so many messages.
    """
    tap, note = Tap(), Note(folder, READING, f"{file.position:06d}")
    rows = malformed = ascending = 0
    examples: dict[str, list[str]] = {}
    groups: Counter[str] = Counter()
    path = ""
    with ExitStack() as stack:
        batches: Iterable[MessageBatch] = source.read(file, tap)
        for batch in batches if first is None else _first_messages(batches, first):
            if batch.malformed and not path:
                path = FileSystems.join(folder, f"dead_letters-{file.position:06d}")
                letters = stack.enter_context(NewFile(path))
            for line in batch.malformed[: max(0, MOST_DEAD_LETTERS - malformed)]:
                letters.write(line.as_dead_letter())
            _keep_examples(examples, batch.messages, source.rule_names)
            groups.update(batch.groups)
            messages = batch.messages
            if source.layout in (Layout.LINKED, Layout.LINKED_THREADS):
                messages = without_dropped_texts(messages)
            start = (file.position << ROW_BITS) + rows
            positions = pa.array(np.arange(start, start + messages.num_rows))
            yield messages.append_column(POSITION, positions)
            rows += messages.num_rows
            malformed += len(batch.malformed)
            ascending += batch.ascending
            note.write(max(0, tap.size - file.start))
    if first is not None:
        tap.size = file.size  # of the rest no checksum is needed
    note.write(file.stored_bytes, finished=True)
    lines = rows + malformed
    tally = {COUNTS: Counter(lines=lines, malformed=malformed), GROUPS: groups}
    yield TaggedOutput(TALLY, tally | {ASCENDING: Counter({file.path: ascending})})
    yield TaggedOutput(
        INPUTS, FileRead(file.position, file.describe(tap), lines, malformed, path, examples)
    )


def _first_messages(batches: Iterable[MessageBatch], messages: int) -> Iterator[MessageBatch]:
    """Yields the first messages, and of their batches' malformed lines the same share."""
    left, malformed_left = messages, max(messages, _MALFORMED_LINES)
    for batch in batches:
        some = batch.messages.slice(0, left)
        left -= some.num_rows
        malformed = batch.malformed
        if rows := batch.messages.num_rows:
            malformed = malformed[: math.ceil(len(malformed) * some.num_rows / rows)]
        yield batch._replace(messages=some, malformed=malformed)
        malformed_left -= len(batch.malformed)
        if not left or malformed_left <= 0:
            return


def without_dropped_texts(messages: pa.RecordBatch) -> pa.RecordBatch:
    """The messages; the text of a dropped one is null, since nothing needs it."""
    texts = pc.if_else(messages.column("dropped_by").is_valid(), None, messages.column("text"))
    return with_columns(messages, text=texts)


def _keep_examples(
    examples: dict[str, list[str]], messages: pa.RecordBatch, rule_names: Sequence[str]
) -> None:
    rules, texts = messages.column("dropped_by"), messages.column("text")
    for rule in pc.unique(rules.drop_null()).to_pylist():
        kept = examples.setdefault(rule_names[rule], [])
        if len(kept) < EXAMPLES:
            rows = np.flatnonzero(values_of(pc.equal(rules, rule)))[: EXAMPLES - len(kept)]
            kept += [text[:KEPT_OF_TOO_LONG] for text in texts.take(pa.array(rows)).to_pylist()]
