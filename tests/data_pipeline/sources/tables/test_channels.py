"""Channels and files whose messages follow each other: --gap, --merge_author_runs, file threads."""

import random
from datetime import UTC, datetime

import pytest

TEXT = ("--text_field", "said")
LINKS = ("--id_field", "n", "--parent_field", "to")
CHANNEL = ("--thread_field", "room")
TIMES = ("--time_field", "at")
AUTHOR = ("--author_field", "who")
START = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
CHAT = [
    # room, hours, who, parent
    ("a", 0, "x", None),
    ("a", 0.5, "y", None),
    ("b", 0.6, "x", None),
    ("a", 0.7, "y", 2),
    ("a", 5, "z", None),
    ("a", 5.1, "x", None),
    ("a", 5.2, "z", 1),
]


def table(rows):
    return [
        {"n": n, "room": room, "at": START + 3600 * hours, "who": who, "to": to, "said": f"m{n}"}
        for n, (room, hours, who, to) in enumerate(rows, start=1)
    ]


def replies(pairs):
    return sorted((pair["input"], pair["response"]) for pair in pairs)


@pytest.mark.parametrize("order", [TIMES, ("--order_field", "at")])
def test_turns_of_a_channel_divided_by_pauses(make, write_table, order):
    path = write_table("c.csv", table(CHAT))
    asked = ("conversations", "--input", path, *TEXT, *CHANNEL, *order, "--gap", 1)
    _, pairs = make(*asked)
    assert replies(pairs) == [("m1", "m2"), ("m2", "m4"), ("m5", "m6"), ("m6", "m7")]
    threads = {pair["response"]: pair["thread_id"] for pair in pairs}
    assert threads["m2"] == threads["m4"] != threads["m6"] == threads["m7"]


def test_links_and_the_messages_between_them(make, write_table):
    path = write_table("c.jsonl", table(CHAT))
    asked = ("conversations", "--input", path, *TEXT, *CHANNEL, *LINKS, *TIMES)
    assert replies(make(*asked)[1]) == [("m1", "m7"), ("m2", "m4")]
    statistics, pairs = make(*asked, "--gap", 1, output="gap")
    assert replies(pairs) == [("m1", "m2"), ("m1", "m7"), ("m2", "m4"), ("m5", "m6")]
    assert "merged" not in statistics
    runs = ("--merge_author_runs", *AUTHOR, "--context_turns", 1)
    statistics, pairs = make(*asked, "--gap", 1, *runs, output="runs")
    assert replies(pairs) == [("m1", "m2\nm4"), ("m1", "m7"), ("m5", "m6")]
    assert (statistics["merged"], statistics["comments"], statistics["lines"]) == (1, 6, 7)
    assert {pair["own_reply"] for pair in pairs} == {"false"}
    assert {pair["response_id"] for pair in pairs} == {"2", "6", "7"}


def test_no_conversation_is_in_two_splits_whatever_runs_it(make, write_table, monkeypatch):
    some = random.Random(0)
    rows, hours = [], 0.0
    for n in range(1, 400):
        hours += some.choice((0.1, 0.2, 3))
        to = some.randrange(1, n) if n > 1 and some.random() < 0.1 else None
        rows.append((some.choice("ab"), hours, some.choice("xyz"), to))
    rows = table(rows)
    some.shuffle(rows)
    files = [write_table(f"{part}.jsonl", rows[part::2]) for part in range(2)]
    command = ("conversations", *TEXT, *CHANNEL, *LINKS, *TIMES, *AUTHOR, "--merge_author_runs")
    command += ("--gap", 1, "--ids_within", "all", "--test_fraction", 0.5)
    command += ("--context_turns", 1, "--input")
    _, pairs = make(*command, *files)
    monkeypatch.setattr("data_pipeline.job.graph._MIN_PARTITIONS", 3)
    again = make(*command, *files[::-1], "--direct_num_workers", 2, output="again")
    assert again[1] == pairs
    assert len(pairs) > 100
    thread_of = {}
    for pair in pairs:
        for text in filter(None, (pair["input"], pair["response"], pair["context/0"])):
            assert thread_of.setdefault(text, pair["thread_id"]) == pair["thread_id"]
    assert len(set(thread_of.values())) > 20


@pytest.mark.parametrize("within", ["file", "folder"])
@pytest.mark.parametrize("flow", [(), ("--gap", 1)])
def test_a_file_or_a_folder_is_a_thread(make, write_table, tmp_path, within, flow):
    for name, rows in (("a", CHAT[:2]), ("b", CHAT[:2])):
        (tmp_path / name).mkdir()
        said = [row | {"said": f"{name}{row['said']}"} for row in table(rows)]
        write_table(f"{name}.jsonl", said).rename(tmp_path / name / "c.jsonl")
    asked = ("conversations", "--input", f"{tmp_path}/?/c.jsonl", *TEXT, "--order_field", "at")
    asked += ("--test_fraction", 0)  # the hash of the folder's name may be in test
    _, pairs = make(*asked, "--ids_within", within, *flow)
    assert replies(pairs) == [("am1", "am2"), ("bm1", "bm2")]
    assert len({pair["thread_id"] for pair in pairs}) == 2
    if not flow:
        folder = str(tmp_path / "a")
        assert folder + "/c.jsonl" * (within == "file") in {pair["thread_id"] for pair in pairs}
    else:
        statistics, pairs = make(*asked, *LINKS, "--ids_within", within, *flow, output="linked")
        assert (statistics["pairs"], pairs[0]["input_id"]) == (2, "1")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ((*CHANNEL, *TIMES, "--gap", "0"), "--gap"),
        ((*CHANNEL, "--gap", "1"), "--order_field"),
        ((*CHANNEL, *LINKS, "--gap", "1"), "--time_field"),
        ((*LINKS, *TIMES, "--gap", "1"), "--thread_field"),
        ((*CHANNEL, *LINKS, "--order_field", "at"), "--gap"),
        ((*CHANNEL, "--order_field", "n", "--gap", "1"), "'n'"),  # no time
        ((*CHANNEL, *TIMES, "--merge_author_runs"), "--author_field"),
        ((*CHANNEL, *TIMES, "--gap", "1", "--pairs_of", "halves"), "--gap"),
        (("--order_field", "at"), "--ids_within"),
        ((*CHANNEL, "--order_field", "at", "--gap", "x"), "--gap"),
    ],
)
def test_flows_that_make_no_sense(refused, write_table, options, named):
    path = write_table("c.jsonl", table(CHAT))
    assert named in refused("conversations", "--input", path, *TEXT, *options)
