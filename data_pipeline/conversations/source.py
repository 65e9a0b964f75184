"""Tables of messages, turns or pairs as sources: the fields of each row, judged by the rules."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any, NamedTuple

import orjson
import pyarrow as pa

from data_pipeline.conversations.fields import Fields
from data_pipeline.files.filesystem import Tap, open_stored
from data_pipeline.files.inputs import InputFile
from data_pipeline.files.malformed_lines import KEPT_OF_TOO_LONG, MalformedLine
from data_pipeline.messages.source import SCHEMAS, Layout, MessageBatch
from data_pipeline.pairs.splits import stable_hash
from data_pipeline.rules.message_rules import Message, MessageRules
from data_pipeline.tables.reader import PARQUET, read_rows, suffix_of
from data_pipeline.tables.rows import MISSING, Rows, TableFormat
from data_pipeline.tables.values import as_id, as_order, as_seconds, as_text

_READ_BYTES = 4 << 20


class _Said(NamedTuple):
    """What the rules look at."""

    text: str
    author: str


def is_empty(message: Message) -> bool:
    """It has no text."""
    return not message.text


class TableSource(NamedTuple):
    """Rows of tables as messages."""

    layout: Layout
    names: Fields
    rules: MessageRules
    form: TableFormat
    same_names: bool = False
    """Whether two inputs have one file name, so that ids of rows need the whole path."""

    @property
    def rule_names(self) -> Sequence[str]:
        """`empty`, and those that are on."""
        return ["empty", *self.rules.predicates()]

    @property
    def fields(self) -> Sequence[str]:
        """The names of the fields asked for."""
        return list(self.names.given().values())

    def describe(self) -> dict[str, Any]:
        """Everything but the files."""
        return {
            "source": self.layout.value,
            "fields": self.names.given(),
            "rules": self.rules.describe_all(),
            "form": self.form._asdict(),
            "same_names": self.same_names,
        }

    def hints(self, groups: frozenset[str]) -> list[str]:
        """None: nothing is asked of groups."""
        return []

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the messages of a table."""
        reader = _Reader(self, file)
        for rows in read_rows(file, self.fields, tap=tap, form=self.form):
            yield reader.batch(rows)
        if suffix_of(file.path, self.form) in PARQUET:
            # Read from the end, and again from the start for its checksum.
            with closing(open_stored(file.path)) as raw:
                tap.on(raw)
                while tap.read(_READ_BYTES):
                    pass


class _Reader:
    """Makes messages of the rows of one file."""

    def __init__(self, source: TableSource, file: InputFile):
        self._source = source
        self._file = file
        self._predicates: list[Callable[[Message], bool]] = [
            is_empty,
            *source.rules.predicates().values(),
        ]
        name = file.path if source.same_names else file.path.rpartition("/")[2]
        self._name = name
        self._roles = list(source.names.given())

    @cached_property
    def _message(self) -> Callable[[int, dict[str, Any]], tuple]:
        return {
            Layout.LINKED: self._linked,
            Layout.LINKED_THREADS: self._linked,
            Layout.TURNS: self._turn,
            Layout.ROWS: self._row,
        }[self._source.layout]

    def batch(self, rows: Rows) -> MessageBatch:
        """The messages of some rows."""
        messages, malformed = [], list(rows.malformed)
        for number, values in zip(rows.numbers, rows.values, strict=True):
            try:
                messages.append(self._message(number, dict(zip(self._roles, values, strict=True))))
            except ValueError as error:
                malformed.append(self._malformed(number, values, str(error)))
        malformed.sort(key=lambda line: line.number)
        schema = SCHEMAS[self._source.layout]
        columns = list(zip(*messages, strict=True)) or [()] * len(schema)
        arrays = [pa.array(column, f.type) for column, f in zip(columns, schema, strict=True)]
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
        return MessageBatch(batch, rows.total, malformed)

    def _linked(self, number: int, row: dict[str, Any]) -> tuple:
        own_id = self._required(row, "id", as_id)
        parent = self._field(row, "parent", as_id)
        has_threads = self._source.layout is Layout.LINKED
        thread = self._required(row, "thread", as_id) if has_threads else ""
        text, dropped_by = self._judged(row, "text")
        return own_id, parent, thread, *self._about(row, text), dropped_by

    def _turn(self, number: int, row: dict[str, Any]) -> tuple:
        thread = self._required(row, "thread", as_id)
        order = self._field(row, "order", as_order)
        text, dropped_by = self._judged(row, "text")
        return "", None, thread, *self._about(row, text), dropped_by, str(order)

    def _row(self, number: int, row: dict[str, Any]) -> tuple:
        own_id = f"{self._name}:{number}"
        question, dropped_by = self._judged(row, "input")
        response, also = self._judged(row, "response")
        thread = self._field(row, "thread", as_id) or f"{stable_hash(question):016x}"
        if dropped_by is None:
            dropped_by, shown = also, response
        else:
            shown = question
        return own_id, None, thread, *self._about(row, shown), dropped_by, question

    def _about(self, row: dict[str, Any], text: str) -> tuple[str, str, int | None]:
        group = self._field(row, "group", as_text) or ""
        created = as_seconds(row["time"]) if "time" in row else None
        return group, text, created

    def _judged(self, row: dict[str, Any], role: str) -> tuple[str, int | None]:
        """A text, and the index of the first rule that drops it."""
        said = _Said(self._field(row, role, as_text), self._field(row, "author", as_text) or "")
        for index, holds in enumerate(self._predicates):
            if holds(said):
                return said.text, index
        return said.text, None

    def _required(self, row: dict[str, Any], role: str, convert: Callable[[Any], Any]) -> Any:
        value = self._field(row, role, convert)
        if value is None:
            name = self._source.names.given()[role]
            found = "missing" if row[role] is MISSING else "empty"
            raise ValueError(f"field {name!r} is {found}")
        return value

    def _field(self, row: dict[str, Any], role: str, convert: Callable[[Any], Any]) -> Any:
        """The value of a field; None if the source has no field for this."""
        if role not in row:
            return None
        try:
            return convert(row[role])
        except ValueError as error:
            name = self._source.names.given()[role]
            raise ValueError(f"field {name!r} {error}") from None

    def _malformed(self, number: int, values: tuple, reason: str) -> MalformedLine:
        names = self._source.names.given().values()
        shown = {n: v for n, v in zip(names, values, strict=True) if v is not MISSING}
        raw = orjson.dumps(shown, default=str, option=orjson.OPT_NON_STR_KEYS)
        return MalformedLine(self._file.path, number, raw[:KEPT_OF_TOO_LONG], reason)
