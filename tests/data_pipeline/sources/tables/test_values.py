"""Values as files have them, to ids, texts, orders and times, by hand."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from data_pipeline.sources.tables.reader import MISSING
from data_pipeline.sources.tables.values import as_id, as_order, as_seconds, as_text


@pytest.mark.parametrize(
    ("own_id", "values"),
    [
        ("12", [12, 12.0, "12", " 12", Decimal("12.00")]),
        ("12.0", [" 12.0 "]),
        ("-3", [-3.0]),
        ("x", [b"x"]),
        ("12.5", [12.5, "12.5", Decimal("12.5")]),
        ("007", ["007"]),
        ("a.0", ["a.0"]),
        ("0", [0]),
        (str(2**53 - 1), [2.0**53 - 1]),
        (str(2**70), [2**70]),
        (None, ["", "  ", None, MISSING, math.nan]),
    ],
)
def test_ids_may_be_numbers_or_text(own_id, values):
    assert set(map(as_id, values)) == {own_id}


@pytest.mark.parametrize("value", [True, [1], {"a": 1}])
def test_an_id_is_nothing_else(value):
    for convert in (as_id, as_text):
        with pytest.raises(ValueError, match=type(value).__name__):
            convert(value)


@pytest.mark.parametrize("value", ["1.00001E+17", " 1e+17", "-1,5E+017", b"2E+20"])
def test_a_number_that_a_spreadsheet_rounded_is_refused(value):
    for convert in (as_id, as_order):
        with pytest.raises(ValueError, match=r"E\+|e\+"):
            convert(value)
    assert as_id("1e5") == "1e5"
    assert as_text("1E+17") == "1E+17"


def test_bytes_are_text_where_they_are_utf8():
    assert (as_text(b" caf\xc3\xa9"), as_order(b"12")) == ("caf\u00e9", 12)
    for convert in (as_id, as_text, as_order):
        with pytest.raises(ValueError, match="UTF-8"):
            convert(b"caf\xe9")


def test_texts_are_stripped_and_numbers_are_text():
    found = [as_text(value) for value in (" a b\n", 20, None, MISSING, "12.0")]
    assert found == ["a b", "20", "", "", "12.0"]


def test_orders_are_numbers_or_times():
    ordered = [Decimal(-1), "2", Decimal("2.5"), "3e0", "10"]
    ordered += [date(1970, 1, 1), "1970-01-01T00:01:00+00:00"]
    assert [as_order(value) for value in ordered] == [-1, 2, 2.5, 3.0, 10, 0.0, 60.0]
    assert as_order(str(2**60 + 1)) - as_order(str(2**60)) == 1
    assert str(as_order("1970-01-01 00:00:02")) == str(as_order(2))  # so that ids are the same
    for zone in ("", " UTC", "UTC", " GMT", "Z", "+00:00"):
        assert as_order(f"2020-01-02 03:04:05{zone}") == as_order("2020-01-02 03:04:05")
    assert as_order("2020-01-02 03:04:05") == datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC).timestamp()


def test_orders_that_no_float_tells_apart_are_told_apart():
    assert as_order("1448467200.0000001") < as_order("1448467200.0000002")
    assert as_order("9007199254740993.0") == 2**53 + 1
    assert as_order("1970-01-01T00:01:00.5000000") == 60.5
    # They are a part of ids.
    found = [str(as_order(value)) for value in ("1.50", "2.0", Decimal("2.5"), 2.5)]
    assert found == ["1.5", "2", "2.5", "2.5"]


@pytest.mark.parametrize(
    "value",
    [
        *("first", "1_1", "1e999999999", str(2**64), "nan"),
        *(None, MISSING, True, math.nan, [1], Decimal("sNaN")),
    ],
)
def test_what_has_no_order_is_refused(value):
    with pytest.raises(ValueError, match="must be a number"):
        as_order(value)


def test_seconds_are_whole_and_of_our_time():
    valid = {5.9: 5, "7": 7, "1970-01-02": 86_400, 2**33 - 1: 2**33 - 1}
    # A date as a number; a thirteenth month is none.
    valid |= {19700102: 86_400, "19700102": 86_400, 19701302: 19_701_302}
    assert {value: as_seconds(value) for value in valid} == valid
    assert [as_seconds(value) for value in (-1, 2**33, "soon", None)] == [None] * 4


@pytest.mark.parametrize("value", [2.0**53, -(2.0**53), float(2**64), 1e300])
def test_a_number_that_may_have_been_another_is_refused(value):
    for convert in (as_id, as_text, as_order):
        with pytest.raises(ValueError, match="too large to be exact"):
            convert(value)
    assert as_seconds(value) is None
