"""Rows of CSV and TSV files: one reader, for the pipeline and for the evaluation.

Between tabs quotes are text, as most TSV files have them; between other delimiters they enclose
fields, in which delimiters and line breaks are text (RFC 4180). `--quotes` and `--escape` say
otherwise. Python's `csv` does the work; it says which row it does not understand, and the rest of
the file can still be read.
"""

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from common.errors import InputError

MAX_FIELD_CHARACTERS = 1 << 20  # a row with a longer field cannot be read
MOST_LINES = 100
"""Of a field, unless `--quotes` says that quotes enclose fields: text that begins with a quote must
not take in rows."""
TAB = "\t"
RFC4180, NONE = "rfc4180", "none"
_HINT = "; --quotes and --escape say how quotes are read"
QUOTES: dict[str, Any] = {
    "help": "rfc4180: quotes enclose fields, of any length; none: quotes are text; default: none "
    f"between tabs, else rfc4180, with fields of at most {MOST_LINES} lines",
    "choices": (RFC4180, NONE),
}
ESCAPE: dict[str, Any] = {
    "help": r"the character that makes the next one text, such as \ for \"; quotes enclose fields",
    "metavar": "C",
}
"""The declarations of `--quotes` and `--escape`."""


class Dialect(NamedTuple):
    """How a file is read."""

    delimiter: str | None = None  # None for what the file's name says
    quotes: str | None = None
    """`RFC4180` if `"` encloses fields, `NONE` if it is text; None for what the delimiter says."""
    escape: str | None = None
    """The character that makes a quote behind it text, beside the quote itself."""
    columns: tuple[str, ...] | None = None  # the names of the columns of files without a header
    encoding: str | None = None
    """Python's name of the encoding of the text, of JSON lines too; None for UTF-8."""

    @property
    def encloses(self) -> bool:
        """Whether quotes enclose fields."""
        by_default = self.delimiter != TAB or self.escape is not None
        return by_default if self.quotes is None else self.quotes == RFC4180


def check_escape(escape: str | None, *, quotes: str | None) -> None:
    """Refuses an escape that is no character of its own, or is given where quotes are text."""
    if escape is not None and (len(escape) != 1 or escape in '"\r\n'):
        raise InputError(f"--escape: {escape!r}; accepted: one character, other than a quote")
    if escape is not None and quotes == NONE:
        raise InputError(f"--escape: {escape!r}; accepted with --quotes {RFC4180}")


Line = tuple[int, bytes, str]
"""Number, content without its line feed, and why it cannot be read: only its start is here then."""


class Row(NamedTuple):
    """A row of a file, the header among them."""

    number: int  # of its first line
    fields: list[str]  # as many as the header has; none if it cannot be read
    fault: str = ""  # why it cannot be read
    raw: bytes = b""  # what cannot be read


class UnreadableRowError(ValueError):
    """A row cannot be read; `line` is its first one."""

    def __init__(self, line: int, fault: str):
        super().__init__(fault)
        self.line = line


class UnclosedQuoteError(UnreadableRowError):
    """A quote takes in the rest of a file, or too many lines of it; `line` is where it opens."""


def rows(lines: Iterable[Line], dialect: Dialect) -> Iterator[Row]:
    """Yields the header and all rows; empty lines are no rows.

    A row is faulty if it cannot be read, has another number of fields than the header or repeats
    it, as where files were joined. Of one that cannot be read, the lines behind its first are read
    as rows of their own. Raises `UnclosedQuoteError` if a quote takes in too many lines.
    """
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    quoting: Any = csv.QUOTE_MINIMAL if dialect.encloses else csv.QUOTE_NONE
    of: Any = {"delimiter": dialect.delimiter or ",", "escapechar": dialect.escape}
    form = csv.reader([], quoting=quoting, strict=True, **of).dialect
    lines = iter(lines)
    again: deque[Line] = deque()
    header = list(map(_bare, dialect.columns or ()))
    if dialect.columns:
        yield Row(0, list(dialect.columns))
    while line := again.popleft() if again else next(lines, None):
        row = [line]
        fields, fault = _fields(row, form)
        inside = 0
        while fields is None and not fault:
            if (line := again.popleft() if again else next(lines, None)) is None:
                raise UnclosedQuoteError(row[0][0], f"a quote is not closed{_HINT}")
            row.append(line)
            # A quote that is not doubled may end one field and begin the next.
            may_end = b'"' in line[1].replace(b'""', b"")
            inside = 0 if may_end else inside + 1
            if inside >= MOST_LINES - 1 and dialect.quotes != RFC4180:
                fault = f"a quote encloses more than {MOST_LINES} lines{_HINT}"
                raise UnclosedQuoteError(row[0][0], fault)
            if may_end or line[2] or dialect.escape:
                fields, fault = _fields(row, form)
        if fault:
            again.extendleft(reversed(row[1:]))
            del row[1:]
        elif fields and header and len(fields) != len(header):
            named = "--columns" if dialect.columns else "the header"
            fault = f"{len(fields)} fields; {named} has {len(header)}"
        elif fields and header and header[0] in fields[0].casefold():
            fault = "the header again" if list(map(_bare, fields)) == header else ""
        if fault:
            yield Row(row[0][0], [], fault, b"\n".join(content for _, content, _ in row))
        elif fields:
            header = header or list(map(_bare, fields))
            yield Row(row[0][0], fields)


def _fields(row: Sequence[Line], form: Any) -> tuple[list[str] | None, str]:
    """The fields of a row; or why it cannot be read; or neither where lines of it are missing."""
    if fault := row[-1][2]:
        return None, fault
    try:
        return next(csv.reader([content.decode() + "\n" for _, content, _ in row], form)), ""
    except UnicodeDecodeError as error:
        return None, f"not UTF-8: {error}"
    except csv.Error as error:
        fault = str(error)
    if fault.startswith("new-line"):  # Python's advice is for programmers
        return None, r"\r without \n behind it; accepted: \n or \r\n at the end of lines"
    return None, "" if fault == "unexpected end of data" else f"{fault}{_HINT}"


def position_of(name: str, header: Sequence[str]) -> int:
    """The position of a column, by its name or else by its name in any case, without outer space.

    ValueError if there is none, or more than one.
    """
    found = [place for place, other in enumerate(header) if other == name]
    found = found or [place for place, other in enumerate(header) if _bare(other) == _bare(name)]
    if len(found) != 1:
        shown = ", ".join(map(repr, header[:20])) or "none"
        more = f", ... ({len(header):,} in all)" if len(header) > 20 else ""
        what = f"{len(found)} fields" if found else "no field"
        raise ValueError(f"{what} {name!r}; its fields are {shown}{more}")
    return found[0]


def _bare(name: str) -> str:
    """A name in lower case without outer white space and byte order marks."""
    return name.strip("\ufeff\u200b \t\r\n\xa0").casefold()
