"""Tables of messages, turns or pairs as sources: the fields of each row, judged by the rules."""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from common.errors import InputError
from common.tables import Dialect
from common.text_files import VISIBLE
from common.tfrecord import CONTEXT
from data_pipeline.execution.columns import values_of
from data_pipeline.pairs.options import ALL, FILE, FOLDER
from data_pipeline.pairs.splits import stable_hash
from data_pipeline.sources import ids
from data_pipeline.sources.markup import plain_text
from data_pipeline.sources.masks import dropped_by, masks
from data_pipeline.sources.rules import MessageRules
from data_pipeline.sources.source import SCHEMAS, Flow, Layout, MessageBatch, Wording
from data_pipeline.sources.tables import flag_of
from data_pipeline.sources.tables.reader import (
    JSON_LINES,
    MISSING,
    SKIPPED,
    Rows,
    as_raw,
    read_rows,
    suffix_of,
)
from data_pipeline.sources.tables.repeated import Repeated, measure, without_lines
from data_pipeline.sources.tables.values import as_id, as_order, as_seconds, as_text, as_time, whole
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError
from data_pipeline.storage.lines import MalformedLine

EMPTY = "empty"  # the rule that drops messages without a text; it is always on
_TRIED_FILES = 3  # files of which the first rows are read before a job starts
_MANY = 0.05  # a larger share of the texts with repeated lines, or with markup, is warned of
_SHOWN_CHARACTERS = 60
_NOBODY = r"^([\[(<]?(deleted|removed|unknown|anonymous|null|none)( user)?[\])>]?)?$"
"""Authors who may be several people."""
_REQUIRED = {"id", "input", "text", "response"}  # of each row; of ordered messages the thread, too
_OPTIONAL = {"author", "context", "group", "parent", "thread"}  # of some row
_HAS_TIME = "has a time"
"""A group that tells so of a file; the roles in `_OPTIONAL` tell that some row has their field."""
_NUMBERED, _TIMED = "has orders that are numbers", "has orders that are times"
_TIME = re.compile(r"\d[-:T]\d")
_NO_PARENTS = ("0", "-1", "null", "NULL", "None", "nan", "NaN", "N/A")
"""What some tables write where there is no parent, and what may be the id of a message: groups such
as "parent 0" and "id 0" say that a file has that value."""


def _one_thread(names: Sequence[str | None]) -> str | None:
    """The thread that the values of several fields name together; None if one is missing."""
    if None in names:
        return None
    return names[0] if len(names) == 1 else orjson.dumps(names).decode()


def _ascending(threads: Sequence[str], orders: Sequence[Any]) -> int:
    """See `MessageBatch.ascending`."""
    total, last = 0, dict[str, Any]()
    for thread, order in zip(threads, orders, strict=True):
        before = last.get(thread, order)
        total += (order > before) - (order < before)
        last[thread] = order
    return total


_COLUMNS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "id": ("id", as_id),
    "parent": ("parent", as_id),
    "thread": ("thread", as_id),
    "order": ("order", as_order),  # as_time with a gap
    "input": ("input", as_text),
    "context": ("context", as_text),
    "text": ("text", as_text),
    "response": ("text", as_text),
    "author": ("author", as_text),
    "group": ("group", as_text),
    "time": ("created", as_seconds),
    SKIPPED: (SKIPPED, lambda rule: None if rule is MISSING else rule),
}
"""Role of a field -> the column that it becomes, and how its values are read."""


class TableSource(NamedTuple):
    """Rows of tables as messages."""

    layout: Layout
    names: Mapping[str, str]  # role -> the name of its field
    rules: MessageRules
    form: Dialect = Dialect()
    same_names: bool = False
    """Whether inputs may have the same file names, so that ids of rows need the whole path."""
    no_parent: str | None = None  # a parent that means none, beside the empty one
    ids_within: str | None = None
    markup: str = "none"  # that of the texts, one of `MARKUPS`; it is removed
    strips_repeated: bool = False
    flow: Flow = Flow()
    repeated: Repeated | None = None  # what is repeated in the texts, as `table_source` finds it
    skips: Sequence[str] = ()
    """Rules by which a format drops messages; the field `SKIPPED` of each says which one did."""
    reader: Callable[..., Iterator[Rows]] | None = None
    """Reads files of another format than tables, as `read_rows` does, or the files in a zip."""

    @property
    def rule_names(self) -> Sequence[str]:
        """Those of the format, `empty`, and those that are on."""
        return [*self.skips, EMPTY, *self.rules.names]

    @property
    def wording(self) -> Wording:
        """Messages, or rows where each is a pair."""
        return Wording(message="row" if self.layout is Layout.ROWS else "message")

    def hints(self, groups: frozenset[str]) -> list[str]:
        """What seems wrong with fields and texts."""
        found = []
        if about := self.repeated:
            said = f"of the first {about.texts:,} texts"
            if about.repeated > _MANY * about.texts and not self.strips_repeated:
                shown = ", ".join(repr(line[:_SHOWN_CHARACTERS]) for line in about.lines[:3])
                what = f"{about.repeated:,} {said} begin or end with lines that many share"
                found.append(f"--strip_repeated: {what}, such as {shown}")
            if about.markup > _MANY * about.texts and self.markup == "none":
                what = f"{about.markup:,} {said} have HTML tags or entities"
                found.append(f"--text_markup html: {what}")
        for role, name in self.names.items():
            flag = flag_of(role) if self.reader is None else "--input"
            if role in _OPTIONAL - groups:
                found.append(f"{flag}: no row has the field {name!r}")
            if role == "time" and _HAS_TIME not in groups:
                accepted = "seconds since 1970 (not milliseconds) and ISO 8601"
                found.append(f"{flag}: no message has a time in {name!r}; accepted: {accepted}")
        if {_NUMBERED, _TIMED} <= groups:
            what = "has times and numbers, which are read as seconds since 1970; milliseconds and"
            said = f"{what} dates such as 20240131 are out of order"
            found.append(f"--order_field: {self.names['order']!r} {said}")
        if self.reader:  # what has no parent there is known
            return found
        found += [
            f"--parent_field: some messages have {value!r} in {self.names['parent']!r}, which is "
            f"the id of no message; if it means that there is no parent, pass --no_parent {value}"
            for value in _NO_PARENTS
            if f"parent {value}" in groups and f"id {value}" not in groups
        ]
        return found

    def reads_parts(self, file: InputFile) -> bool:
        """Whether a line is a message: JSON lines."""
        return self.reader is None and suffix_of(file.path, self.form) in JSON_LINES

    def read(self, file: InputFile, tap: Tap) -> Generator[MessageBatch]:
        """Yields the messages of a table, or of the files of an export."""
        read = self.reader or partial(read_rows, form=self.form)
        yield from map(self._judged, read(file, self.names, tap=tap))

    def _judged(self, rows: Rows) -> MessageBatch:
        """The messages of some rows; those with a value that cannot be read are malformed."""
        reasons: dict[int, str] = {}
        values = {role: self._read_field(role, of, reasons) for role, of in rows.fields.items()}
        threads = [values.pop(role) for role in self.names if role.startswith("thread")]
        if threads:
            values["thread"] = list(map(_one_thread, zip(*threads, strict=True)))
        contexts = [role for role in self.names if role.startswith("context")]
        for turn, role in enumerate(contexts):
            values[CONTEXT.format(turn)] = [text or None for text in values.pop(role)]
        if "parent" in values:
            self._link(values, reasons)
        if "order" in values and not threads:
            values["thread"] = [self._scope(rows.path)] * len(rows.numbers)
        if SKIPPED in values and "thread" in values:
            # What a format drops, such as who joined, is no part of the thread's flow.
            of = zip(values["thread"], values[SKIPPED], values.get("id", threads[0]), strict=True)
            values["thread"] = [f"{own} ({rule})" if rule else thread for thread, rule, own in of]
        malformed = list(rows.malformed)
        for row, reason in reasons.items():
            named = {self.names[role]: of[row] for role, of in rows.fields.items()}
            shown = as_raw({name: value for name, value in named.items() if value is not MISSING})
            malformed.append(MalformedLine(rows.path, rows.numbers[row], shown, reason))
        good = [row for row in range(len(rows.numbers)) if row not in reasons]
        if reasons:
            values = {role: [some[row] for row in good] for role, some in values.items()}
        columns = {_COLUMNS.get(role, (role,))[0]: some for role, some in values.items()}
        if "order" in values:
            columns["order"] = list(map(str, values["order"]))
        return MessageBatch(
            self._messages(rows.path, [rows.numbers[row] for row in good], columns),
            sorted(malformed, key=lambda line: line.number),
            self._groups(rows.fields, values, good),
            _ascending(values["thread"], values["order"]) if "order" in values else 0,
        )

    def _read_field(self, role: str, values: Sequence[Any], reasons: dict[int, str]) -> list[Any]:
        """The values as a column has them; adds why those that are none are not."""
        name = role.split()[0]
        column, read = _COLUMNS[name]
        if name == "order" and self.flow.gap is not None:
            read = as_time
        is_required = name in _REQUIRED or (name == "thread" and self.layout is Layout.ORDERED)
        is_text = column in ("text", "input", "context")
        is_cleaned = is_text and (self.markup != "none" or self.strips_repeated)
        found = []
        for row, value in enumerate(values):
            each = None
            try:
                each = self._cleaned(read(value)) if is_cleaned else read(value)
                if is_required and (each is None or value is MISSING):
                    raise ValueError("is missing" if value is MISSING else "is empty")
            except ValueError as error:
                reasons.setdefault(row, f"field {self.names[role]!r} {error}")
            found.append(each)
        return found

    def _cleaned(self, text: str) -> str:
        text = plain_text(text, self.markup)
        if self.strips_repeated and self.repeated is not None:
            text = without_lines(text, self.repeated.lines)
        return text

    def _link(self, values: dict[str, list[Any]], reasons: dict[int, str]) -> None:
        """Removes parents that mean none; then a message without a thread may have no parent."""
        none = whole((self.no_parent or "").strip())
        values["parent"] = [
            # Slack names the first message of a thread as the parent of all, itself too.
            None if parent is None or parent == own_id or whole(parent) == none else parent
            for own_id, parent in zip(values["id"], values["parent"], strict=True)
        ]
        for row, thread in enumerate(values.get("thread", ())):
            if thread is None and values["parent"][row] is not None:
                reasons.setdefault(row, f"field {self.names['thread']!r} is empty")

    def _name(self, path: str) -> str:
        return path if self.same_names else path.rpartition("/")[2]

    def _scope(self, path: str) -> str:
        """The name of the file or folder in which ids, and threads, are unique; empty for all."""
        folder = path.rpartition("/")[0] or "."
        return {FILE: self._name(path), FOLDER: folder}.get(self.ids_within or "", "")

    def _messages(
        self, path: str, numbers: list[int], values: dict[str, list[Any]]
    ) -> pa.RecordBatch:
        """The messages, with the index of the first rule that drops each; `values` by column."""
        schema = SCHEMAS[self.layout]
        for name in values:
            if name.startswith(CONTEXT.format("")):
                schema = schema.append(pa.field(name, pa.large_string()))
        arrays = {
            field.name: pa.array(
                values.get(field.name, [None if field.nullable else ""] * len(numbers)), field.type
            )
            for field in schema
        }
        self._scope_ids(arrays, path, numbers)
        authors = arrays["author"].fill_null("")
        is_nobody = pc.match_substring_regex(authors, _NOBODY, ignore_case=True)
        arrays["author"] = pc.if_else(is_nobody, None, authors)
        arrays["dropped_by"] = self._rule_of(arrays["text"], authors, values.get(SKIPPED, ()))
        if "input" in arrays:
            of_input = self._rule_of(arrays["input"], authors)
            first = pc.min_element_wise(of_input, arrays["dropped_by"])  # without nulls
            # The text that this rule drops is the one to show.
            is_input = pc.equal(of_input, first).fill_null(False)
            arrays["text"] = pc.if_else(is_input, arrays["input"], arrays["text"])
            arrays["dropped_by"] = first
        return pa.RecordBatch.from_pydict(arrays, schema=schema)

    def _scope_ids(self, arrays: dict[str, Any], path: str, numbers: list[int]) -> None:
        """Makes ids and threads unique over all files."""
        threads, within = arrays["thread"], self._scope(path)
        if "input" in arrays:
            arrays["id"] = pa.array([f"{self._name(path)}:{number}" for number in numbers])
            # Rows with the same input are one thread, or the input could be in two splits.
            pairs = zip(threads.to_pylist(), arrays["input"].to_pylist(), strict=True)
            named = [thread or stable_hash(text.encode()).hex() for thread, text in pairs]
            arrays["thread"] = pa.array(named, pa.string())
        elif "thread" in self.names:
            named = pc.coalesce(threads, arrays["id"])
            arrays["thread"] = pc.binary_join_element_wise(within, named, ":") if within else named
        if "parent" in self.names and self.ids_within != ALL and (within or "thread" in self.names):
            for column in ("id", "parent"):
                arrays[column] = ids.scoped(arrays[column], file=within, threads=threads)

    def _rule_of(self, texts: Any, authors: Any, skipped: Sequence[str | None] = ()) -> Any:
        skips = [np.array([rule == each for each in skipped], bool) for rule in self.skips]
        is_empty = ~values_of(pc.match_substring_regex(texts, VISIBLE))
        holds = [*skips, is_empty, *masks(self.rules, texts, authors).values()]
        return dropped_by(holds)

    def _groups(
        self, fields: Mapping[str, Sequence[Any]], values: dict[str, list[Any]], good: list[int]
    ) -> frozenset[str]:
        """What `hints` asks about and is here."""
        asked = _OPTIONAL & fields.keys()
        groups = {role for role in asked if any(value is not MISSING for value in fields[role])}
        if any(time is not None for time in values.get("time", ())):
            groups.add(_HAS_TIME)
        if "order" in values:
            orders = (str(fields["order"][row]) for row in good)
            groups |= {_TIMED if _TIME.search(order) else _NUMBERED for order in orders}
        for role in ("parent", "id"):
            seen = {whole(each) for each in values.get(role, ()) if each is not None}
            groups |= {f"{role} {value}" for value in {*_NO_PARENTS} & seen}
        return frozenset(groups)


def table_source(
    options: Any,
    files: Sequence[InputFile],
    layout: Layout,
    names: Mapping[str, str],
    **others: Any,
) -> TableSource:
    """The source that some `MessageOptions` ask for, after a look at the first rows of some files.

    Unless all lines may be malformed, an InputError where one cannot be read or lacks a field, or
    no row is a message: a wrong name ends a job before it starts.
    """
    others = {"markup": options.text_markup or "none"} | others
    others["strips_repeated"] = options.strip_repeated
    source = TableSource(layout, names, options.message_rules(), **others)
    is_required = options.max_malformed < 1
    texts: list[str] = []
    malformed: list[MalformedLine] = []
    for file in files[:: len(files) // _TRIED_FILES + 1]:
        try:
            with closing(source.read(file, Tap())) as batches:
                for batch in islice(batches, 1):  # an empty Parquet file has none
                    columns = batch.messages.to_pydict()
                    texts += columns.get("input", []) + columns["text"]
                    malformed += batch.malformed
        except UnreadableFileError as error:
            if is_required:
                raise InputError(f"--input: {error}") from error
    if is_required and malformed and not texts:
        path, number, _, reason = malformed[0]
        said = f"none of its first rows is a message; line {number}: {reason}"
        raise InputError(f"--input: {path}: {said}")
    paths = [PurePath(file.path) for file in files]
    same_names = len({path.name for path in paths}) < len(paths)
    in_zips = any(path.suffix.lower() == ".zip" for path in paths)
    repeated = measure(list(filter(None, texts)))
    return source._replace(repeated=repeated, same_names=same_names or in_zips)
