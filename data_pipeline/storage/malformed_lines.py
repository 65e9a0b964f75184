"""Lines that could not be parsed, and how they are stored."""

from typing import NamedTuple

import orjson

KEPT_OF_TOO_LONG = 1000
"""Bytes of a line, or characters of an example, that are kept where the whole is too long."""


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
