"""Values of fields, as files of any format have them, -> ids, texts, numbers and times.

A number in one file may be text in another: as ids, 12, 12.0 and "12" are the same. "12.0" as text
is another id, but finds the message 12 if there is no other (`sources.ids`).
"""

import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from data_pipeline.sources.tables.reader import MISSING

_ORDERS = "must be a number below 2^64 or an ISO 8601 time"
_WHOLE = re.compile(r"(-?\d+)\.0+")
FIRST_SECOND = 100_000_000  # of 1973; numbers below are counted turns or dates
LAST_SECOND = 2**33  # times from this one on (in the year 2242) are no seconds since 1970
_ROUNDED = re.compile(r"\s*-?\d([.,]\d+)?[eE]\+\d+\s*")  # by a spreadsheet
_DATE = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
"""A date as a number, such as 20150301; as seconds it would be a day of August 1970."""
_INEXACT = 2**53
"""From here on, several whole numbers are the same float, as which JSON's large ones are read."""
_LARGEST = 2**64


def as_id(value: Any) -> str | None:
    """An id, or None; ValueError if it is neither text nor a number, or an inexact number."""
    value = _exact(value)
    if value is None or value is MISSING:
        return None
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"must be text or a number, but is {type(value).__name__}")
    return None if isinstance(value, float) and math.isnan(value) else whole(str(value))


def _exact(value: Any) -> Any:
    """The value, text for bytes; refuses a number that may have been another."""
    value = _decoded(value)
    if isinstance(value, str) and _ROUNDED.fullmatch(value):
        said = "a spreadsheet rounded the number; export the column as text"
        raise ValueError(f"is {value!r}: {said}")
    if isinstance(value, float) and abs(value) >= _INEXACT:
        raise ValueError("is a number too large to be exact; write it as text")
    return value


def _decoded(value: Any) -> Any:
    """Text for a value of a binary column."""
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8: {error}") from None


def whole(text: str) -> str:
    """12 for 12.0, as pandas writes whole numbers in a column that has missing ones."""
    found = _WHOLE.fullmatch(text)
    return found[1] if found else text


def as_text(value: Any) -> str:
    """A text without outer white space, empty where there is none; ValueError as for an id."""
    value = _decoded(value)
    return value.strip() if isinstance(value, str) else as_id(value) or ""


def as_order(value: Any) -> int | Decimal:
    """A number to sort by: of a number, a number as text, or a time in seconds since 1970.

    ValueError if it is none of these, is 2^64 or more, or may have been another number.
    """
    value = _exact(value)
    if isinstance(value, date):
        value = value.isoformat()
    elif isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        found = "missing" if value is MISSING else type(value).__name__
        raise ValueError(f"{_ORDERS}, but is {found}")
    try:
        number = Decimal(str(value).replace("_", "?"))  # Python reads 1_1 as 11
    except InvalidOperation:
        number = _seconds_of(str(value))
    if not (number.is_finite() and -_LARGEST < number < _LARGEST):
        raise ValueError(f"{_ORDERS}, but is {number}")
    return int(number) if number == number.to_integral_value() else number.normalize()


def as_time(value: Any) -> int | Decimal:
    """A time in seconds since 1970; ValueError for what can hardly be one, such as a turn's."""
    seconds = as_order(value)
    if not FIRST_SECOND <= seconds < LAST_SECOND:
        raise ValueError(
            f"must be a time, in seconds since 1970 or as ISO 8601 has it, but is {value!r:.60}"
        )
    return seconds


def as_seconds(value: Any) -> int | None:
    """Whole seconds since 1970, UTC, or None for an invalid time; 20150301 is a date."""
    try:
        number = as_order(value)
        if _DATE.fullmatch(str(number)):
            number = as_order(_seconds_of(str(number)))
    except ValueError:
        return None
    return int(number) if 0 <= number < LAST_SECOND else None


def _seconds_of(text: str) -> Decimal:
    """Of an ISO 8601 time, to the microsecond; one without a zone is UTC."""
    try:
        time = datetime.fromisoformat(re.sub(r" ?(UTC|GMT)$", "+00:00", text.strip()))
    except ValueError:
        raise ValueError(f"{_ORDERS}, but is text: {text[:60]!r}") from None
    return Decimal(str((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()))
