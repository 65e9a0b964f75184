"""Greetings, signatures and markup: measured in the first texts, and removed if asked for."""

import json

import pytest

from data_pipeline.sources.tables.repeated import measure, without_lines

FIELDS = ("--input_field", "question", "--response_field", "answer")
SIGNATURE = "\n\nKind regards\nJane\nThe support team"


def test_the_commonest_openings_and_endings_are_found():
    texts = [f"Dear customer,\nanswer {n}{SIGNATURE}" for n in range(30)]
    texts += [f"question {n}\nin two lines {n}" for n in range(20)] + ["Dear customer,"] * 9
    found = measure(texts)
    assert (found.texts, found.repeated, found.markup) == (59, 30, 0)
    assert {"Dear customer,", "Kind regards", "Jane", "The support team"} == set(found.lines)
    assert measure([]).lines == measure(["a\nb"] * 4).lines == ()


def test_lines_are_removed_from_both_ends_alone():
    lines = ("Hello", "Bye")
    assert without_lines("Hello\n\nHello\nsay Hello\nHello\nto him\nBye\n", lines) == (
        "say Hello\nHello\nto him"
    )
    assert without_lines("Hello", lines) == "Hello"
    assert without_lines("Hello\nBye", lines) == ""


@pytest.fixture
def tickets(write_table):
    rows = [
        {"question": f"<p>question {n}</p>", "answer": f"Hello,\nanswer {n}{SIGNATURE}"}
        for n in range(60)
    ]
    return write_table("t.csv", rows)


def test_the_job_warns_and_the_card_says_so(make, tickets, tmp_path, caplog):
    _, pairs = make("pairs", "--input", tickets, *FIELDS)
    assert pairs[0]["response"].startswith("Hello,")
    for named in ("--strip_repeated", "'Hello,'", "--text_markup html"):
        assert named in caplog.text
    card = json.loads((tmp_path / "out" / "data_card.json").read_text())["repeated"]
    assert (card["texts"], card["repeated"], card["markup"]) == (120, 60, 60)
    page = (tmp_path / "out" / "data_card.html").read_text()
    assert "The support team" in page


def test_they_are_removed(make, tickets, caplog):
    asked = ("pairs", "--input", tickets, *FIELDS, "--strip_repeated", "--text_markup", "html")
    _, pairs = make(*asked)
    assert {(pair["input"], pair["response"]) for pair in pairs} == {
        (f"question {n}", f"answer {n}") for n in range(60)
    }
    assert "--strip" not in caplog.text and "--text" not in caplog.text
