"""The options of `conversations` and `pairs`: declared, and made into their source."""

from collections import Counter
from dataclasses import dataclass, fields
from typing import Any

from common.command_line import REQUIRED, option
from common.errors import InputError
from common.tables import ESCAPE, QUOTES, Dialect, check_escape
from common.tfrecord import CONTEXT
from data_pipeline.pairs.options import FILE, FOLDER, HALVES, IDS_WITHIN, REPLIES, PairOptions
from data_pipeline.sources.markup import MARKUPS
from data_pipeline.sources.rules import PLACEHOLDERS, MessageRules, RuleOptions, texts_of
from data_pipeline.sources.tables import FIELD, flag_of

_FIELDS = "fields; a dotted name, such as user.name, is a field of a nested object"
_TABLE = "CSV"
_FLOW = "messages that follow each other in a channel; they need times, and the second authors"


def _field(default: Any, *, help: str) -> Any:  # noqa: A002
    return option(default, help=help, metavar="NAME", group=_FIELDS)


@dataclass(frozen=True, kw_only=True)
class MessageOptions(PairOptions, RuleOptions):
    """What is done to messages of any kind of files."""

    text_markup: str | None = option(
        "none",
        help="the markup of the texts, which is removed, as are quotes and images; links keep "
        "their label",
        choices=MARKUPS,
    )
    strip_repeated: bool = option(
        False,
        help="remove the lines with which many texts begin or end, such as greetings and "
        "signatures; the data card lists them",
    )
    placeholders: str | None = option(
        None,
        help="reddit: drop messages whose text stands for one that is gone, such as [deleted]; "
        "default: none, with --rules paper reddit",
        choices=PLACEHOLDERS,
    )

    def describe(self) -> dict[str, Any]:
        """The rules, and what is given of the options that pairs of all sources do not have."""
        others = {"rules", *MessageRules._fields, *(each.name for each in fields(PairOptions))}
        given = {
            each.name: list(value) if isinstance(value, tuple) else value
            for each in fields(self)
            if each.name not in others
            if (value := getattr(self, each.name)) not in (each.default, None)
        }
        return given | self.message_rules().describe()


@dataclass(frozen=True, kw_only=True)
class FlowOptions(MessageOptions):
    """How messages follow each other, where they do not name what they reply to."""

    gap: float | None = option(
        None,
        help="a message that comes more than HOURS after the one before in its channel begins a "
        "new conversation; any other one replies to the one before, unless it names a parent",
        metavar="HOURS",
        above=0,
        group=_FLOW,
    )
    merge_author_runs: bool = option(
        False,
        help="messages of one author that follow each other, with --gap within it, and do not name "
        "different parents, are one turn",
        group=_FLOW,
        needs="author_field",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pairs_of == HALVES and self.has_flow:
            raise InputError(f"--gap, --merge_author_runs: accepted with --pairs_of {REPLIES}")

    @property
    def has_flow(self) -> bool:
        """Whether one of the options is given."""
        return self.gap is not None or self.merge_author_runs

    @property
    def flow(self) -> Any:
        """The `Flow` that the options say."""
        from data_pipeline.sources.source import Flow

        return Flow(self.gap, self.merge_author_runs)


@dataclass(frozen=True, kw_only=True)
class TableOptions(MessageOptions):
    """The options of both commands; names of fields end in `_field`."""

    thread_field: tuple[str, ...] = _field(
        (),
        help="the conversation, which is not divided between splits; several fields name it "
        "together; by default what replies connect, and of rows those with the same input",
    )
    time_field: str | None = _field(
        None,
        help="seconds since 1970 or an ISO 8601 time, for the data card and --split_by newest; may "
        "be what orders turns",
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
    quotes: str | None = option(None, **QUOTES, group=_TABLE)
    escape: str | None = option(None, **ESCAPE, group=_TABLE)
    columns: str | None = option(
        None,
        help="of files without a header, the names of all columns in their order",
        metavar="NAME[,NAME...]",
        group=_TABLE,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delimiter is not None:
            delimiter = "\t" if self.delimiter in ("\\t", "tab") else self.delimiter
            if len(delimiter) != 1 or delimiter in '"\r\n':
                raise InputError(f"--delimiter: {delimiter!r}; accepted: one character, and tab")
            object.__setattr__(self, "delimiter", delimiter)
        check_escape(self.escape, quotes=self.quotes)
        texts_of("columns", self.columns)
        # A group may be anything, the thread or the author too; a time may be what orders turns.
        apart = {role: name for role, name in self.names.items() if role not in ("group", "time")}
        for name, count in Counter(apart.values()).items():
            if count > 1:
                flags = [flag_of(role) for role in apart if apart[role] == name]
                raise InputError(f"{' and '.join(flags)}: both name {name!r}; name two fields")

    @property
    def names(self) -> dict[str, str]:
        """Role -> the name of its field; further fields of the thread are "thread 1", ..."""
        names: dict[str, str] = {}
        for each in fields(self):
            role, given = each.name.removesuffix(FIELD), getattr(self, each.name) or ()
            if role != each.name:
                several = (given,) if isinstance(given, str) else given
                names |= {f"{role} {n}" if n else role: name for n, name in enumerate(several)}
        return names

    def message_rules(self) -> MessageRules:
        """The rules that are asked for; those on authors only where there are authors."""
        rules = super().message_rules()
        return rules if "author" in self.names else rules._replace(drop_authors_containing=())

    def source(self, files: Any) -> Any:
        """Rows of tables; an InputError if an option is for CSV and no file is."""
        from data_pipeline.sources.source import Flow, Layout
        from data_pipeline.sources.tables.reader import DELIMITED, suffix_of
        from data_pipeline.sources.tables.source import table_source

        columns = texts_of("columns", self.columns)
        form = Dialect(self.delimiter, self.quotes, self.escape, columns)
        if not {suffix_of(file.path, form) for file in files} & {*DELIMITED}:
            for name, value in form._asdict().items():
                if value is not None:
                    raise InputError(f"--{name}: accepted with CSV and TSV files; no input is one")
        layout = Layout.LINKED if self.thread_field else Layout.LINKED_THREADS
        if "order" in self.names or "input" in self.names:
            layout = Layout.ORDERED if "order" in self.names else Layout.ROWS
        own = {name: getattr(self, name, None) for name in ("no_parent", "ids_within")}
        flow = getattr(self, "flow", Flow())
        return table_source(self, files, layout, self.names, flow=flow, form=form, **own)


@dataclass(frozen=True, kw_only=True)
class ConversationOptions(TableOptions, FlowOptions):
    """Make input-response pairs from any messages: JSON lines, CSV, TSV or Parquet."""

    text_field: str = _field(REQUIRED, help="the text of a message")
    id_field: str | None = _field(None, help="the id of a message, a number or text")
    parent_field: str | None = _field(
        None, help="the id of the message that it replies to; empty if there is none"
    )
    no_parent: str | None = option(
        None,
        help="a parent that means none, such as 0; an empty one and the message's own id always do",
        metavar="VALUE",
        group=_FIELDS,
        needs="parent_field",
    )
    order_field: str | None = _field(
        None,
        help="instead of --id_field and --parent_field: a number or a time that orders the "
        "messages of a thread; each replies to the one before; with --gap it is a time",
    )
    author_field: str | None = _field(
        None, help="who wrote it: tells replies to oneself, and --drop_authors_containing needs it"
    )
    ids_within: str | None = option(
        None,
        help="an id names one message in its thread, in its file or folder (and there in its "
        "thread), or in all files; with --order_field a thread is one conversation there; default: "
        "in its thread, without --thread_field in all files. With file and folder, and an order, "
        "--thread_field may be left out: each is a thread. If messages share an id there and "
        "have different texts, the job ends; with all, the first counts",
        choices=IDS_WITHIN,
        group=_FIELDS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_links()
        if self.ids_within == "thread" and not self.thread_field:
            raise InputError("--ids_within: thread: needs --thread_field, the name of the thread")
        if self.pairs_of == HALVES and not self._has_threads:
            said = "needs --thread_field: halves go where their thread goes"
            raise InputError(f"--pairs_of: {HALVES!r} {said}")

    def _check_links(self) -> None:
        """Messages name what they reply to, or have an order, or with a flow both."""
        are_linked = bool(self.id_field and self.parent_field)
        are_ordered = "order" in self.names and self._has_threads
        if bool(self.id_field) != bool(self.parent_field) or not (are_linked or are_ordered):
            raise InputError(
                "--id_field, --order_field: accepted: either --id_field and --parent_field, or "
                "--order_field and --thread_field (or --ids_within file or folder)"
            )
        if are_linked and self.order_field and not self.has_flow:
            raise InputError("--id_field, --order_field: both need --gap or --merge_author_runs")
        if self.has_flow and not are_ordered:
            raise InputError(
                "--gap, --merge_author_runs: need --time_field or --order_field, and "
                "--thread_field or --ids_within file or folder"
            )

    @property
    def _has_threads(self) -> bool:
        return bool(self.thread_field) or self.ids_within in (FILE, FOLDER)

    @property
    def names(self) -> dict[str, str]:
        """Role -> the name of its field; with a flow, times are the order if nothing else is."""
        names = super().names
        if self.has_flow and "time" in names:
            names.setdefault("order", names["time"])
        if self.gap is not None and "order" in names:
            names.setdefault("time", names["order"])
        return names


@dataclass(frozen=True, kw_only=True)
class RowOptions(TableOptions):
    """Make input-response pairs from tables that have a pair in each row."""

    input_field: str = _field(REQUIRED, help="the first text of a pair")
    response_field: str = _field(REQUIRED, help="the text that replies to it")
    context_field: tuple[str, ...] = _field(
        (),
        help=f"the turns before the input, the nearest first: stored as {CONTEXT.format(0)}, ...",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.context_turns not in (0, turns := len(self.context_field)):
            raise InputError(f"--context_turns: accepted: {turns}, as --context_field names them")
        object.__setattr__(self, "context_turns", turns)
        if self.drop_authors_containing is not None:
            raise InputError("--drop_authors_containing: rows have no author")
        if self.pairs_of == HALVES:
            raise InputError(f"--pairs_of: {HALVES!r}: a row is a pair already")
