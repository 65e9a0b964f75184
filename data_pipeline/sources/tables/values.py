"""Values of fields, as files of any format have them, -> ids, texts, numbers and times.

A number in one file may be text in another, and pandas writes whole numbers beside missing ones as
12.0: as ids, 12, 12.0, "12" and "12.0" are the same.
"""

import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from data_pipeline.sources.tables.rows import MISSING, Missing

_ORDERS = "must be a number or an ISO 8601 time"
_WHOLE = re.compile(r"(-?\d+)\.0+")
_LAST_SECOND = 2**33
"""Times from this one on (in the year 2242) are no seconds since 1970."""
_DATE = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
"""A date as a number, such as 20150301; as seconds it would be a day of August 1970."""
_INEXACT = 2**53
"""From this float on, several whole numbers are the same float; JSON's integers of 64 bits and more
are read as floats."""


def as_id(value: Any) -> str | None:
    """An id; None where there is none.

    Raises:
      ValueError: if it is neither text nor a number, or a number that may have been another.
    """
    if isinstance(value, str):
        text = value.strip()
        whole = _WHOLE.fullmatch(text)
        return (whole[1] if whole else text) or None
    if value is None or value is MISSING:
        return None
    if isinstance(value, bool):
        raise ValueError("must be text or a number, but is bool")
    if isinstance(value, int | Decimal):
        return as_id(str(value))
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(_exact(value)) if value.is_integer() else str(value)
    raise ValueError(f"must be text or a number, but is {type(value).__name__}")


def as_text(value: Any) -> str:
    """A text without outer white space; empty where there is none.

    Raises:
      ValueError: if it is neither text nor a number, or a number that may have been another.
    """
    if isinstance(value, str):
        return value.strip()
    return as_id(value) or ""


def as_order(value: Any) -> float | int | Decimal:
    """A number to sort by: of a number, a number as text, or a time in seconds since 1970.

    It is exact: a `Decimal` where no float is the number.

    Raises:
      ValueError: if it is none of these, or a number that may have been another.
    """
    if isinstance(value, datetime | date):
        return _timestamp(value)
    if isinstance(value, str):
        digits = value.replace("_", "?")  # Python reads 1_1 as 11
        try:
            return int(digits)
        except ValueError:
            pass
        try:
            value = Decimal(digits)
        except InvalidOperation:
            return _time_of(value)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        found = repr(value) if isinstance(value, Missing) else type(value).__name__
        raise ValueError(f"{_ORDERS}, but is {found}")
    if isinstance(value, Decimal):
        return _simplest(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{_ORDERS}, but is {value}")
    return _exact(value) if isinstance(value, float) and value.is_integer() else value


def as_seconds(value: Any) -> int | None:
    """Whole seconds since 1970, UTC, or None for an invalid time; 20150301 is a date."""
    try:
        number = as_order(value)
        if _DATE.fullmatch(str(number)):
            number = _time_of(str(number))
    except ValueError:
        return None
    return int(number) if 0 <= number < _LAST_SECOND else None


def _exact(value: float) -> int:
    """The integer that a whole float stands for."""
    if abs(value) >= _INEXACT:
        raise ValueError("is a number too large to be exact; write it as text")
    return int(value)


def _simplest(value: Decimal) -> float | int | Decimal:
    """The same number as an int or a float, if one is."""
    nearest = math.nan if value.is_snan() else float(value)
    if not math.isfinite(nearest):
        raise ValueError(f"{_ORDERS}, but is {value}")
    if value == value.to_integral_value():
        return int(value)
    return nearest if Decimal(repr(nearest)) == value else value


def _time_of(text: str) -> float | int:
    """Of a time as text, to the microsecond."""
    try:
        return _timestamp(datetime.fromisoformat(text.strip()))
    except ValueError:
        raise ValueError(f"{_ORDERS}, but is text: {text[:60]!r}") from None


def _timestamp(value: date) -> float | int:
    """Seconds since 1970, whole ones as an int; a time without a zone is UTC."""
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    seconds = (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    return int(seconds) if seconds.is_integer() else seconds
