"""Messages of any table become pairs: with ids and parents, or in the order of their thread."""

import json

import orjson
import pytest

LINKED = ("--id_field", "n", "--parent_field", "to", "--text_field", "said")
TURNS = ("--thread_field", "talk", "--order_field", "turn", "--text_field", "said")
CHAT = [
    {"n": 1, "to": None, "said": "How old are you?", "who": "ann", "room": "a"},
    {"n": 2, "to": 1, "said": " I am 20 years old\n", "who": "bob", "room": "a"},
    {"n": 3, "to": 2, "said": 'so "young", he said', "who": "ann", "room": "a"},
    {"n": 4, "to": 2, "said": "", "who": "bob", "room": "a"},
    {"n": 5, "to": 4, "said": "an answer to nothing", "who": "ann", "room": "a"},
    {"n": 6, "to": 99, "said": "an answer to nobody", "who": "helper_bot", "room": "b"},
    {"n": 7, "to": None, "said": "Alone", "who": "cat", "room": "b"},
]


def texts(pairs):
    return [(pair["input"], pair["response"]) for pair in pairs]


@pytest.mark.parametrize(
    "name", ["c.jsonl", "c.jsonl.zst", "c.csv", "c.csv.gz", "c.tsv.bz2", "c.parquet"]
)
def test_each_format_gives_the_same_pairs(make, write_table, name):
    path = write_table(name, CHAT)
    statistics, pairs = make("conversations", "--input", path, *LINKED)
    assert texts(pairs) == [
        ("How old are you?", "I am 20 years old"),
        ("I am 20 years old", 'so "young", he said'),
    ]
    assert [(pair["input_id"], pair["response_id"]) for pair in pairs] == [("1", "2"), ("2", "3")]
    assert statistics == {
        "lines": 7,
        "malformed": 0,
        "duplicates": 0,
        "comments": 7,
        "dropped": {"empty": 1},
        "kept": 6,
        "replies": 4,
        "pairs": 2,
        "train_pairs": statistics["train_pairs"],
        "test_pairs": 2 - statistics["train_pairs"],
    }


def test_ids_meet_as_numbers_and_text_over_files(make, write_table, tmp_path):
    """Beside missing ones pandas writes whole numbers as 2.0."""
    one = write_table("1.jsonl", [{"n": 1, "said": "first"}, {"n": "2", "to": 1.0, "said": "b"}])
    write_table("2.csv", [{"n": "3", "to": "2.0", "said": "c"}, {"n": 4, "to": "", "said": "d"}])
    write_table("3.parquet", [{"n": 5.0, "to": 4.0, "said": "e"}])
    _, pairs = make("conversations", "--input", one, f"{tmp_path}/[23].*", *LINKED)
    assert texts(pairs) == [("first", "b"), ("b", "c"), ("d", "e")]


def test_names_may_be_dotted_and_have_times_groups_and_authors(make, write_table, tmp_path):
    rows = [
        {"m": {"id": f"x{n}", "to": f"x{n - 1}" if n else None}, "b": {"t": f"text {n}"},
         "u": {"n": "Robot" if n == 3 else "ann"}, "at": 1420070400 + n, "where": "shop"}
        for n in range(6)
    ]  # fmt: skip
    path = write_table("c.jsonl", rows)
    statistics, pairs = make(
        *("conversations", "--input", path, "--id_field", "m.id", "--parent_field", "m.to"),
        *("--text_field", "b.t", "--author_field", "u.n", "--drop_authors_containing", "bot"),
        *("--time_field", "at", "--group_field", "where"),
    )
    assert statistics["dropped"] == {"empty": 0, "bot": 1}
    assert texts(pairs) == [("text 0", "text 1"), ("text 1", "text 2"), ("text 4", "text 5")]
    card = json.loads((tmp_path / "out" / "data_card.json").read_text())
    assert card["subreddits"] == [["shop", 3]]
    assert card["months"] == [["2015-01", 3]]


@pytest.mark.parametrize("name", ["c.jsonl", "c.csv", "c.parquet"])
def test_the_thread_may_be_the_group_too(make, write_table, tmp_path, name):
    asked = ("conversations", "--input", write_table(name, CHAT), *LINKED)
    make(*asked, "--thread_field", "room", "--group_field", "room")
    card = json.loads((tmp_path / "out" / "data_card.json").read_text())
    assert card["subreddits"] == [["a", 2]]


def test_the_card_speaks_of_messages_and_names_the_source(make, write_table, tmp_path):
    make("conversations", "--input", write_table("chat.jsonl", CHAT), *LINKED)
    page = (tmp_path / "out" / "data_card.html").read_text()
    assert "<title>Data card: 2 pairs from chat.jsonl</title>" in page
    said = " ".join(page.split())
    assert "2 pairs of a message and a reply to it, taken from 7 messages in 1 file," in said
    assert "<dt>groups</dt>" not in page
    assert "<dt>months</dt>" not in page
    for word in ("Reddit", "comment", "ubreddit"):
        assert word not in page.partition("<h2>Options</h2>")[0]


def test_the_papers_rules_are_an_option(make, write_table):
    rows = [
        {"n": 1, "to": None, "said": "How are you?"},
        {"n": 2, "to": 1, "said": "I am 20 years old"},
        {"n": 3, "to": 1, "said": "fine, thank you"},
        {"n": 4, "to": 1, "said": "मैं बीस साल का हूँ"},
    ]
    asked = ("conversations", "--input", write_table("c.jsonl", rows), *LINKED, "--rules", "paper")
    statistics, _ = make(*asked)
    assert statistics["dropped"] == {
        "empty": 0,
        "length": 0,
        "alphabetic": 2,
        "prefix": 0,
    }  # fmt: skip (nobody knows the authors)
    statistics, pairs = make(*asked, "--letters_and_marks", output="marks")
    assert statistics["dropped"]["alphabetic"] == 1
    assert [pair["response_id"] for pair in pairs] == ["3", "4"]


def test_malformed_rows_are_dead_letters_and_counted(make, tmp_path):
    path = tmp_path / "c.jsonl"
    rows = [json.dumps({"n": n, "to": n - 1, "said": "x"}).encode() for n in range(1, 8)]
    deep = b'{"n": ' + b"[" * 300 + b"]" * 300 + b', "said": "w"}'
    rows[3:3] = [b"{", b"[1]", b'{"to": 1, "said": "y"}', b'{"n": true, "said": "z"}', deep]
    path.write_bytes(b"\n".join(rows))
    statistics, pairs = make("conversations", "--input", path, *LINKED)
    assert (statistics["lines"], statistics["malformed"], len(pairs)) == (12, 5, 6)
    (letters,) = (tmp_path / "out").glob("dead_letters-*")
    found = [orjson.loads(line) for line in letters.read_bytes().splitlines()]
    assert [(each["line"], each["file"]) for each in found] == [
        (n, str(path)) for n in (4, 5, 6, 7, 8)
    ]
    assert found[1]["reason"] == "not a JSON object but list"
    assert found[2]["reason"] == "field 'n' is missing"
    assert found[3]["reason"] == "field 'n' must be text or a number, but is bool"
    assert found[4]["reason"] == "field 'n' must be text or a number, but is list"
    assert orjson.loads(found[4]["raw"]) == {"n": "[[[[[[[...]]]]]]]", "said": "w"}


def test_context_turns_and_excluded_texts_work_as_for_reddit(make, write_table, tmp_path):
    rows = [{"n": n, "to": n - 1 or None, "said": f"sentence {n}"} for n in range(1, 6)]
    (tmp_path / "sts.txt").write_text("Sentence 4!\n")
    statistics, pairs = make(
        *("conversations", "--input", write_table("c.csv", rows), *LINKED, "--context_turns", 2),
        *("--exclude_texts", f"{tmp_path}/s*.txt"),
    )
    assert statistics["excluded"] == 2
    assert [(p["context/0"], p["context/1"]) for p in pairs] == [("", ""), ("sentence 1", "")]


def forum(threads, depth):
    """Threads of one message and two chains of replies to it."""
    rows = []
    for thread in range(threads):
        rows.append({"n": f"{thread}", "said": f"root {thread}"})
        for chain in "ab":
            parent = f"{thread}"
            for turn in range(depth):
                own = f"{thread}{chain}{turn}"
                rows.append({"n": own, "to": parent, "said": f"text {own}"})
                parent = own
    return rows


def test_without_threads_no_message_is_in_two_splits(make, write_table, tmp_path, stored):
    path = write_table("c.jsonl", forum(threads=40, depth=5))
    asked = ("conversations", "--input", path, *LINKED, "--test_fraction", "0.4")
    make(*asked)
    by_split = [
        {pair[name] for pair in stored(tmp_path / "out", split) for name in ("input", "response")}
        for split in ("train", "test")
    ]
    assert min(map(len, by_split)) > 40
    assert by_split[0].isdisjoint(by_split[1])
    _, pairs = make(*asked, output="again")
    assert len({pair["thread_id"] for pair in pairs}) == 40
    roots = {pair["thread_id"]: pair["response_id"].split("a")[0].split("b")[0] for pair in pairs}
    assert len(set(roots.values())) == 40


def test_a_dropped_message_divides_no_conversation(make, write_table):
    rows = [
        {"n": f"{chat}.{n}", "to": f"{chat}.{n - 1}" if n else None, "said": "" if n == 2 else "a"}
        for chat in range(12)
        for n in range(5)
    ]
    _, pairs = make("conversations", "--input", write_table("c.jsonl", rows), *LINKED)
    assert len(pairs) == 24
    threads = {(pair["thread_id"], pair["response_id"].split(".")[0]) for pair in pairs}
    assert len(threads) == len({thread for thread, _ in threads}) == 12


def test_excluded_texts_may_be_context_turns(make, write_table, tmp_path):
    (tmp_path / "sts.txt").write_text("How old are you?\n")
    path = write_table("c.jsonl", [*CHAT, {"n": 8, "to": 3, "said": "Really?"}])
    asked = ("conversations", "--input", path, *LINKED, "--exclude_texts", tmp_path / "sts.txt")
    _, pairs = make(*asked)
    assert len(pairs) == 2
    statistics, pairs = make(*asked, "--context_turns", 1, output="in_context")
    assert (statistics["excluded"], texts(pairs)) == (2, [('so "young", he said', "Really?")])
    listed = (tmp_path / "in_context" / "excluded-00000-of-00001.jsonl").read_text().splitlines()
    assert {orjson.loads(line)["context/0"] for line in listed} == {None, "How old are you?"}


def test_turns_reply_to_the_one_before_in_any_files(make, write_table, tmp_path):
    write_table(
        "1.csv",
        [
            {"talk": "a", "turn": 10, "said": "third"},
            {"talk": "a", "turn": 2, "said": "second"},
            {"talk": "b", "turn": 1, "said": "hello"},
        ],
    )
    write_table(
        "2.jsonl.gz",
        [
            {"talk": "b", "turn": "1.5", "said": "hi"},
            {"talk": "a", "turn": -1, "said": "first"},
            {"talk": "b", "turn": "3", "said": ""},
            {"talk": "b", "turn": "4", "said": "nobody to answer"},
            {"talk": "a", "turn": 2, "said": "second"},
            {"talk": "c", "turn": 1, "said": "alone"},
            {"talk": "a", "turn": None, "said": "lost"},
        ],
    )
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
        ("linked", "an engine"),
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
    monkeypatch.setattr("data_pipeline.job.options._MIN_PARTITIONS", 3)
    if runner == "an engine":
        monkeypatch.setattr("data_pipeline.job.run.is_local", lambda _: False)
    more = ("--direct_num_workers", 2) if runner == "two workers" else ()
    _, pairs = make(*asked, *more, output="other")
    assert pairs == expected[1]


def test_malformed_turns_are_told_of(make, write_table, caplog):
    said = ["turn 0", "turn 1", ["no text"], "turn 3"]
    rows = [{"talk": 1, "turn": turn, "said": text} for turn, text in enumerate(said)]
    statistics, pairs = make("conversations", "--input", write_table("t.jsonl", rows), *TURNS)
    assert statistics["malformed"] == 1
    assert texts(pairs) == [("turn 0", "turn 1"), ("turn 1", "turn 3")]
    assert "1 malformed turns are left out; the turn after one replies to" in caplog.text


def test_turns_may_be_ordered_by_time(make, write_table):
    rows = [
        {"talk": 7, "turn": "2020-01-02T10:00:05+01:00", "said": "b"},
        {"talk": 7, "turn": "2020-01-02T09:00:04+00:00", "said": "a"},
        {"talk": 7, "turn": "2020-01-02 09:00:06", "said": "c"},
    ]
    path = write_table("c.csv", rows)
    _, pairs = make("conversations", "--input", path, *TURNS, "--time_field", "turn")
    assert texts(pairs) == [("a", "b"), ("b", "c")]


def test_a_complete_job_is_not_run_again_and_a_cache_is_used(make, write_table, tmp_path, capsys):
    path = write_table("c.parquet", CHAT)
    asked = ("conversations", "--input", path, *LINKED, "--cache", tmp_path / "cache")
    first = make(*asked)
    capsys.readouterr()
    assert make(*asked) == first
    assert "complete already" in capsys.readouterr().out
    assert make(*asked, "--max_characters", 18, output="other")[0]["dropped"]["length"] == 3
    assert make(*asked, "--test_fraction", 0, output="third")[0]["test_pairs"] == 0
    names = [path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()]
    assert len(names) == 2


def test_times_that_are_none_are_told_of(make, write_table, caplog):
    rows = [{"talk": 1, "turn": n, "said": "some words", "at": 1448467200000 + n} for n in range(3)]
    make("conversations", "--input", write_table("a.jsonl", rows), *TURNS, "--time_field", "at")
    assert "--time_field: no message has a time in 'at'; accepted: seconds since" in caplog.text
    caplog.clear()
    rows[2]["at"] = "2015-11-25"
    arguments = ("conversations", "--input", write_table("b.jsonl", rows), *TURNS)
    make(*arguments, "--time_field", "at", output="known")
    make(*arguments, output="not asked for")
    assert "--time_field" not in caplog.text


def test_an_author_that_no_row_has_is_told_of(make, write_table, caplog, tmp_path, monkeypatch):
    """The first rows alone are looked at before the job; the rule on authors would drop nothing."""
    monkeypatch.setattr("data_pipeline.sources.tables.check.CHECKED_ROWS", 2)
    rows = [{"talk": 1, "turn": n, "said": "some words", "nick": "a bot"} for n in range(4)]
    path = write_table("a.jsonl", rows)
    arguments = ("conversations", "--input", path, *TURNS, "--drop_authors_containing", "bot")
    make(*arguments, "--author_field", "nik", output="misspelt")
    assert "warning: --author_field: no row has the field 'nik'" in caplog.text
    caplog.clear()
    make(*arguments, "--author_field", "nick", "--allow_empty", output="right")
    assert "_field" not in caplog.text


@pytest.mark.parametrize(("found", "warns"), [(9, True), (10, False)])
def test_few_parents_that_are_found_are_told_of(make, write_table, caplog, found, warns):
    """Of a hundred replies, some name the message 0; the others a message that is elsewhere."""
    rows = [{"n": "0", "to": None, "said": "a question"}]
    rows += [{"n": f"r{n}", "to": 0 if n < found else f"x{n}", "said": "a"} for n in range(100)]
    arguments = ("--input", write_table("c.jsonl", rows), *LINKED, "--test_fraction", "0")
    _, pairs = make("conversations", *arguments)
    assert len(pairs) == found
    said = f"warning: only {found} of 100 replies have a parent that is in the input and kept; che"
    assert (said in caplog.text) == warns


def test_a_message_that_is_its_own_parent_replies_to_none(make, write_table, caplog):
    """As in an export of Slack, where most threads have no reply."""
    rows = [{"n": f"{n}.5", "to": f"{n}.5", "said": f"question {n}"} for n in range(30)]
    rows += [{"n": "30.5", "to": "0.5", "said": "the only answer"}]
    arguments = ("--input", write_table("c.jsonl", rows), *LINKED, "--test_fraction", "0")
    statistics, (pair,) = make("conversations", *arguments)
    assert (statistics["replies"], statistics["pairs"]) == (1, 1)
    assert (pair["input"], pair["response"]) == ("question 0", "the only answer")
    assert "replies have a parent" not in caplog.text


def roots_and_replies():
    """As a blog's comments: a root names the comment 0, which is not there."""
    rows = [{"n": n, "to": 0, "said": f"question {n}"} for n in range(1, 51)]
    return rows + [{"n": 50 + n, "to": n, "said": f"answer {n}"} for n in range(1, 51)]


def test_a_parent_that_means_none_is_named_by_an_option(make, write_table, caplog):
    arguments = ("--input", write_table("c.jsonl", roots_and_replies()), *LINKED)
    statistics, pairs = make("conversations", *arguments, "--no_parent", "0")
    assert (statistics["replies"], len(pairs)) == (50, 50)
    assert len({pair["thread_id"] for pair in pairs}) == 50
    assert "--no_parent" not in caplog.text


def test_a_parent_that_seems_to_mean_none_and_a_split_without_pairs_are_told_of(
    make, write_table, caplog
):
    """All are one thread then, the replies of the message 0; its hash is in the split train."""
    arguments = ("--input", write_table("c.jsonl", roots_and_replies()), *LINKED)
    fractions = ("--test_fraction", "0.2", "--validation_fraction", "0.2")
    statistics, _ = make("conversations", *arguments, *fractions)
    assert statistics["train_pairs"] == 50
    assert "--parent_field: some messages have '0' in 'to', which is the id of no" in caplog.text
    for split in ("test", "validation"):
        said = f"warning: the split {split} has none of 50 pairs, though its fraction is 0.2: a th"
        assert said in caplog.text


def test_numbers_that_json_does_not_hold_exactly_do_not_merge(make, tmp_path):
    path = tmp_path / "c.jsonl"
    ids = [2**64, 2**64 + 1, 1, 2, 3, 4]
    rows = [{"n": n, "to": 1 if n > 1 else None, "said": f"words of {n}"} for n in ids]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    statistics, pairs = make("conversations", "--input", path, *LINKED)
    assert (statistics["malformed"], statistics["duplicates"], len(pairs)) == (2, 0, 3)
    (letters,) = (tmp_path / "out").glob("dead_letters-*")
    found = [orjson.loads(line)["reason"] for line in letters.read_bytes().splitlines()]
    assert found == ["field 'n' is a number too large to be exact; write it as text"] * 2
