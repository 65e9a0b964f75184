"""Jobs on anybody's messages: linked by ids, in the order of their thread, or in rows."""

import json

import pytest

LINKED = ("--id_field", "n", "--parent_field", "to", "--text_field", "said")
TURNS = ("--thread_field", "talk", "--order_field", "turn", "--text_field", "said")
FIELDS = ("--input_field", "question", "--response_field", "answer")


def texts(pairs):
    return [(pair["input"], pair["response"]) for pair in pairs]


def test_ids_meet_as_numbers_and_text_over_files(make, write_table, tmp_path):
    """Beside missing ones pandas writes whole numbers as 2.0."""
    one = write_table("1.jsonl", [{"n": 1, "said": "first"}, {"n": "2", "to": 1.0, "said": "b"}])
    rows = [{"n": "3", "to": "2.0", "said": "c"}, {"n": 4, "to": "", "said": "d"}]
    write_table("2.csv", [*rows, {"n": 6, "to": 4, "said": ""}, {"n": 7, "to": 6, "said": "e"}])
    write_table("3.parquet", [{"n": 5.0, "to": 4.0, "said": "e"}])
    statistics, pairs = make("conversations", "--input", one, f"{tmp_path}/[23].*", *LINKED)
    assert texts(pairs) == [("first", "b"), ("b", "c"), ("d", "e")]
    assert [(pair["input_id"], pair["response_id"]) for pair in pairs] == [
        *(("1", "2"), ("2", "3"), ("4", "5"))
    ]
    assert statistics == {
        "lines": 7,
        "malformed": 0,
        "duplicates": 0,
        "comments": 7,
        "dropped": {"empty": 1},
        "kept": 6,
        "replies": 4,
        "pairs": 3,
        "train_pairs": statistics["train_pairs"],
        "test_pairs": 3 - statistics["train_pairs"],
        "test_pairs_in_train": 0,
    }


def test_a_group_may_be_the_thread_too_and_the_card_speaks_of_messages(make, write_table, tmp_path):
    rows = [{"n": 1, "to": None, "said": "a", "room": "x"}]
    rows.append({"n": 2, "to": 1, "said": "b", "room": "x"})
    asked = ("conversations", "--input", write_table("c.csv", rows), *LINKED)
    make(*asked, "--thread_field", "room", "--group_field", "room")
    card = json.loads((tmp_path / "out" / "data_card.json").read_text())
    assert card["subreddits"] == [["x", 1]]
    page = (tmp_path / "out" / "data_card.html").read_text().partition("<h2>Options</h2>")[0]
    assert "c.csv" in page
    for word in ("Reddit", "comment", "ubreddit"):
        assert word not in page


def forum(threads, depth):
    """Threads of one message and two chains of replies to it, with dropped messages in them."""
    rows = []
    for thread in range(threads):
        rows.append({"n": f"{thread}", "said": f"root {thread}"})
        for chain in "ab":
            parent = f"{thread}"
            for turn in range(depth):
                own = f"{thread}{chain}{turn}"
                said = "" if turn == 2 else f"text {own}"
                rows.append({"n": own, "to": parent, "said": said})
                parent = own
    return rows


def test_without_threads_no_message_is_in_two_splits(make, write_table, tmp_path, stored):
    path = write_table("c.jsonl", forum(threads=40, depth=5))
    _, pairs = make("conversations", "--input", path, *LINKED, "--test_fraction", "0.4")
    by_split = [
        {pair[name] for pair in stored(tmp_path / "out", split) for name in ("input", "response")}
        for split in ("train", "test")
    ]
    assert min(map(len, by_split)) > 40
    assert by_split[0].isdisjoint(by_split[1])
    assert len(pairs) == 40 * 2 * 3
    roots = {pair["thread_id"]: pair["response_id"].split("a")[0].split("b")[0] for pair in pairs}
    assert len(roots) == len(set(roots.values())) == 40


def test_turns_reply_to_the_one_before_in_any_files(make, write_table, tmp_path):
    rows = [("a", 10, "third"), ("a", 2, "second"), ("b", 1, "hello")]
    write_table("1.csv", [{"talk": t, "turn": n, "said": text} for t, n, text in rows])
    rows = [("b", "1.5", "hi"), ("a", -1, "first"), ("b", "3", ""), ("b", "4", "nobody to answer")]
    rows += [("a", 2, "second"), ("c", 1, "alone"), ("a", None, "lost")]
    write_table("2.jsonl.gz", [{"talk": t, "turn": n, "said": text} for t, n, text in rows])
    statistics, pairs = make(
        *("conversations", "--input", f"{tmp_path}/1.*,{tmp_path}/2.*", *TURNS),
        *("--context_turns", 1),
    )
    assert [(p["input_id"], p["response_id"], p["context/0"]) for p in pairs] == [
        ("a:2", "a:10", "first"),
        ("a:-1", "a:2", ""),
        ("b:1", "b:1.5", ""),
    ]
    assert texts(pairs) == [("second", "third"), ("first", "second"), ("hello", "hi")]
    counted = {name: statistics[name] for name in ("lines", "malformed", "duplicates", "comments")}
    assert counted == {"lines": 10, "malformed": 1, "duplicates": 1, "comments": 8}
    assert (statistics["dropped"], statistics["replies"]) == ({"empty": 1}, 4)
    assert {pair["thread_id"] for pair in pairs} == {"a", "b"}


@pytest.mark.parametrize(
    ("kind", "runner"),
    [
        ("turns", "two workers"),
        pytest.param("linked", "an engine", marks=pytest.mark.slow),
        pytest.param("turns", "an engine", marks=pytest.mark.slow),
        pytest.param("linked", "two workers", marks=pytest.mark.slow),
    ],
)
def test_contents_do_not_depend_on_the_runner(make, write_table, monkeypatch, runner, kind):
    rows = [
        {"talk": f"t{n % 7}", "turn": n, "n": n, "to": n - 7, "said": f"text {n}"}
        for n in range(300)
    ]
    write_table("1.jsonl", rows[::2])
    path = write_table("2.jsonl", rows[1::2])
    fields = TURNS if kind == "turns" else LINKED
    asked = ("conversations", "--input", f"{path.parent}/[12].jsonl", *fields, "--context_turns", 2)
    expected = make(*asked)
    assert len(expected[1]) == 293
    monkeypatch.setattr("data_pipeline.job.graph._MIN_PARTITIONS", 3)
    if runner == "an engine":
        monkeypatch.setattr("data_pipeline.execution.job.is_local", lambda _: False)
    more = ("--direct_num_workers", 2) if runner == "two workers" else ()
    _, pairs = make(*asked, *more, output="other")
    assert pairs == expected[1]


def test_hints_of_the_source_are_warnings(make, write_table, caplog):
    """All are one thread, the replies of the message 0; its hash is in the split train."""
    rows = [{"n": n, "to": 0, "said": f"question {n}"} for n in range(1, 51)]
    rows += [{"n": 50 + n, "to": n, "said": f"answer {n}"} for n in range(1, 51)]
    arguments = ("--input", write_table("c.jsonl", rows), *LINKED)
    statistics, _ = make("conversations", *arguments, "--test_fraction", "0.2")
    assert statistics["train_pairs"] == 50
    assert "--parent_field" in caplog.text
    # Of a split that should have pairs and has none.
    assert "--test_fraction 0.2" in caplog.text
    assert "--validation_fraction" not in caplog.text


def test_rows_of_one_thread_or_one_input_are_in_one_split_and_copies_are_capped(
    make, write_table, tmp_path
):
    rows = [{"question": f"question {n % 30}", "answer": f"answer {n}"} for n in range(300)]
    rows += [{"question": "why", "answer": "so"}] * 4
    for folder, some in (("a", rows[:150]), ("b", rows[150:])):  # two files of one name
        (tmp_path / folder).mkdir()
        write_table("t.csv", some).rename(tmp_path / folder / "t.csv")
    asked = ("pairs", "--input", f"{tmp_path}/?/t.csv", *FIELDS, "--max_copies_of_pair", 2)
    statistics, pairs = make(*asked)
    assert (statistics["pairs"], statistics["copies_dropped"], len(pairs)) == (304, 2, 302)
    assert len({pair["response_id"] for pair in pairs}) == 302
    threads = {(pair["thread_id"], pair["input"]) for pair in pairs}
    assert len(threads) == len({thread for thread, _ in threads}) == 31


def test_turns_before_the_input_may_be_columns(make, write_table, tmp_path):
    names = ("context", "context/0", "context/1", "response")
    rows = [("q1", "before", "first", "r1"), ("q2", "", "earlier", "r2"), ("q3", "sts", None, "r3")]
    path = write_table("p.csv", [dict(zip(names, row, strict=True)) for row in rows])
    (tmp_path / "sts.txt").write_text("a text\nbefore\n")
    asked = ("pairs", "--input", path, "--input_field", names[0], "--response_field", names[3])
    asked += ("--context_field", *names[1:3], "--max_copies_of_pair", 1)
    statistics, pairs = make(*asked, "--exclude_texts", tmp_path / "sts.txt")
    stored = [tuple(pair[name] for name in ("input", *names[1:])) for pair in pairs]
    assert stored == [("q2", "", "earlier", "r2"), ("q3", "sts", "", "r3")]
    assert statistics["excluded"] == 1
    assert json.loads((tmp_path / "out" / "data_card.json").read_text())["counts"]["pairs"] == 3
