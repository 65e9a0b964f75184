"""One reader of CSV and TSV: what is a row, what is a fault, and what ends the reading."""

import pytest

from common.tables import (
    MOST_LINES,
    NONE,
    RFC4180,
    Dialect,
    UnreadableRowError,
    column_of,
    delimited_rows,
)


def read(text, *dialect):
    """The fields of all rows behind the header, and (line, fault) of those with a fault."""
    lines = [(n, line, "") for n, line in enumerate(text.encode().split(b"\n"), start=1)]
    found = list(delimited_rows(lines, Dialect(*dialect), list))
    good = [tuple(row.fields.values()) for row in found if not row.fault]
    return good, [(row.number, row.fault) for row in found if row.fault]


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t"])
def test_a_quoted_field_may_hold_lines_with_the_delimiter(delimiter):
    text = 'id,said\n1,"two, lines\n3,of it"\n4,more'.replace(",", delimiter)
    said = "two, lines\n3,of it".replace(",", delimiter)
    assert read(text, delimiter, RFC4180) == ([("1", said), ("4", "more")], [])
    by_default = read(text, delimiter)
    assert by_default == (read(text, delimiter, NONE if delimiter == "\t" else RFC4180))


def test_raw_quotes_between_tabs_join_nothing():
    good, faults = read('left\tright\n"a\tb\nc\td"\n"e" is\tf', "\t")
    assert (good, faults) == ([('"a', "b"), ("c", 'd"'), ('"e" is', "f")], [])


def test_a_stray_quote_loses_its_own_row_only():
    text = 'id,said\n1,"stray\n2,b\n3,"c, d"\n4,"e"'
    good, faults = read(text, ",")
    assert good == [("2", "b"), ("3", "c, d"), ("4", "e")]
    assert [line for line, _ in faults] == [2]
    assert "--quotes" in faults[0][1]


@pytest.mark.parametrize("end", ["", "\n7,x"])
def test_a_quote_that_takes_in_many_lines_ends_the_reading(end):
    body = "".join(f"\n{n},row {n}" for n in range(3, 3 + MOST_LINES))
    for text in (f'id,said\n1,one\n2,"two{body}"{end}', f'id,said\n1,one\n2,"two{body[:60]}{end}'):
        with pytest.raises(UnreadableRowError) as raised:
            read(text, ",")
        assert raised.value.line == 3
    assert "--quotes" in str(raised.value)
    good, faults = read(f'id,said\n2,"two{body}"{end}', ",", RFC4180)
    assert (len(good), faults) == (1 + bool(end), [])


def test_long_rows_of_short_fields_are_rows():
    lines = '"' + "\nline" * (MOST_LINES - 1) + '"'
    assert len(read(f"id,a,b\n1,{lines},{lines}\n2,c,d", ",")[0]) == 2


def test_an_escape_makes_a_quote_text():
    text = 'id,said\n1,"a \\"b\\", c"\n2,"d ""e"""\n3,"a path\\\\"\n4,f'
    good, faults = read(text, ",", None, "\\")
    assert good == [("1", 'a "b", c'), ("2", 'd "e"'), ("3", "a path\\"), ("4", "f")]
    assert faults == []


def test_joined_files_repeat_their_header_and_rows_have_its_width():
    good, faults = read("id,said\n1,a\n\ufeffid, said\n2,b\n3\n4,c,d\n\n5,e", ",")
    assert good == [("1", "a"), ("2", "b"), ("5", "e")]
    assert [line for line, _ in faults] == [3, 5, 6]


def test_lines_that_cannot_be_read_are_faults():
    lines = [(1, b"id,said", ""), (2, b"1,\xff", ""), (3, b"2,b", "too long"), (4, b"3,c", "")]
    found = delimited_rows(lines, Dialect(","), list)
    expected = [(2, True, b"1,\xff"), (3, True, b"2,b"), (4, False, b"")]
    assert [(row.number, bool(row.fault), row.raw) for row in found] == expected


def test_names_in_a_header_have_no_outer_space():
    lines = [(1, "\ufeffid, \u200bsaid\xa0".encode(), ""), (2, b"1,b", "")]
    (row,) = delimited_rows(lines, Dialect(","), list)
    assert row.fields == {"id": "1", "said": "b"}


@pytest.mark.parametrize("header", [["a"], ["Said"], ["said", "said"], ["said", "text"], []])
def test_a_column_is_there_once_under_one_of_its_names(header):
    assert column_of(["said", "text"], ["a", "text"]) == "text"
    with pytest.raises(ValueError, match="'said'"):
        column_of(["said", "text"], header)
