"""Tables of messages, turns or pairs as sources: the fields of each row, judged by the rules."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from common.errors import InputError
from data_pipeline.execution.columns import lengths_of
from data_pipeline.pairs.splits import stable_hash
from data_pipeline.sources.masks import dropped_by, masks
from data_pipeline.sources.rules import MessageRules
from data_pipeline.sources.source import SCHEMAS, Layout, MessageBatch, Wording
from data_pipeline.sources.tables.reader import JSON_LINES, read_rows, suffix_of
from data_pipeline.sources.tables.rows import MISSING, Rows, TableFormat
from data_pipeline.sources.tables.values import as_id, as_order, as_seconds, as_text
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import KEPT_OF_TOO_LONG, MalformedLine

EMPTY = "empty"
"""The rule that drops messages without a text; it is always on."""
_TRIED_FILES = 3
"""Files of which the first rows are read before a job starts."""
_OPTIONAL = {"author", "group", "parent", "thread"}
"""Roles of fields that some row of the input must have."""
_HAS_TIME = "has a time"
"""A group that tells so of a file; the roles in `_OPTIONAL` tell that some row has their field."""
_NO_PARENTS = ("0", "-1", "null", "NULL", "None", "nan", "NaN", "N/A")
"""What some tables write where there is no parent. Each may also be the id of a message."""
_NAMED, _THERE = "has the parent ", "has the id "
"""Groups that begin so, and end in one of `_NO_PARENTS`, say that a file has that value."""


def _required_id(value: Any) -> str:
    found = as_id(value)
    if found is None:
        raise ValueError("is missing" if value is MISSING else "is empty")
    return found


def _required_text(value: Any) -> str:
    """A text, which may be empty but not missing."""
    if value is MISSING:
        raise ValueError("is missing")
    return as_text(value)


_COLUMNS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "id": ("id", _required_id),
    "parent": ("parent", as_id),
    "thread": ("thread", _required_id),
    "order": ("order", lambda value: str(as_order(value))),
    "input": ("input", _required_text),
    "text": ("text", _required_text),
    "response": ("text", _required_text),
    "author": ("author", as_text),
    "group": ("group", as_text),
    "time": ("created", as_seconds),
}
"""Role of a field -> the column that it becomes, and how its values are read."""
_WITHOUT_FIELD = {
    "id": "",
    "parent": None,
    "thread": "",
    "group": "",
    "created": None,
    "author": "",
}
"""Column -> its value where there is no field for it."""


class TableSource(NamedTuple):
    """Rows of tables as messages."""

    layout: Layout
    names: Mapping[str, str]
    """Role -> the name of its field."""
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

    def require_messages(self, files: Iterable[InputFile]) -> None:
        """Reads the first rows of some files, so that a wrong name ends a job before it starts.

        Raises:
          InputError: if a file cannot be read or lacks a field, or no row is a message.
        """
        malformed: list[MalformedLine] = []
        for file in islice(files, _TRIED_FILES):
            try:
                with closing(self.read(file, Tap())) as batches:
                    for batch in islice(batches, 1):  # a Parquet file may have none
                        if batch.messages.num_rows:
                            return
                        malformed += batch.malformed
            except UnreadableFileError as error:
                raise InputError(f"--input: {error}") from error
        for line in malformed[:1]:
            raise InputError(
                f"--input: {line.path}: none of its first rows is a message; line {line.number}: "
                f"{line.reason}"
            )

    def hints(self, groups: frozenset[str]) -> list[str]:
        """Fields that no row has, a field without a time, and parents that seem to mean none."""
        found = [
            f"--{role}_field: no row has the field {name!r}"
            for role, name in self.names.items()
            if role in _OPTIONAL - groups
        ]
        if "time" in self.names and _HAS_TIME not in groups:
            found.append(
                f"--time_field: no message has a time in {self.names['time']!r}; accepted: seconds "
                "since 1970 (not milliseconds) and ISO 8601"
            )
        found += [
            f"--parent_field: some messages have {value!r} in {self.names['parent']!r}, which is "
            f"the id of no message; if it means that there is no parent, pass --no_parent {value}"
            for value in _NO_PARENTS
            if f"{_NAMED}{value}" in groups and f"{_THERE}{value}" not in groups
        ]
        return found

    def reads_parts(self, file: InputFile) -> bool:
        """Whether a line is a message; the id of a row that is a pair is its number."""
        return suffix_of(file.path, self.form) in JSON_LINES and self.layout is not Layout.ROWS

    def read(self, file: InputFile, tap: Tap) -> Generator[MessageBatch]:
        """Yields the messages of a table.

        Raises:
          UnreadableFileError: if the file cannot be read.
        """
        for rows in read_rows(file, list(self.names.values()), tap=tap, form=self.form):
            yield self._judged(file, rows)

    def _judged(self, file: InputFile, rows: Rows) -> MessageBatch:
        """The messages of some rows; those with a value that cannot be read are malformed."""
        fields = dict(zip(self.names, zip(*rows.values, strict=True), strict=False))
        reasons: dict[int, str] = {}
        values = {
            role: self._read_field(role, fields.get(role, ()), reasons) for role in self.names
        }
        malformed = [*rows.malformed, *self._malformed(file, rows, reasons)]
        good = [row for row in range(len(rows.values)) if row not in reasons]
        if reasons:
            values = {role: [some[row] for row in good] for role, some in values.items()}
        columns = self._columns(file, [rows.numbers[row] for row in good], values)
        return MessageBatch(
            self._messages(columns, rows=len(good)),
            rows.total,
            sorted(malformed, key=lambda line: line.number),
            self._groups(fields, columns),
        )

    def _read_field(self, role: str, values: Sequence[Any], reasons: dict[int, str]) -> list[Any]:
        """The values as a column has them; adds why those that are none are not."""
        read = _COLUMNS[role][1]
        if role == "thread" and self.layout is Layout.ROWS:
            read = as_id  # those without one have their input's
        column = []
        for row, value in enumerate(values):
            try:
                column.append(read(value))
            except ValueError as error:
                reasons.setdefault(row, f"field {self.names[role]!r} {error}")
                column.append(None)
        return column

    def _columns(
        self, file: InputFile, numbers: list[int], values: dict[str, list[Any]]
    ) -> dict[str, list[Any]]:
        """Name -> column, of all that `SCHEMAS` has for the layout, and the authors."""
        columns: dict[str, list[Any]] = {
            name: [off] * len(numbers) for name, off in _WITHOUT_FIELD.items()
        }
        columns |= {_COLUMNS[role][0]: column for role, column in values.items()}
        if "parent" in values:
            columns["parent"] = [
                # Slack names the first message of a thread as the parent of all, itself too.
                None if parent in (own_id, self.no_parent) else parent
                for own_id, parent in zip(columns["id"], columns["parent"], strict=True)
            ]
        if "input" in values:
            name = file.path if self.same_names else file.path.rpartition("/")[2]
            columns["id"] = [f"{name}:{number}" for number in numbers]
            # Rows with the same input are one thread, or the input could be in two splits.
            columns["thread"] = [
                thread or stable_hash(text.encode()).hex()
                for thread, text in zip(columns["thread"], columns["input"], strict=True)
            ]
        return columns

    def _messages(self, columns: dict[str, list[Any]], *, rows: int) -> pa.RecordBatch:
        """The messages, with the index of the first rule that drops each."""
        schema = SCHEMAS[self.layout]
        authors = pa.array(columns["author"], pa.string())
        arrays = {
            field.name: pa.array(columns.get(field.name, [None] * rows), field.type)
            for field in schema
        }
        arrays["dropped_by"] = self._rule_of(arrays["text"], authors)
        if "input" in arrays:
            of_input = self._rule_of(arrays["input"], authors)
            first = pc.min_element_wise(of_input, arrays["dropped_by"])  # without nulls
            # The text that this rule drops is the one to show.
            is_input = pc.equal(of_input, first).fill_null(False)
            arrays["text"] = pc.if_else(is_input, arrays["input"], arrays["text"])
            arrays["dropped_by"] = first
        return pa.RecordBatch.from_arrays([arrays[name] for name in schema.names], schema=schema)

    def _rule_of(self, texts: Any, authors: Any) -> Any:
        holds = [lengths_of(texts) == 0, *masks(self.rules, texts, authors).values()]
        return dropped_by(holds, rows=len(texts))

    def _groups(
        self, fields: Mapping[str, Sequence[Any]], columns: dict[str, list[Any]]
    ) -> frozenset[str]:
        """What `hints` asks about and is here."""
        groups = {
            role
            for role in _OPTIONAL & fields.keys()
            if any(value is not MISSING for value in fields[role])
        }
        if any(time is not None for time in columns["created"]):
            groups.add(_HAS_TIME)
        if "parent" in fields:
            for prefix, seen in ((_NAMED, columns["parent"]), (_THERE, columns["id"])):
                groups |= {f"{prefix}{value}" for value in {*_NO_PARENTS} & {*seen}}
        return frozenset(groups)

    def _malformed(
        self, file: InputFile, rows: Rows, reasons: Mapping[int, str]
    ) -> Iterator[MalformedLine]:
        for row, reason in reasons.items():
            named = zip(self.names.values(), rows.values[row], strict=True)
            shown = {name: value for name, value in named if value is not MISSING}
            try:
                raw = orjson.dumps(shown, default=str, option=orjson.OPT_NON_STR_KEYS)
            except orjson.JSONEncodeError:  # nested deeper than orjson writes
                raw = repr(shown).encode()
            yield MalformedLine(file.path, rows.numbers[row], raw[:KEPT_OF_TOO_LONG], reason)
