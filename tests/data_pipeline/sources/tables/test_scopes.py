"""Ids and orders that restart in each thread, file or folder; what is ambiguous ends the job."""

import pytest

LINKED = ("--id_field", "n", "--parent_field", "re", "--text_field", "t")
TOPICS = (*LINKED, "--thread_field", "topic")
TURNS = ("--thread_field", "d", "--order_field", "n", "--text_field", "t")
ALL = ("--test_fraction", 0)  # else two threads, named by their files, may both be to test on
FORUM = [
    ("tents", 1, None, "Which tent is good for two people?"),
    ("tents", 2, 1, "A dome tent."),
    ("tents", 3, 2, "Does it stand in strong wind?"),
    ("bread", 1, None, "Why is my bread so dense?"),
    ("bread", 2, 1, "Too little water."),
    ("bread", 3, 1, "Let the dough rest for longer."),
    ("bread", 4, 3, "Overnight in the fridge, or warm?"),
]


def messages(rows, names=("topic", "n", "re", "t")):
    return [dict(zip(names, row, strict=True)) for row in rows]


def replies(pairs):
    return sorted((pair["input"], pair["response"]) for pair in pairs)


def said(rows, *links):
    texts = [row[-1] for row in rows]
    return sorted((texts[first], texts[then]) for first, then in links)


@pytest.fixture
def chats(write_table, tmp_path):
    """Writes messages of two files of one folder each; returns a pattern."""

    def write(*files, names=("topic", "n", "re", "t"), suffix="jsonl"):
        for place, rows in enumerate(files):
            folder = tmp_path / f"{place}"
            folder.mkdir()
            write_table(f"{place}.{suffix}", messages(rows, names)).rename(folder / f"c.{suffix}")
        return f"{tmp_path}/?/c.{suffix}"

    return write


LINKS = ((0, 1), (1, 2), (3, 4), (3, 5), (5, 6))


@pytest.mark.parametrize("context", [0, 1])
def test_ids_belong_to_their_thread(make, write_table, context):
    path = write_table("c.jsonl", messages(FORUM))
    asked = ("conversations", "--input", path, *TOPICS, "--context_turns", context)
    statistics, pairs = make(*asked)
    assert replies(pairs) == said(FORUM, *LINKS)
    assert statistics["duplicates"] == 0
    assert {(pair["thread_id"], pair["response_id"]) for pair in pairs} == {
        (topic, str(n)) for topic, n, parent, _ in FORUM if parent
    }
    if context:
        before = {pair["response"]: pair["context/0"] for pair in pairs}
        assert before[FORUM[2][3]] == FORUM[0][3]
        assert before[FORUM[6][3]] == FORUM[3][3]


def test_several_fields_name_a_thread(make, write_table):
    rows = [row | {"server": "s"} for row in messages(FORUM)]
    rows += [row | {"server": "r", "t": f"{row['t']} again"} for row in messages(FORUM)]
    path = write_table("c.csv", rows)
    _, pairs = make("conversations", "--input", path, *TOPICS, "server")
    again = [(*row[:-1], f"{row[-1]} again") for row in FORUM]
    assert replies(pairs) == sorted(said(FORUM, *LINKS) + said(again, *LINKS))
    assert len({pair["thread_id"] for pair in pairs}) == 4


def test_ids_that_recur_with_other_texts_end_the_job(make, refused, write_table):
    path = write_table("c.jsonl", messages(FORUM))
    message = refused("conversations", "--input", path, *LINKED)
    assert message.startswith("--ids_within: ")
    assert all(named in message for named in ("'1'", FORUM[0][3], FORUM[3][3], "file", "all"))
    assert "--ids_within" in refused(
        "conversations", "--input", path, *LINKED, "--ids_within", "file"
    )
    statistics, pairs = make("conversations", "--input", path, *LINKED, "--ids_within", "all")
    assert statistics["duplicates"] == 3
    assert (FORUM[0][3], FORUM[1][3]) in replies(pairs)


@pytest.mark.parametrize("within", ["file", "folder"])
@pytest.mark.parametrize("fields", [LINKED, TOPICS])
def test_ids_may_restart_in_each_file_or_folder(make, refused, chats, within, fields):
    files = FORUM[:3], [("tents", *row[1:]) for row in FORUM[3:]]
    asked = ("conversations", "--input", chats(*files), *fields, *ALL)
    assert FORUM[3][3] in refused(*asked)
    _, pairs = make(*asked, "--ids_within", within)
    assert replies(pairs) == said(FORUM, *LINKS)
    threads = {pair["input"]: pair["thread_id"] for pair in pairs}
    assert threads[FORUM[0][3]] == threads[FORUM[1][3]] != threads[FORUM[3][3]]


def test_copies_of_messages_are_no_ambiguity(make, chats):
    statistics, pairs = make("conversations", "--input", chats(FORUM, FORUM), *TOPICS)
    assert statistics["duplicates"] == len(FORUM)
    assert replies(pairs) == said(FORUM, *LINKS)


def test_a_parent_in_another_thread_ends_the_job(make, refused, write_table):
    rows = [("a", 1, None, "one"), ("a", 2, 1, "two"), ("b", 3, 2, "three"), ("b", 4, 3, "four")]
    asked = ("conversations", "--input", write_table("c.jsonl", messages(rows)), *TOPICS)
    message = refused(*asked)
    assert all(named in message for named in ("--ids_within", "'2'", "'two'", "'three'", "all"))
    _, pairs = make(*asked, "--ids_within", "all")
    assert replies(pairs) == said(rows, (0, 1), (1, 2), (2, 3))
    _, pairs = make(*asked, "--ids_within", "thread", output="other")
    assert replies(pairs) == said(rows, (0, 1), (2, 3))


def test_where_ids_restart_a_missing_parent_is_missing(make, write_table, caplog):
    rows = [*FORUM, ("tents", 9, 4, "Its parent was deleted.")]
    _, pairs = make("conversations", "--input", write_table("c.jsonl", messages(rows)), *TOPICS)
    assert replies(pairs) == said(FORUM, *LINKS)
    assert "Its parent was deleted." in caplog.text


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_texts_that_are_ids_stay_apart(make, write_table, suffix):
    rows = [("1", "", "one"), ("1.0", "", "one point"), ("1.1", "1.0", "to the point")]
    rows += [("2", "1", "to one"), ("3", "2.0", "as pandas writes it")]
    path = write_table(f"c.{suffix}", messages(rows, ("n", "re", "t")))
    _, pairs = make("conversations", "--input", path, *LINKED)
    assert replies(pairs) == said(rows, (1, 2), (0, 3), (3, 4))
    assert {pair["input_id"] for pair in pairs} == {"1.0", "1", "2"}


def test_a_root_without_thread_takes_that_of_its_replies(make, write_table):
    rows = [(None, "r", None, "root"), ("x", "s", "r", "reply"), ("x", "q", "s", "and more")]
    rows += [(None, "u", None, "alone"), (None, "v", "u", "a reply needs one")]
    path = write_table("c.jsonl", messages(rows))
    statistics, pairs = make("conversations", "--input", path, *TOPICS)
    assert replies(pairs) == said(rows, (0, 1), (1, 2))
    assert {pair["thread_id"] for pair in pairs} == {"x"}
    assert (statistics["malformed"], statistics["kept"]) == (1, 4)


DIALOGUES = [[(0, n, f"{file} says {n}") for n in range(4)] for file in "ab"]


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_dialogues_of_two_files_with_one_name(make, refused, chats, suffix):
    pattern = chats(*DIALOGUES, names=("d", "n", "t"), suffix=suffix)
    asked = ("conversations", "--input", pattern, *TURNS, *ALL)
    for within in ((), ("--ids_within", "thread")):
        message = refused(*asked, *within)
        assert all(named in message for named in ("--ids_within", "'a says 0'", "'b says 0'"))
    _, pairs = make(*asked, "--ids_within", "file")
    expected = [(f"{file} says {n}", f"{file} says {n + 1}") for file in "ab" for n in range(3)]
    assert replies(pairs) == expected
    assert len({pair["thread_id"] for pair in pairs}) == 2
    statistics, pairs = make(*asked, "--ids_within", "all", output="other")
    assert replies(pairs) == expected[:3]
    assert statistics["duplicates"] == 4


def test_orders_that_restart_in_one_file_end_the_job(refused, make, write_table):
    rows = [("x", *row) for row in DIALOGUES[0]] + [("y", *row) for row in DIALOGUES[1]]
    path = write_table("c.csv", messages(rows, ("part", "d", "n", "t")))
    asked = ("conversations", "--input", path, *TURNS)
    assert "'b says 0'" in refused(*asked)
    _, pairs = make(*asked, "--thread_field", "part")
    assert len(pairs) == 6


def test_a_thread_in_several_files_is_mentioned(make, chats, caplog):
    later = [(0, n + 4, text) for _, n, text in DIALOGUES[1]]
    asked = ("conversations", "--input", chats(DIALOGUES[0], later, names=("d", "n", "t")), *TURNS)
    assert len(make(*asked)[1]) == 7
    assert "--ids_within" in caplog.text
    caplog.clear()
    make(*asked, "--ids_within", "thread", output="other")
    assert "--ids_within" not in caplog.text


@pytest.mark.parametrize("newest_first", [False, True])
def test_ties_keep_the_direction_of_their_file_and_are_counted(
    make, write_table, caplog, newest_first
):
    rows = [
        ("x", 1, "a"),
        ("x", 5, "b"),
        ("x", 5, "c"),
        ("x", 9, "d"),
        ("y", 7, "e"),
        ("y", 7, "f"),
    ]
    rows = rows[::-1] if newest_first else rows
    path = write_table("c.csv", messages(rows, ("d", "n", "t")))
    statistics, pairs = make("conversations", "--input", path, *TURNS)
    assert replies(pairs) == [("a", "b"), ("b", "c"), ("c", "d"), ("e", "f")]
    assert statistics["ties"] == 2
    assert "--order_field" in caplog.text
    assert "'b'" in caplog.text or "'e'" in caplog.text
