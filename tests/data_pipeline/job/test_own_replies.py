"""Replies of authors to themselves: marked where authors are known."""

import re

import pytest

FIELDS = ("--id_field", "id", "--parent_field", "to", "--text_field", "text")
TURNS = ("--thread_field", "thread", "--order_field", "at", "--text_field", "text")
MESSAGES = [
    {"id": "1", "to": "", "thread": "t", "at": 1, "text": "my wifi is down", "by": "ann"},
    {"id": "2", "to": "1", "thread": "t", "at": 2, "text": "since this morning", "by": "ann"},
    {"id": "3", "to": "2", "thread": "t", "at": 3, "text": "which card is it", "by": "bob"},
    {"id": "4", "to": "3", "thread": "t", "at": 4, "text": "no idea", "by": "[deleted]"},
    {"id": "5", "to": "4", "thread": "t", "at": 5, "text": "run lspci", "by": "[deleted]"},
]
AUTHOR = ("--author_field", "by")


@pytest.fixture
def made(make, write_table):
    """Runs the command on messages: what it counts, and pairs by their response."""

    def run(*arguments, messages=MESSAGES):
        path = write_table("chat.jsonl", messages)
        counts, pairs = make("conversations", "--input", path, *arguments)
        return counts, {pair["response"]: pair for pair in pairs}

    return run


@pytest.mark.parametrize("form", [(), ("--format", "jsonl"), ("--format", "parquet")])
@pytest.mark.parametrize("fields", [FIELDS, TURNS], ids=["linked", "turns"])
def test_they_are_marked_counted_and_shown(made, tmp_path, fields, form):
    counts, pairs = made(*fields, *AUTHOR, *form)
    marks = {text: pair["own_reply"] for text, pair in pairs.items()}
    assert marks == {
        "since this morning": "true",
        "which card is it": "false",
        "no idea": "",
        "run lspci": "",  # two who left may be two
    }
    assert (counts["pairs"], counts["own_replies"]) == (4, 1)
    card = (tmp_path / "out" / "data_card.html").read_text()
    assert re.search(r"own replies</th>\s*<td[^>]*>1</td>", card)


def test_the_next_turns_stay_what_they_are(made):
    _, pairs = made(*FIELDS, *AUTHOR, "--context_turns", "1")
    assert pairs["which card is it"]["context/0"] == "my wifi is down"
    assert pairs["which card is it"]["own_reply"] == "false"


@pytest.mark.parametrize(
    "more", [(), (*AUTHOR, "--pairs_of", "halves", "--thread_field", "thread")]
)
def test_without_authors_of_both_texts_nothing_is_said(made, more):
    long = "This is one sentence that is long. This is another one of that length."
    messages = [each | {"text": long} for each in MESSAGES]
    counts, pairs = made(*FIELDS, *more, messages=messages)
    assert pairs
    assert all("own_reply" not in pair for pair in pairs.values())
    assert "own_replies" not in counts
