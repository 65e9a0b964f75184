"""From an export, written by hand in its documented form, to the exact pairs."""

import json
import shutil
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from data_pipeline.sources.exports.export import ExportReader
from data_pipeline.sources.tables.reader import SKIPPED
from data_pipeline.storage.filesystem import Tap, file_crc32c
from data_pipeline.storage.inputs import InputFile

HERE = Path(__file__).parent
TEA = "Does tea keep &lt; a year, @bobby? @here"
ASKED = "Ask HN: Tea or coffee?\nAt work, that is."
BOTH = "Tea / coffee:\nboth, see tea"


def texts(pairs):
    return sorted((pair["input"], pair["response"]) for pair in pairs)


PAIRS = {
    "slack": [
        (TEA, "It does, see the box in #help"),
        (TEA, "Two years, even"),
        ("The same second as in the other channel", "And its answer"),
    ],
    "discord": [
        ("@Ann too much water, I think", "It was the water"),
        ("Why are my tomatoes yellow?", "@Ann too much water, I think"),
    ],
    "telegram": [
        ("Another chat, the same id", "Its answer"),
        ("Is green tea hot? https://tea.example", "Not for long"),
        ("Not for long", "Answers the group"),
    ],
    "hackernews": [("A story without a text", "And its comment"), (ASKED, BOTH), (BOTH, "Fine")],
    "zendesk": [
        ("Please cancel", "Cancelled"),
        ("Thanks!", "Any time"),
        ("The water is cold", "Is the boiler on?"),
        ("Where is my parcel?", "It comes today"),
    ],
    "dialogues": [
        *[("Good day", "Bye")] * 2,
        ("Hello!", "How are you?"),
        ("Hi", "Good day"),
        ("Hi", "Good day"),
        ("Hi", "Hello!"),
        ("What is tea?", "A drink"),
        ("Write a line", "Here it is"),
    ],
}
DROPPED = {
    "slack": {"by_bot": 1, "system": 1},
    "discord": {"by_bot": 1, "system": 1, "forwarded": 1},
    "telegram": {"system": 2, "forwarded": 1, "by_bot": 0},
    "hackernews": {"deleted": 1, "dead": 1, "not_written": 1},
    "zendesk": {"not_public": 1},
    "dialogues": {"not_said": 3},
}
THREADS = {"slack": 2, "discord": 1, "telegram": 2, "hackernews": 2, "zendesk": 4, "dialogues": 5}


@pytest.mark.parametrize("name", PAIRS)
def test_a_folder_gives_these_pairs_and_counts_the_rest(make, name):
    """One record of each fixture is broken."""
    statistics, pairs = make("import", name, "--input", HERE / name, "--allow_empty")
    assert texts(pairs) == PAIRS[name]
    assert statistics["dropped"] == DROPPED[name] | {"empty": 0}
    assert statistics["malformed"] == 1
    assert len({pair["thread_id"] for pair in pairs}) == THREADS[name]


def test_a_rule_and_what_a_format_leaves_out_are_counted_together_under_one_name(make):
    asked = ("--rules", "paper", "--allow_empty")
    statistics, _ = make("import", "hackernews", "--input", HERE / "hackernews", *asked)
    assert statistics["dropped"]["deleted"] >= DROPPED["hackernews"]["deleted"]
    dropped = sum(statistics["dropped"].values())
    assert statistics["comments"] == statistics["kept"] + dropped


@pytest.mark.parametrize("name", ["slack", "discord", "telegram", "zendesk"])
def test_a_pause_divides_what_names_no_parent(make, name):
    """What programs say is no part of it, and Slack shows threads apart from their channel."""
    asked = ("--gap", "100", "--merge_author_runs", "--allow_empty")
    _, pairs = make("import", name, "--input", HERE / name, *asked)
    two = f"{TEA}\nNobody answers this"
    in_channels = [
        (two, "It does, see the box in #help\nTwo years, even"),
        (two, "who is that?"),
        PAIRS["slack"][-1],
    ]
    assert texts(pairs) == (in_channels if name == "slack" else PAIRS[name])


@pytest.mark.parametrize("name", ["slack", "discord"])
def test_a_zip_gives_the_pairs_of_its_files(make, tmp_path, name):
    """Those of Slack have a folder at the top if they were packed again."""
    path = Path(shutil.make_archive(str(tmp_path / name), "zip", HERE, name))
    _, pairs = make("import", name, "--input", path)
    assert texts(pairs) == PAIRS[name]
    assert {pair["subreddit"] for pair in pairs} <= {"general", "help"}
    (file,) = json.loads((tmp_path / "out" / "COMPLETED").read_text())["inputs"].values()
    assert (file["bytes"], file["crc32c"]) == (path.stat().st_size, file_crc32c(str(path)))
    (letter,) = (tmp_path / "out").glob("dead_letters-*")
    assert json.loads(letter.read_text())["file"].startswith(f"{path}/{name}/")


@pytest.mark.parametrize("name", ["hackernews", "dialogues"])
@pytest.mark.parametrize("form", ["parquet", "list.json"])
def test_rows_may_be_in_parquet_or_in_a_list(make, tmp_path, name, form):
    (source,) = (HERE / name).iterdir()
    rows = [json.loads(line) for line in source.read_text().splitlines()]
    path = tmp_path / f"rows.{form}"
    if form == "parquet":
        # Columns have one type: here that of the first turns.
        rows = [row for row in rows if row.keys() & {"conversations", "type"}]
        names = {name for row in rows for name in row}
        columns = {name: [row.get(name) for row in rows] for name in names}
        pa.parquet.write_table(pa.table(columns), path)
    else:
        path.write_text(json.dumps(rows, indent=1))
    _, pairs = make("import", name, "--input", path, "--allow_empty")
    only = name == "dialogues" and form == "parquet"
    assert texts(pairs) == PAIRS[name][-1 if only else 0 :]


AT = {"type": "message", "user": "U1"}
ITEM = {"type": "comment", "id": 1}
COMMENT = {"ticket_id": 1, "created_at": "2024-01-01T10:00:00Z", "author_id": 1, "body": "Secret"}


@pytest.mark.parametrize(
    ("name", "field", "record", "found"),
    [
        ("slack", "thread", AT | {"ts": "1.5", "thread_ts": None, "text": "a"}, ["tea:1.5"]),
        ("slack", "text", AT | {"ts": "1.5", "text": None}, [""]),
        (
            "telegram",
            "text",
            {"type": "message", "id": 1, "text": [{"type": "blockquote", "text": "Is it?"}, "No"]},
            ["No"],
        ),
        (
            "hackernews",
            "text",
            ITEM | {"text": "&gt; Is it?<p><i>&gt; Or not?</i><p>No > yes"},
            ["<p><p>No > yes"],
        ),
        ("hackernews", "text", ITEM | {"text": "a<p>&gt; Is it?\nNo"}, ["a<p>\nNo"]),
        ("zendesk", SKIPPED, COMMENT | {"public": "false"}, ["not_public"]),
        ("dialogues", "text", {"messages": '[{"role": "user"}]'}, []),
        ("dialogues", "text", {"conversations": {"from": ["a"], "value": ["Hi"]}}, []),
        ("dialogues", "text", {"conversation": [{"role": "user", "content": "Hi"}]}, ["Hi"]),
        ("dialogues", "text", {"data": ["Hi", "Hello"]}, ["Hi", "Hello"]),
        ("dialogues", "text", {"data": ["Hi"], "dialog": None}, ["Hi"]),
        ("dialogues", "text", {"data": ["Hi"], "dialog": ["Bye"]}, []),
        ("telegram", "text", {"text": json.loads("[" * 300 + "]" * 300)}, []),
    ],
)
def test_of_a_record_this_is_read(tmp_path, name, field, record, found):
    path = tmp_path / "tea" / "result.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"id": 7, "messages": [record]} if name == "telegram" else [record]))
    file = InputFile(str(path), path.stat().st_size)
    (rows,) = ExportReader(name, {}, {})(file, {"text": field}, tap=Tap())
    assert rows.fields["text"] == found
    assert len(rows.malformed) == (not found)


def test_one_chat_of_telegram_is_a_file_too(make, tmp_path):
    chat = json.loads((HERE / "telegram" / "result.json").read_text())["chats"]["list"][0]
    (tmp_path / "result.json").write_text("\ufeff" + json.dumps(chat))
    _, (pair,) = make("import", "telegram", "--input", tmp_path, "--allow_empty")
    assert (pair["input_id"], pair["response_id"], pair["subreddit"]) == ("111:2", "111:3", "Tea")


def test_the_folder_of_a_channel_of_slack_is_an_export_too(make):
    _, pairs = make("import", "slack", "--input", HERE / "slack" / "help", "--allow_empty")
    assert texts(pairs) == PAIRS["slack"][-1:]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"messages": [{"id": "1"', "premature EOF"),
        (b'{"items": []}', "messages"),
        (b"[1, 2]", "messages"),
        (b"\x89PNG", "JSON"),
        (b'{"messages": [{"text": "a"}, 3]}', "type"),
    ],
)
def test_a_file_of_another_form_is_named(refused, tmp_path, content, reason):
    (tmp_path / "a.json").write_bytes(content)
    message = refused("import", "discord", "--input", tmp_path)
    assert str(tmp_path / "a.json") in message
    assert reason in message


@pytest.mark.parametrize("name", ["folder", "empty.zip", "none.zip", "users.json"])
def test_a_folder_and_a_zip_must_have_files_of_the_format(refused, tmp_path, name):
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name == "empty.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("notes.txt", "none")
    else:
        path.write_bytes(b"[3]")
    assert str(path) in refused("import", "slack", "--input", path)


@pytest.mark.parametrize(
    "asked",
    [
        ("icq",),
        ("discord", "--pairs_of", "halves"),
        ("dialogues", "--split_by", "newest"),
        ("dialogues", "--gap", "1"),
        ("hackernews", "--merge_author_runs"),
        ("mbox", "--min_score", "1"),
    ],
)
def test_what_a_format_does_not_have_is_refused(refused, asked):
    assert asked[-1 if len(asked) < 3 else 1].strip("-") in refused(
        "import", *asked, "--input", HERE / "discord"
    )


def test_ids_of_dialogues_are_the_same_in_another_folder(make, tmp_path):
    _, pairs = make("import", "dialogues", "--input", HERE / "dialogues", "--allow_empty")
    shutil.copytree(HERE / "dialogues", tmp_path / "b")
    _, moved = make("import", "dialogues", "--input", tmp_path / "b", "--allow_empty", output="c")
    assert moved == pairs
