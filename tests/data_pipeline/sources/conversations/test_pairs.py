"""Tables with a pair in each row."""

import json

import pytest

FIELDS = ("--input_field", "question", "--response_field", "answer")
TICKETS = [
    {"question": "It does not start", "answer": "Is it\nplugged in?", "ticket": 1},
    {"question": "It does not start", "answer": "Press the button", "ticket": 2},
    {"question": "How do I pay?", "answer": "", "ticket": 3},
    {"question": None, "answer": "You are welcome", "ticket": 4},
    {"question": "Thanks", "answer": "You are welcome", "ticket": 2},
]


@pytest.mark.parametrize("name", ["t.csv", "t.tsv.xz", "t.jsonl", "t.parquet"])
def test_each_row_is_a_pair(make, write_table, name):
    statistics, pairs = make("pairs", "--input", write_table(name, TICKETS), *FIELDS)
    assert {(pair["input"], pair["response"]) for pair in pairs} == {
        ("It does not start", "Is it\nplugged in?"),
        ("It does not start", "Press the button"),
        ("Thanks", "You are welcome"),
    }
    for name, count in {
        "lines": 5, "malformed": 0, "duplicates": 0, "comments": 5, "dropped": {"empty": 2},
        "kept": 3, "replies": 3, "pairs": 3,
    }.items():  # fmt: skip
        assert statistics[name] == count
    ids = [pair[name] for pair in pairs for name in ("input_id", "response_id")]
    assert len(set(ids)) == 6
    assert all(one.startswith("t.") for one in ids)


def test_rows_of_one_thread_or_one_input_are_in_one_split(make, write_table):
    rows = [
        {"question": f"question {n % 30}", "answer": f"answer {n}", "ticket": n % 7}
        for n in range(300)
    ]
    asked = ("pairs", "--input", write_table("t.csv", rows), *FIELDS)
    _, pairs = make(*asked)
    threads = {(pair["thread_id"], pair["input"]) for pair in pairs}
    assert len(threads) == len({thread for thread, _ in threads}) == 30
    _, pairs = make(*asked, "--thread_field", "ticket", output="tickets")
    assert {pair["thread_id"] for pair in pairs} == set("0123456")


def test_rules_judge_both_texts_and_copies_are_capped(make, write_table, tmp_path):
    rows = [
        {"question": "a long question", "answer": "yes"},
        {"question": "why", "answer": "a long answer"},
        *[{"question": "why", "answer": "so"}] * 4,
    ]
    statistics, pairs = make(
        *("pairs", "--input", write_table("t.jsonl", rows), *FIELDS, "--max_characters", 9),
        *("--max_copies_of_pair", 2),
    )
    assert statistics["dropped"] == {"empty": 0, "length": 2}
    assert (statistics["pairs"], statistics["copies_dropped"], len(pairs)) == (4, 2, 2)
    card = json.loads((tmp_path / "out" / "data_card.json").read_text())
    page = (tmp_path / "out" / "data_card.html").read_text()
    assert "rows whose place in its file an earlier line has" in page
    assert "one of its texts is empty" in page
    assert card["dropped_examples"]["length"] == ["a long question", "a long answer"]


def test_a_row_counts_under_the_first_rule_that_drops_one_of_its_texts(make, write_table, tmp_path):
    rows = [
        {"question": "a long question", "answer": ""},
        {"question": "", "answer": "a long answer"},
        {"question": "why", "answer": "so"},
    ]
    path = write_table("t.jsonl", rows)
    statistics, _ = make("pairs", "--input", path, *FIELDS, "--max_characters", 9)
    assert statistics["dropped"] == {"empty": 2, "length": 0}


def test_two_files_of_one_name_have_rows_of_their_own(make, write_table, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_table("t.csv", TICKETS[:2]).rename(tmp_path / folder / "t.csv")
    _, pairs = make("pairs", "--input", f"{tmp_path}/?/t.csv", *FIELDS)
    assert len({pair["response_id"] for pair in pairs}) == 4
