"""Files of texts, plain or .gz: what is parsed from each line, or from each row of a table.

What a text is to every command: whether it is empty, and how Markdown shows it.
"""

import gzip
import hashlib
import logging
import math
import re
import unicodedata
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, TypeVar

import msgspec

from common.errors import InputError, message_of
from common.tables.delimited import TAB, Dialect, Line, Row, UnclosedQuoteError, position_of, rows

T = TypeVar("T")
_LOG = logging.getLogger(__name__)
_ERRORS = (ValueError, EOFError, gzip.BadGzipFile, zlib.error)
"""Of parsers, of text that is not UTF-8, and of damaged gzip files."""
_SPLITS = {name: name for name in ("train", "dev", "test")}
_SPLITS |= dict.fromkeys(("validation", "valid", "val"), "dev")
JSON_LINES, PARQUET = (".jsonl", ".ndjson"), ".parquet"
_STRING_OR_CONSTANT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?\b(?:NaN|Infinity)\b')
_FILLERS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
)
"""Letters and marks without a form of their own, inside a regular expression's brackets."""
VISIBLE = rf"[^\pC\pZ{_FILLERS}]"
"""RE2's expression of a character that is seen: neither space, control, joiner nor filler. A text
without one is empty."""
_IS_FILLER = re.compile(f"[{_FILLERS}]").match
_UNSEEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"}
"""Without unassigned characters, which a later Unicode assigns."""
_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<![^\W_])_|_(?![^\W_])|^[#+-]")
"""What Markdown acts upon; an underscore inside a word is one of the word."""


@dataclass(frozen=True)
class Source:
    """Files that are read as one data set, and its name."""

    name: str
    files: tuple[Path, ...]

    def provenance(self) -> dict:
        """File names, and the SHA-256 of their bytes, one file after the other."""
        names = [path.name for path in self.files]
        file = names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}"
        return {"file": file, "files": names, "sha256": sha256(self.files)}


def is_visible(text: str) -> bool:
    """Whether a text has a visible character, as `VISIBLE` finds one."""
    return any(unicodedata.category(c) not in _UNSEEN and not _IS_FILLER(c) for c in text)


def as_markdown(text: str) -> str:
    """Markdown that shows a text as it is, in one line; also in the cell of a table."""
    escaped = _MARKDOWN.sub(r"\\\g<0>", re.sub(r"\s+", " ", text).replace("&", "&amp;"))
    return escaped.replace("<", "&lt;").replace(">", "&gt;")


def as_markdown_code(text: str) -> str:
    """Text as code; in HTML where Markdown's quotes would end inside it or a table's cell would."""
    text = " ".join(text.split())
    if not set("`|") & {*text}:
        return f"`{text}`"
    return "<code>" + re.sub(r"[^\w ]|_", lambda mark: f"&#{ord(mark[0])};", text) + "</code>"


def load_json(line: bytes, load: Callable[[bytes], Any]) -> Any:
    """What `load` makes of a line of JSON; NaN and infinities, which Python writes, are null."""
    try:
        return load(line)
    except Exception:
        if b"NaN" not in line and b"Infinity" not in line:
            raise
    return load(_STRING_OR_CONSTANT.sub(lambda at: at[0] if at[0][:1] == b'"' else b"null", line))


def number(value: Any) -> float:
    """A number or its text as a float; NaN, which is in no range, for all else, such as 1_0."""
    try:
        return math.nan if "_" in str(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def sha256(paths: Sequence[Path]) -> str:
    """The SHA-256 of the bytes of files, one after the other."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def unpacked_name(path: Path) -> str:
    """The name of a file without .gz."""
    return path.name.removesuffix(".gz")


def find(folder: Path, *patterns: str) -> list[Path]:
    """The files of a folder that match a pattern, sorted; each is there plain or as .gz."""
    names = {name for pattern in patterns for name in (pattern, f"{pattern}.gz")}
    found = {path for name in names for path in folder.glob(name)}
    packed = (path for path in found if path.suffix == ".gz")
    if twice := sorted(path for path in packed if path.with_suffix("") in found):
        raise InputError(f"{twice[0]}: the same as {twice[0].stem}; keep one of them")
    return sorted(found)


def tables(folder: Path, *patterns: str) -> dict[str, tuple[Path, ...]]:
    """The files of a folder that match, by their names without endings; shards are one table."""
    found: dict[str, tuple[Path, ...]] = {}
    for path in find(folder, *patterns):
        found[stem_of(path)] = (*found.get(stem_of(path), ()), path)
    return found


def stem_of(path: Path) -> str:
    """The name of a file without endings, and without the numbers of a shard."""
    return re.sub(r"-\d+-of-\d+$", "", unpacked_name(path).rsplit(".", 1)[0])


def split_of(stem: str) -> str:
    """The split that the last word of a name that is one names; empty if none does."""
    found = [_SPLITS[word] for word in re.split(r"[\W_]+", stem.lower()) if word in _SPLITS]
    return found[-1] if found else ""


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    """The lines of a file; an error inside becomes an InputError that names the last one read."""
    number = 0

    def decoded() -> Iterator[str]:
        nonlocal number
        for number, line in enumerate(file, start=1):
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")

    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        try:
            yield decoded()
        except _ERRORS as error:
            raise InputError(f"{path}:{max(number, 1)}: {message_of(error)}") from error


def parse_lines(path: Path, parse: Callable[[str], T], *, blank: bool = False) -> Iterator[T]:
    r"""Yields what `parse` makes of each line, blank ones too if asked, without `\n` or `\r\n`.

    Raises:
      InputError: if `parse` raises a ValueError, or the file is not UTF-8 or damaged; names the
        line.
    """
    with _lines(path) as lines:
        for line in lines:
            if blank or line.strip():
                yield parse(line.removesuffix("\n").removesuffix("\r"))


def parse_rows(
    path: Path,
    parse: Callable[[dict[str, Any]], T],
    *,
    columns: Mapping[str, Sequence[str]],
    dialect: Dialect = Dialect(),  # noqa: B008
) -> Iterator[T]:
    """Yields what `parse` makes of the fields of each row.

    Args:
      path: JSON lines (.jsonl, .ndjson), Parquet (.parquet), or a file with a header, separated by
        commas if it is a .csv, else by tabs.
      parse: gets the fields of a row, the columns by these names; null and NaN are empty texts.
        Blank lines are no rows.
      columns: what each may be called in a file; one of these names is there.
      dialect: what quotes are.

    Raises:
      InputError: if a column is missing, a row cannot be read, or `parse` raises a ValueError;
        names the line, or the row of a Parquet file.
    """
    kind = PurePath(unpacked_name(path)).suffix

    def chosen(row: Mapping[str, Any]) -> T:
        names = list(row)
        fields = {name: row[names[_position(names, given)]] for name, given in columns.items()}
        for name, value in fields.items():
            if value is None or value != value:  # null, or NaN, which pandas writes for it
                fields[name] = ""
            elif isinstance(value, bool | list | dict):
                raise ValueError(f"{name} is {value!r}; accepted: text or a number")
        return parse(fields)

    if kind in JSON_LINES:
        decode = msgspec.json.Decoder(dict[str, Any]).decode
        return parse_lines(path, lambda line: chosen(load_json(line.encode(), decode)))
    if kind == PARQUET:
        return _parse_parquet(path, chosen, columns.values())
    return _parse_delimited(path, parse, columns, dialect_of(path, dialect))


def _position(names: Sequence[str], given: Sequence[str]) -> int:
    """The position of a column that may have one of several names."""
    found = [name for name in given if name in names]
    if len(found) > 1:
        raise ValueError(f"columns {' and '.join(map(repr, found))}; accepted: one of them")
    return position_of(found[0] if found else given[0], names)


def _parse_parquet(
    path: Path, parse: Callable[[Mapping[str, Any]], T], columns: Iterable[Sequence[str]]
) -> Iterator[T]:
    import pyarrow.parquet  # few files need it

    number = 1
    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            names = table.schema_arrow.names
            wanted = [names[_position(names, given)] for given in columns]
            batches = table.iter_batches(columns=wanted)
            for row in chain.from_iterable(batch.to_pylist() for batch in batches):
                yield parse(row)
                number += 1
    except (ValueError, OSError, pyarrow.ArrowException) as error:
        raise InputError(f"{path}:{number}: {message_of(error)}") from error


def _parse_delimited(
    path: Path,
    parse: Callable[[dict[str, Any]], T],
    columns: Mapping[str, Sequence[str]],
    dialect: Dialect,
) -> Iterator[T]:
    number = 1
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            table = rows(_lines_of(file), dialect)
            header = next(table, Row(1, []))
            names = header.fields
            places = {} if header.fault else {c: _position(names, of) for c, of in columns.items()}
            for name, place in places.items():
                if names[place] not in columns[name]:
                    _LOG.warning("%s: the column %r is read as %r", path, names[place], name)
            for row in chain([header], table):
                number = row.number
                if row.fault:
                    raise ValueError(row.fault)
                if row is not header:
                    fields = dict(zip(names, row.fields, strict=True))
                    yield parse(fields | {c: row.fields[place] for c, place in places.items()})
    except UnclosedQuoteError as error:
        raise InputError(f"{path}:{error.line}: {error}") from error
    except _ERRORS as error:
        raise InputError(f"{path}:{number}: {message_of(error)}") from error


def dialect_of(path: Path, dialect: Dialect) -> Dialect:
    """A dialect with the delimiter that a file's name says."""
    return dialect._replace(delimiter="," if unpacked_name(path).endswith(".csv") else TAB)


def _lines_of(file: Iterable[bytes]) -> Iterator[Line]:
    for number, line in enumerate(file, start=1):
        content = line.removeprefix(BOM_UTF8) if number == 1 else line
        yield number, content.removesuffix(b"\n"), ""
