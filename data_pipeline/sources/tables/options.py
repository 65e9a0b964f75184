"""The options of `conversations` and `pairs`: declared, and made into their source."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from common.command_line import option
from common.errors import InputError
from data_pipeline.pairs.options import HALVES, PairOptions
from data_pipeline.sources.rules import MessageRules, RuleOptions

if TYPE_CHECKING:
    from data_pipeline.sources.source import Layout
    from data_pipeline.sources.tables.source import TableSource
    from data_pipeline.storage.inputs import InputFile

_TABS = ("\\t", "tab")
_FIELDS = "fields; a dotted name, such as user.name, is a field of a nested object"
_TABLE = "CSV"
_SUFFIX = "_field"


def _field(default: Any, *, help: str) -> Any:  # noqa: A002
    return option(default, help=help, metavar="NAME", group=_FIELDS)


@dataclass(frozen=True, kw_only=True)
class TableOptions(PairOptions, RuleOptions):
    """The options of both commands; names of fields end in `_field`."""

    thread_field: str | None = _field(
        None,
        help="the conversation, which is not divided between splits; by default what replies "
        "connect, and of rows those with the same input",
    )
    time_field: str | None = _field(
        None, help="seconds since 1970 or an ISO 8601 time, for the data card"
    )
    group_field: str | None = _field(
        None, help="what the data card counts pairs by, such as a channel or a product"
    )
    delimiter: str | None = option(
        None,
        help="between fields; default: a tab in .tsv, otherwise a comma",
        metavar="C",
        group=_TABLE,
    )
    no_quotes: bool = option(
        False, help="quotes are part of the text, as in many TSV files", group=_TABLE
    )

    def __post_init__(self) -> None:
        """Checks options that depend on each other."""
        super().__post_init__()
        if self.delimiter is not None:
            delimiter = "\t" if self.delimiter in _TABS else self.delimiter
            if len(delimiter) != 1 or delimiter in '"\r\n':
                raise InputError(f"--delimiter: {delimiter!r}; accepted: one character, and tab")
            object.__setattr__(self, "delimiter", delimiter)
        # A group may be anything, the thread or the author too; a time may be what orders turns.
        apart = {role: name for role, name in self.names.items() if role not in ("group", "time")}
        for name, count in Counter(apart.values()).items():
            if count > 1:
                flags = [f"--{role}{_SUFFIX}" for role in apart if apart[role] == name]
                raise InputError(f"{' and '.join(flags)}: both name {name!r}; name two fields")

    @property
    def names(self) -> dict[str, str]:
        """Role, such as "thread" -> the name of its field."""
        options = [field.name for field in dataclasses.fields(self)]
        given = {name: getattr(self, name) for name in options if name.endswith(_SUFFIX)}
        return {name.removesuffix(_SUFFIX): field for name, field in given.items() if field}

    @property
    def layout(self) -> "Layout":
        """How messages become pairs."""
        from data_pipeline.sources.source import Layout

        if "input" in self.names:
            return Layout.ROWS
        if "order" in self.names:
            return Layout.TURNS
        return Layout.LINKED if self.thread_field else Layout.LINKED_THREADS

    def message_rules(self) -> MessageRules:
        """The rules that are asked for; those on authors only where there are authors."""
        rules = super().message_rules()
        return rules if "author" in self.names else rules._replace(drop_authors_containing=())

    def describe(self) -> dict[str, Any]:
        """The fields, the rules and the form."""
        return {
            **{f"{role}{_SUFFIX}": name for role, name in self.names.items()},
            **self.message_rules().describe(),
            "delimiter": self.delimiter,
            "no_quotes": self.no_quotes,
        }

    def source(self, files: "Sequence[InputFile]") -> "TableSource":
        """Reads tables, after a look at the first rows.

        Raises:
          InputError: if a field is missing, or an option is for CSV and no file is.
        """
        from data_pipeline.sources.tables.reader import DELIMITED, suffix_of
        from data_pipeline.sources.tables.rows import TableFormat
        from data_pipeline.sources.tables.source import TableSource
        from data_pipeline.sources.tables.values import as_id

        form = TableFormat(self.delimiter, quotes=not self.no_quotes)
        if form != TableFormat() and not {suffix_of(file.path, form) for file in files} & {
            *DELIMITED
        }:
            name = "delimiter" if self.delimiter else "no_quotes"
            raise InputError(f"--{name}: accepted with CSV and TSV files; no input is one")
        file_names = Counter(PurePath(file.path).name for file in files)
        source = TableSource(
            self.layout,
            self.names,
            self.message_rules(),
            form,
            same_names=max(file_names.values()) > 1,
            no_parent=as_id(getattr(self, "no_parent", None)),
        )
        if self.max_malformed < 1:
            source.require_messages(files)
        return source


@dataclass(frozen=True, kw_only=True)
class ConversationOptions(TableOptions):
    """Which messages become pairs, and how they are stored."""

    text_field: str = _field(dataclasses.MISSING, help="the text of a message")
    id_field: str | None = _field(None, help="the id of a message, a number or text")
    parent_field: str | None = _field(
        None, help="the id of the message that it replies to; empty if there is none"
    )
    no_parent: str | None = option(
        None,
        help="a parent that means none, such as 0; an empty one and the message's own id always do",
        metavar="VALUE",
        group=_FIELDS,
    )
    order_field: str | None = _field(
        None,
        help="instead of --id_field and --parent_field: a number or a time that orders the "
        "messages of a thread; each replies to the one before",
    )
    author_field: str | None = _field(None, help="who wrote it, for --drop_authors_containing")

    def __post_init__(self) -> None:
        """Checks options that depend on each other."""
        super().__post_init__()
        is_linked = self.id_field and self.parent_field and not self.order_field
        is_ordered = self.thread_field and self.order_field
        if not is_linked and (not is_ordered or self.id_field or self.parent_field):
            raise InputError(
                "--id_field, --order_field: accepted: either --id_field and --parent_field, or "
                "--thread_field and --order_field"
            )
        if self.no_parent is not None and self.parent_field is None:
            raise InputError("--no_parent: needs --parent_field, the name of the parent")
        if self.drop_authors_containing is not None and self.author_field is None:
            raise InputError("--drop_authors_containing: needs --author_field")
        if self.pairs_of == HALVES and self.thread_field is None:
            raise InputError(
                f"--pairs_of: {HALVES!r} needs --thread_field: the halves of a message belong in "
                "the split of its thread"
            )

    def describe(self) -> dict[str, Any]:
        """The fields, the rules and the form, and what means no parent."""
        described = super().describe()
        return described | ({"no_parent": self.no_parent} if self.no_parent else {})


@dataclass(frozen=True, kw_only=True)
class RowOptions(TableOptions):
    """Which fields of a row are a pair, and how pairs are stored."""

    input_field: str = _field(dataclasses.MISSING, help="the first text of a pair")
    response_field: str = _field(dataclasses.MISSING, help="the text that replies to it")

    def __post_init__(self) -> None:
        """Refuses options that are for messages."""
        super().__post_init__()
        if self.context_turns:
            raise InputError("--context_turns: a row has no turn before its input; accepted: 0")
        if self.drop_authors_containing is not None:
            raise InputError("--drop_authors_containing: rows have no author")
        if self.pairs_of == HALVES:
            raise InputError(f"--pairs_of: {HALVES!r}: a row is a pair already")
