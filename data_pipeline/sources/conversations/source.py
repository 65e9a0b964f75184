"""Tables of messages, turns or pairs as sources: the fields of each row, judged by the rules."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from data_pipeline.execution.columns import lengths_of
from data_pipeline.pairs.splits import stable_hash
from data_pipeline.sources.conversations.fields import Fields
from data_pipeline.sources.rules.columns import dropped_by, masks
from data_pipeline.sources.rules.message_rules import MessageRules
from data_pipeline.sources.source import SCHEMAS, Layout, MessageBatch, Wording
from data_pipeline.sources.tables.reader import JSON_LINES, PARQUET, read_rows, suffix_of
from data_pipeline.sources.tables.rows import MISSING, Rows, TableFormat
from data_pipeline.sources.tables.values import as_id, as_order, as_seconds, as_text
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile
from data_pipeline.storage.malformed_lines import KEPT_OF_TOO_LONG, MalformedLine

EMPTY = "empty"
"""The rule that drops messages without a text; it is always on."""
_OPTIONAL = {"author", "group", "parent", "thread"}
"""Roles of fields that some row of the input must have."""
_READ_BYTES = 4 << 20
_HAS_TIME = "has a time"
"""A group that tells so of a file; the roles in `_OPTIONAL` tell that some row has their field."""
_NO_PARENTS = ("0", "-1", "null", "NULL", "None", "nan", "NaN", "N/A")
"""What some tables write where there is no parent. Each may also be the id of a message."""
_NAMED, _THERE = "has the parent ", "has the id "
"""Groups that begin so, and end in one of `_NO_PARENTS`, say that a file has that value."""


class TableSource(NamedTuple):
    """Rows of tables as messages."""

    layout: Layout
    names: Fields
    rules: MessageRules
    form: TableFormat
    same_names: bool = False
    """Whether two inputs have one file name, so that ids of rows need the whole path."""
    no_parent: str | None = None
    """A parent that means none, beside the empty one."""

    @property
    def rule_names(self) -> Sequence[str]:
        """`empty`, and those that are on."""
        return [EMPTY, *self.rules.names]

    @property
    def wording(self) -> Wording:
        """Messages, or rows where each is a pair."""
        return Wording(message="row" if self.layout is Layout.ROWS else "message")

    @property
    def fields(self) -> Sequence[str]:
        """The names of the fields asked for."""
        return list(self.names.given().values())

    def hints(self, groups: frozenset[str]) -> list[str]:
        """Fields that no row has, a field without a time, and parents that seem to mean none."""
        found = [
            f"--{role}_field: no row has the field {name!r}"
            for role, name in self.names.given().items()
            if role in _OPTIONAL - groups
        ]
        if self.names.time is not None and _HAS_TIME not in groups:
            found.append(
                f"--time_field: no message has a time in {self.names.time!r}; accepted: seconds "
                "since 1970 (not milliseconds) and ISO 8601"
            )
        found += [
            f"--parent_field: some messages have {value!r} in {self.names.parent!r}, which is the "
            f"id of no message; if it means that there is no parent, pass --no_parent {value}"
            for value in _NO_PARENTS
            if f"{_NAMED}{value}" in groups and f"{_THERE}{value}" not in groups
        ]
        return found

    def reads_parts(self, file: InputFile) -> bool:
        """Whether a line is a message; the id of a row that is a pair is its number."""
        return suffix_of(file.path, self.form) in JSON_LINES and self.layout is not Layout.ROWS

    def read(self, file: InputFile, tap: Tap) -> Iterator[MessageBatch]:
        """Yields the messages of a table.

        Raises:
          UnreadableFileError: if the file cannot be read.
        """
        reader = _Reader(self, file)
        for rows in read_rows(file, self.fields, tap=tap, form=self.form):
            yield reader.batch(rows)
        if suffix_of(file.path, self.form) in PARQUET:
            # Read from the end, and again from the start for its checksum.
            with closing(file.open()) as raw:
                tap.on(raw)
                while tap.read(_READ_BYTES):
                    pass


class _Reader:
    """Makes messages of the rows of one file."""

    def __init__(self, source: TableSource, file: InputFile):
        self._source = source
        self._file = file
        self._name = file.path if source.same_names else file.path.rpartition("/")[2]
        self._roles = source.names.given()
        self._optional = _OPTIONAL & self._roles.keys()
        self._unseen = self._optional
        """Optional roles whose field no row has had."""

    def batch(self, rows: Rows) -> MessageBatch:
        """The messages of some rows."""
        messages, malformed = [], list(rows.malformed)
        for number, values in zip(rows.numbers, rows.values, strict=True):
            row = dict(zip(self._roles, values, strict=True))
            if self._unseen:
                self._unseen = {role for role in self._unseen if row[role] is MISSING}
            try:
                messages.append(self._message(number, row))
            except ValueError as error:
                malformed.append(self._malformed(number, values, str(error)))
        malformed.sort(key=lambda line: line.number)
        groups = self._optional - self._unseen
        if any(message["created"] is not None for message in messages):
            groups.add(_HAS_TIME)
        for prefix, role in ((_NAMED, "parent"), (_THERE, "id")):
            seen = {message.get(role) for message in messages}
            groups |= {f"{prefix}{value}" for value in _NO_PARENTS if value in seen}
        return MessageBatch(self._judged(messages), rows.total, malformed, frozenset(groups))

    def _message(self, number: int, row: dict[str, Any]) -> dict[str, Any]:
        """The columns of a message, and its author.

        Raises:
          ValueError: if a field has a value of another kind, or none where one must be.
        """
        about = {
            "group": self._field(row, "group", as_text) or "",
            "created": as_seconds(row["time"]) if "time" in row else None,
            "author": self._field(row, "author", as_text) or "",
        }
        match self._source.layout:
            case Layout.ROWS:
                return about | self._pair(number, row)
            case Layout.TURNS:
                return about | {
                    "id": "",
                    "thread": self._required(row, "thread", as_id),
                    "order": str(self._field(row, "order", as_order)),
                    "text": self._text(row, "text"),
                }
            case layout:
                has_threads = layout is Layout.LINKED
                message_id = self._required(row, "id", as_id)
                parent = self._field(row, "parent", as_id)
                return about | {
                    "id": message_id,
                    # Slack names the first message of a thread as the parent of all, itself too.
                    "parent": None if parent in (message_id, self._source.no_parent) else parent,
                    "thread": self._required(row, "thread", as_id) if has_threads else "",
                    "text": self._text(row, "text"),
                }

    def _pair(self, number: int, row: dict[str, Any]) -> dict[str, Any]:
        question = self._text(row, "input")
        return {
            "id": f"{self._name}:{number}",
            # Rows with the same input are one thread, or the input could be in two splits.
            "thread": self._field(row, "thread", as_id) or stable_hash(question.encode()).hex(),
            "input": question,
            "text": self._text(row, "response"),
        }

    def _judged(self, messages: list[dict[str, Any]]) -> pa.RecordBatch:
        """The messages, with the index of the first rule that drops each."""
        schema = SCHEMAS[self._source.layout]
        columns = {
            field.name: pa.array([message.get(field.name) for message in messages], field.type)
            for field in schema
        }
        authors = pa.array([message["author"] for message in messages], pa.string())
        columns["dropped_by"] = self._rule_of(columns["text"], authors)
        if "input" in columns:
            of_input = self._rule_of(columns["input"], authors)
            first = pc.min_element_wise(of_input, columns["dropped_by"])  # without nulls
            # The text that this rule drops is the one to show.
            is_input = pc.equal(of_input, first).fill_null(False)
            columns["text"] = pc.if_else(is_input, columns["input"], columns["text"])
            columns["dropped_by"] = first
        return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)

    def _rule_of(self, texts: Any, authors: Any) -> Any:
        found = {EMPTY: lengths_of(texts) == 0} | masks(self._source.rules, texts, authors)
        return dropped_by(list(found.values()), rows=len(texts))

    def _required(self, row: dict[str, Any], role: str, convert: Callable[[Any], Any]) -> Any:
        value = self._field(row, role, convert)
        if value is None:
            found = "missing" if row[role] is MISSING else "empty"
            raise ValueError(f"field {self._roles[role]!r} is {found}")
        return value

    def _text(self, row: dict[str, Any], role: str) -> str:
        """A text, which may be empty but not missing."""
        if row[role] is MISSING:
            raise ValueError(f"field {self._roles[role]!r} is missing")
        return self._field(row, role, as_text)

    def _field(self, row: dict[str, Any], role: str, convert: Callable[[Any], Any]) -> Any:
        """The value of a field; None if the source has no field for this."""
        if role not in row:
            return None
        try:
            return convert(row[role])
        except ValueError as error:
            raise ValueError(f"field {self._roles[role]!r} {error}") from None

    def _malformed(self, number: int, values: tuple, reason: str) -> MalformedLine:
        names = self._roles.values()
        shown = {n: v for n, v in zip(names, values, strict=True) if v is not MISSING}
        try:
            raw = orjson.dumps(shown, default=str, option=orjson.OPT_NON_STR_KEYS)
        except orjson.JSONEncodeError:  # nested deeper than orjson writes
            raw = repr(shown).encode()
        return MalformedLine(self._file.path, number, raw[:KEPT_OF_TOO_LONG], reason)
