"""Input files in, batches of messages out, with what was counted and the malformed lines.

A file that cannot be read to its end is reported instead of raised, so that no runner tries it
again and all bad files are named.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import Metrics
from apache_beam.pvalue import TaggedOutput

from data_pipeline.execution.columns import values_of
from data_pipeline.execution.progress import READING, Note
from data_pipeline.execution.report import COUNTS, TALLY, UNREADABLE
from data_pipeline.sources.source import Layout, MessageBatch, Source
from data_pipeline.storage.filesystem import NewFile, Tap, crc32c_of_parts, open_stored
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import KEPT_OF_TOO_LONG

INPUTS = "inputs"
LETTERS = "dead letters"
"""The tags of outputs that describe what was read, and say where its malformed lines are."""
POSITION = pa.field("position", pa.int64())
"""The place of a message in reading order, over all files."""
EXAMPLES = 3
"""Examples of dropped messages that are kept for each rule."""
MOST_REASONS = 100
"""Reasons why lines are malformed that are counted by themselves; the rest together."""
OTHER_REASONS = "other reasons"
_ROW_BITS = 40


class FileRead(NamedTuple):
    """What is known of an input file, or of a part of one, that was read to its end."""

    position: int
    """Among all files and parts, in reading order."""
    about: dict[str, Any]
    """Path, size, time and checksum; see `InputFile.describe`."""
    lines: int
    malformed: int
    reasons: dict[str, int]
    """Why lines are malformed -> how many."""
    examples: dict[str, list[str]]
    """Rule -> starts of the first texts that it dropped."""
    groups: list[str]
    """See `MessageBatch.groups`."""


class DeadLetters(NamedTuple):
    """The malformed lines of a file or part."""

    position: int
    is_start: bool
    """Whether it is the start of a file."""
    lines: int
    """How many lines it has, to number those of the next part."""
    path: str
    """Of the file that holds them, numbered within the part; empty if there are none."""


class ReadShare(beam.DoFn):
    """[(position, input file)] -> batches of messages; tagged, all that is known of each file."""

    def __init__(self, source: Source, folder: str, *, max_dead_letters: int):
        """Reads by `source`; at most so many malformed lines of a file are kept, in `folder`."""
        self._source = source
        self._folder = folder
        self._max_dead_letters = max_dead_letters

    def process(self, element: list[tuple[int, InputFile]]) -> Iterator[Any]:
        """Reads the files one after the other."""
        for position, file in element:
            try:
                yield from self._read(position, file)
            except UnreadableFileError as error:
                yield TaggedOutput(UNREADABLE, str(error))

    def _read(self, position: int, file: InputFile) -> Iterator[Any]:
        source, tap, note = self._source, Tap(), Note(self._folder, READING, f"{position:06d}")
        rows = lines = malformed = 0
        reasons: Counter = Counter()
        examples: dict[str, list[str]] = {}
        groups: frozenset[str] = frozenset()
        path = ""
        with ExitStack() as stack:
            for batch in source.read(file, tap):
                if batch.malformed and not path:
                    path = FileSystems.join(self._folder, f"dead_letters-{position:06d}")
                    letters = stack.enter_context(NewFile(path))
                for line in batch.malformed[: max(0, self._max_dead_letters - malformed)]:
                    letters.write(line.as_dead_letter())
                _count_reasons(reasons, batch)
                _keep_examples(examples, batch.messages, source.rule_names)
                groups |= batch.groups
                yield self._numbered(batch.messages, (position << _ROW_BITS) + rows)
                rows += batch.messages.num_rows
                lines += batch.lines
                malformed += len(batch.malformed)
                count({"lines": batch.lines, "malformed": len(batch.malformed)})
                note.write(done=tap.size, lines=lines)
        note.write(done=file.stored_bytes, lines=lines, finished=True)
        counts = Counter(lines=lines, malformed=malformed)
        yield TaggedOutput(TALLY, {COUNTS: counts})
        about = file.describe(tap)
        found = FileRead(position, about, lines, malformed, reasons, examples, sorted(groups))
        yield TaggedOutput(INPUTS, found)
        yield TaggedOutput(LETTERS, DeadLetters(position, not file.start, tap.lines, path))

    def _numbered(self, messages: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """The messages with their positions; those that are linked without dropped texts."""
        if self._source.layout in (Layout.LINKED, Layout.LINKED_THREADS):
            messages = without_dropped_texts(messages)
        return messages.append_column(
            POSITION, pa.array(np.arange(first, first + messages.num_rows))
        )


def count(counts: dict[str, int]) -> None:
    """Adds counts to the runner's own metrics, to watch the job by."""
    for name, number in counts.items():
        Metrics.counter("pairs", name).inc(number)


def without_dropped_texts(messages: pa.RecordBatch) -> pa.RecordBatch:
    """The messages; the text of a dropped one is null, since nothing needs it."""
    texts = pc.if_else(messages.column("dropped_by").is_valid(), None, messages.column("text"))
    place = messages.schema.get_field_index("text")
    return messages.set_column(place, pa.field("text", pa.large_string()), texts)


def _count_reasons(reasons: Counter, batch: MessageBatch) -> None:
    for line in batch.malformed:
        # Without what follows, a value or where the JSON ended, or there are as many as lines.
        reason = line.reason.partition(":")[0]
        is_one_more = reason not in reasons and len(reasons) >= MOST_REASONS
        reasons[OTHER_REASONS if is_one_more else reason] += 1


def _keep_examples(
    examples: dict[str, list[str]], messages: pa.RecordBatch, rule_names: Sequence[str]
) -> None:
    rules, texts = messages.column("dropped_by"), messages.column("text")
    for rule in pc.unique(rules.drop_null()).to_pylist():
        kept = examples.setdefault(rule_names[rule], [])
        if len(kept) < EXAMPLES:
            rows = np.flatnonzero(values_of(pc.equal(rules, rule)))[: EXAMPLES - len(kept)]
            kept += [text[:KEPT_OF_TOO_LONG] for text in texts.take(pa.array(rows)).to_pylist()]


def merged(parts: Sequence[FileRead]) -> FileRead:
    """What is known of a file from its parts, in reading order."""
    first = parts[0]
    if len(parts) == 1:
        return first
    spans = [(part.about["crc32c"], part.about["part"]) for part in parts]
    checksum = crc32c_of_parts((crc, span["end"] - span["start"]) for crc, span in spans)
    about = {name: first.about[name] for name in ("path", "bytes", "modified")}
    return FileRead(
        first.position,
        about | {"crc32c": checksum},
        sum(part.lines for part in parts),
        sum(part.malformed for part in parts),
        _total(part.reasons for part in parts),
        first_examples(part.examples for part in parts),
        sorted({group for part in parts for group in part.groups}),
    )


def _total(counts: Iterable[dict[str, int]]) -> Counter:
    total: Counter = Counter()
    for each in counts:
        total.update(each)
    return total


def first_examples(found: Iterable[dict[str, list[str]]]) -> dict[str, list[str]]:
    """The first examples of each rule over files or parts, in their order."""
    first: dict[str, list[str]] = {}
    for examples in found:
        for rule, texts in examples.items():
            first[rule] = (first.get(rule, []) + texts)[:EXAMPLES]
    return first


def dead_letter_lines(letters: Iterable[DeadLetters]) -> Iterator[bytes]:
    """The malformed lines of files and parts in reading order, numbered within their file."""
    before = 0
    for part in letters:
        before = 0 if part.is_start else before
        if part.path:
            with closing(open_stored(part.path)) as stream:
                for line in stream:
                    yield _renumbered(line, before) if before else line
        before += part.lines


def _renumbered(dead_letter: bytes, lines_before: int) -> bytes:
    content = orjson.loads(dead_letter)
    content["line"] += lines_before
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)
