"""Lines that could not be parsed: the error, the dead letter, and what the line looks like.

A job on the wrong file (an archive, another kind of dump) finds only malformed lines; its error
says what the first one looks like.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

NOT_JSON = "not JSON"
"""How the reason begins if a line that should be JSON is not."""
KEPT_OF_TOO_LONG = 1000
"""Bytes of a line, or characters of an example, that are kept where the whole is too long."""
_FIRST_BYTES = {
    b"PK": "a zip archive",
    b"\xff\xfe": "UTF-16 text, by its byte order mark",
    b"\xfe\xff": "UTF-16 text, by its byte order mark",
    b"\x1f\x8b": "a gzip file inside the file",
    b"BZh": "a bzip2 file inside the file",
    b"\xfd7zXZ\x00": "an xz file inside the file",
    b"\x28\xb5\x2f\xfd": "a Zstandard file inside the file",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
    b"%PDF": "a PDF document",
    b"<": "HTML or XML",
}
_TAR_MARK = slice(257, 262)
_SUBMISSION = ("title", "selftext")
_SHOWN_CHARACTERS = 60
_SHOWN_FIELDS = 8


class MalformedLineError(ValueError):
    """A line cannot be parsed; the message says why and becomes the dead letter's reason."""


class MalformedLine(NamedTuple):
    """A line that could not be parsed."""

    path: str
    number: int
    """From 1."""
    line: bytes
    reason: str
    """The parser's message."""

    def as_dead_letter(self) -> bytes:
        """A line of `dead_letters-*.jsonl`; bytes that are not UTF-8 become backslash escapes."""
        raw = self.line.decode(errors="backslashreplace")
        return orjson.dumps(
            {"file": self.path, "line": self.number, "reason": self.reason, "raw": raw},
            option=orjson.OPT_APPEND_NEWLINE,
        )

    def describe(self, wanted: Sequence[str]) -> str:
        """Where it is and what it looks like, on one line; `wanted` are the required fields."""
        where = f"{self.path!r}, line {self.number:,}"
        looks = _looks(self, wanted)
        return f"{where}, looks like {looks}" if looks else f"{where}: {self.reason}"


def _looks(malformed: MalformedLine, wanted: Sequence[str]) -> str:
    """What it is instead; empty if the reason says all."""
    line = malformed.line
    if malformed.number == 1:
        for beginning, kind in _FIRST_BYTES.items():
            if line.startswith(beginning):
                return f"{kind}: it begins with {_shown(line[:4])}"
        if line[_TAR_MARK] == b"ustar":
            return "a tar archive"
    if b"\0" in line:
        return f"UTF-16 text or binary data: it has NUL bytes, {_shown(line)}"
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return _looks_without_json(line, malformed.reason)
    if isinstance(value, dict):
        return _looks_with_fields(value, wanted, malformed.reason)
    return f"JSON, but {type(value).__name__} and no object: {_shown(line)}"


def _looks_without_json(line: bytes, reason: str) -> str:
    if not line.strip():
        return "an empty line"
    if line.strip() in (b"{", b"[", b"[{"):
        return "JSON over several lines; one object a line is read"
    if line.lstrip().startswith(b"{"):
        return f"a JSON object that is cut off or damaged, {_shown(line)} ({reason})"
    # Of a row of a table the reason says all.
    return f"text of another kind, {_shown(line)} ({reason})" if reason.startswith(NOT_JSON) else ""


def _looks_with_fields(fields: dict[str, Any], wanted: Sequence[str], reason: str) -> str:
    missing = [name for name in wanted if name not in fields]
    if not missing:
        return ""
    without = ", ".join(map(repr, missing))
    if "body" in missing and all(name in fields for name in _SUBMISSION):
        return f"a submission: it has 'title' and 'selftext' but no {without} ({reason})"
    first = list(fields)[:_SHOWN_FIELDS]
    names = ", ".join(repr(name[:_SHOWN_CHARACTERS]) for name in first)
    more = ", ..." if len(fields) > _SHOWN_FIELDS else ""
    noun = "field" if len(missing) == 1 else "fields"
    return f"JSON without the {noun} {without}; its fields are {names or 'none'}{more} ({reason})"


def _shown(line: bytes) -> str:
    """The start of a line, quoted and escaped so that it stays on one line."""
    try:
        return repr(line.decode()[:_SHOWN_CHARACTERS])
    except UnicodeDecodeError:
        return repr(line[:_SHOWN_CHARACTERS])[1:]
