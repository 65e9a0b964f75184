"""The options of `conversations` and `pairs`: declared, checked, made into source and settings."""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath

from common.errors import InputError
from data_pipeline.execution.acceptance import add_option
from data_pipeline.job import options as pair_options
from data_pipeline.job.options import PairOptions
from data_pipeline.job.settings import Settings
from data_pipeline.sources.conversations.fields import Fields
from data_pipeline.sources.conversations.source import TableSource
from data_pipeline.sources.rules.options import message_rules
from data_pipeline.sources.source import Layout, Source
from data_pipeline.sources.tables.check import check_fields
from data_pipeline.sources.tables.reader import DELIMITED, suffix_of
from data_pipeline.sources.tables.rows import TableFormat
from data_pipeline.sources.tables.values import as_id
from data_pipeline.storage.inputs import InputFile

_MAY_BE_EMPTY = {"parent_field", "author_field", "time_field", "group_field"}
_TABS = ("\\t", "tab")


@dataclass(frozen=True, kw_only=True)
class TableOptions(PairOptions):
    """The options of both commands; each has the name of its flag."""

    thread_field: str | None = None
    time_field: str | None = None
    group_field: str | None = None
    delimiter: str | None = None
    no_quotes: bool = False


@dataclass(frozen=True, kw_only=True)
class ConversationOptions(TableOptions):
    """The options of `conversations`."""

    id_field: str | None = None
    parent_field: str | None = None
    no_parent: str | None = None
    order_field: str | None = None
    text_field: str | None = None
    author_field: str | None = None


@dataclass(frozen=True, kw_only=True)
class RowOptions(TableOptions):
    """The options of `pairs`."""

    input_field: str | None = None
    response_field: str | None = None


def add_conversation_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `conversations`."""
    options = ConversationOptions()
    group = parser.add_argument_group(
        "fields",
        "Names of fields; a dotted name, such as user.name, is a field of a nested object.",
    )
    add = partial(add_option, group, options, metavar="NAME")
    add("text_field", "the text of a message; required")
    add("id_field", "the id of a message, a number or text")
    add("parent_field", "the id of the message that it replies to; empty if there is none")
    add(
        "no_parent",
        "a parent that means none, such as 0; an empty one and the message's own id always do",
        metavar="VALUE",
    )
    add("thread_field", "the conversation, which is not divided between splits")
    add(
        "order_field",
        "instead of --id_field and --parent_field: a number or a time that orders the messages of "
        "a thread; each replies to the one before",
    )
    add("author_field", "who wrote it, for --drop_authors_containing")
    _add_table_arguments(parser, group, options)


def add_row_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `pairs`."""
    options = RowOptions()
    group = parser.add_argument_group(
        "fields",
        "Names of fields; a dotted name, such as user.name, is a field of a nested object.",
    )
    add = partial(add_option, group, options, metavar="NAME")
    add("input_field", "the first text of a pair; required")
    add("response_field", "the text that replies to it; required")
    add(
        "thread_field",
        "the conversation, which is not divided between splits; default: rows with the same input "
        "form one",
    )
    _add_table_arguments(parser, group, options)


def _add_table_arguments(
    parser: argparse.ArgumentParser, group: argparse._ArgumentGroup, options: TableOptions
) -> None:
    add = partial(add_option, group, options, metavar="NAME")
    add("time_field", "seconds since 1970 or an ISO 8601 time, for the data card")
    add("group_field", "what the data card counts pairs by, such as a channel or a product")
    table = parser.add_argument_group("CSV")
    delimiter = "between fields; default: a tab in .tsv, otherwise detected in the header"
    add_option(table, options, "delimiter", delimiter, metavar="C")
    text = "quotes are part of the text, as in many TSV files"
    add_option(table, options, "no_quotes", text, action="store_true")
    pair_options.add_arguments(parser, options)


def check_conversations(
    options: ConversationOptions, files: Sequence[InputFile]
) -> tuple[Source, Settings]:
    """Checks the options of `conversations`, and the fields of the first rows.

    Raises:
      InputError: if a value, a combination or a field is invalid.
    """
    if options.text_field is None:
        raise InputError("--text_field: names the text of a message; it is required")
    linked = [options.id_field, options.parent_field]
    if options.order_field is not None and any(linked):
        raise InputError(
            "--order_field: orders messages that name no parent; accepted: either --id_field "
            "and --parent_field, or --thread_field and --order_field"
        )
    if options.order_field is not None and options.thread_field is None:
        raise InputError("--order_field: needs --thread_field, the conversation that it orders")
    if options.order_field is None and not all(linked):
        missing = "parent" if options.id_field else "id"
        raise InputError(
            f"--{missing}_field: is missing; accepted: either --id_field and --parent_field, or "
            "--thread_field and --order_field"
        )
    if options.no_parent is not None and options.parent_field is None:
        raise InputError("--no_parent: needs --parent_field, the name of the parent")
    if options.drop_authors_containing is not None and options.author_field is None:
        raise InputError("--drop_authors_containing: needs --author_field, the name of the author")
    names = Fields(
        id=options.id_field,
        parent=options.parent_field,
        text=options.text_field,
        thread=options.thread_field,
        order=options.order_field,
        author=options.author_field,
        time=options.time_field,
        group=options.group_field,
    )
    if options.order_field is not None:
        layout = Layout.TURNS
    else:
        layout = Layout.LINKED if options.thread_field else Layout.LINKED_THREADS
    return _check_table(options, files, layout, names, no_parent=as_id(options.no_parent))


def check_rows(options: RowOptions, files: Sequence[InputFile]) -> tuple[Source, Settings]:
    """Checks the options of `pairs`, and the fields of the first rows.

    Raises:
      InputError: if a value, a combination or a field is invalid.
    """
    for name in ("input_field", "response_field"):
        if getattr(options, name) is None:
            raise InputError(f"--{name}: is missing; accepted: the name of a field")
    if options.context_turns:
        raise InputError(
            "--context_turns: a row has no turn before its input; accepted by conversations"
        )
    if options.drop_authors_containing is not None:
        raise InputError(
            "--drop_authors_containing: rows have no author; accepted by conversations"
        )
    names = Fields(
        input=options.input_field,
        response=options.response_field,
        thread=options.thread_field,
        time=options.time_field,
        group=options.group_field,
    )
    return _check_table(options, files, Layout.ROWS, names)


def _check_table(
    options: TableOptions,
    files: Sequence[InputFile],
    layout: Layout,
    names: Fields,
    *,
    no_parent: str | None = None,
) -> tuple[Source, Settings]:
    flags = {f"{role}_field": name for role, name in names.given().items()}
    # A group may be anything, the thread or the author too; a time may be what orders turns.
    free = ("group_field", "time_field")
    apart = {flag: name for flag, name in flags.items() if flag not in free}
    for name, count in Counter(apart.values()).items():
        if count > 1:
            same = [f"--{flag}" for flag in apart if apart[flag] == name]
            raise InputError(f"{' and '.join(same)}: both name {name!r}; name two fields")
    form = TableFormat(_delimiter(options.delimiter), quotes=not options.no_quotes)
    suffixes = {suffix_of(file.path, form) for file in files}
    if not suffixes & {*DELIMITED}:
        for name, given in (("delimiter", options.delimiter), ("no_quotes", options.no_quotes)):
            if given:
                raise InputError(f"--{name}: accepted with CSV and TSV files; no input is one")
    rules = message_rules(options)
    if names.author is None:
        rules = rules._replace(drop_authors_containing=())
    file_names = Counter(PurePath(file.path).name for file in files)
    source = TableSource(
        layout,
        names,
        rules,
        form,
        same_names=max(file_names.values()) > 1,
        no_parent=no_parent,
    )
    settings = pair_options.check(
        options,
        stored_bytes=sum(file.size for file in files),
        described={
            **flags,
            **source.rules.describe_all(),
            "delimiter": form.delimiter,
            "no_quotes": options.no_quotes,
            **({"no_parent": no_parent} if no_parent else {}),
        },
    )
    may_be_empty = _MAY_BE_EMPTY | ({"thread_field"} if layout is Layout.ROWS else set())
    check_fields(
        files,
        required={flag: name for flag, name in flags.items() if flag not in may_be_empty},
        optional={flag: name for flag, name in flags.items() if flag in may_be_empty},
        form=form,
    )
    return pair_options.pairing_source(options, source), settings


def _delimiter(given: str | None) -> str | None:
    if given is None:
        return None
    delimiter = "\t" if given in _TABS else given
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise InputError(
            f"--delimiter: {given!r} is not a character; accepted: one, as ';', and tab"
        )
    return delimiter
