"""What a malformed line is said to look like: one line, whatever is in it."""

import pytest

from data_pipeline.storage.malformed_lines import MalformedLine

WANTED = ("id", "body")


def described(line, number=1, reason="the reason"):
    return MalformedLine("RC", number, line, reason).describe(WANTED)


@pytest.mark.parametrize(
    ("line", "looks"),
    [
        (b"\x1f\x8b\x08", "a gzip file inside the file"),
        (b"<html>", "HTML or XML: it begins with '<htm'"),
        (b"name".ljust(257, b"\0") + b"ustar", "a tar archive"),
        (b'{\0"\0i\0d\0', "UTF-16 text or binary data: it has NUL bytes, "),
        (b"", "an empty line"),
        (b"{ ", "JSON over several lines"),
        (b"[1]", "JSON, but list and no object: '[1]'"),
        (b"{}", "JSON without the fields 'id', 'body'; its fields are none (the reason)"),
        (
            b'{"id": "1", "a": 2}',
            "JSON without the field 'body'; its fields are 'id', 'a' (the reason)",
        ),
        (b'{"a1":0,"a2":0,"a3":0,"a4":0,"a5":0,"a6":0,"a7":0,"a8":0,"a9":0}', "'a8', ..."),
    ],
)
def test_a_line_is_told_by_its_beginning_or_its_fields(line, looks):
    message = described(line)
    assert looks in message
    assert message.startswith("'RC', line 1, looks like ")
    assert message.isprintable()
    assert len(message) < 250


@pytest.mark.parametrize(
    ("line", "shown"),
    [(b"1,2\r\t\x1b" + b"x" * 999, "'1,2\\r\\t\\x1bxxx"), (b"\xff\xff", "'\\xff\\xff'")],
)
def test_a_line_that_is_no_json_is_shown(line, shown):
    message = described(line, reason="not JSON: the reason")
    assert message.startswith(f"'RC', line 1, looks like text of another kind, {shown}")
    assert message.isprintable()
    assert len(message) < 250


@pytest.mark.parametrize("line", [b'{"id": 1, "body": "b"}', b"a,row"])
def test_of_a_row_with_a_wrong_value_the_reason_says_all(line):
    assert described(line) == "'RC', line 1: the reason"


def test_only_the_first_line_tells_the_kind_of_a_file():
    assert "zip" in described(b"PK\x03\x04")
    assert "zip" not in described(b"PK\x03\x04", number=2)


def test_a_submission_is_one_only_without_a_body():
    line = b'{"title": "t", "selftext": "s", "id": "1"}'
    assert "a submission: it has 'title' and 'selftext' but no 'body' (the reason)" in described(
        line
    )
    assert "submission" not in described(line[:-1] + b', "body": 1}')
