"""`--sample N`: what the first messages give, and nothing is written."""

import json

import pytest

from data_pipeline.__main__ import main


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "chat.jsonl"
    rows = [
        {"n": n, "to": n - 1, "said": "x" * (n % 40) if n % 5 else f"message {n}", "day": n // 100}
        for n in range(1, 400)
    ]
    rows[10:10] = ["no object"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


OPTIONS = ("--id_field", "n", "--parent_field", "to", "--text_field", "said")


def sample(path, messages, *options):
    main(["conversations", "--input", str(path), *OPTIONS, "--sample", str(messages), *options])


def test_it_prints_statistics_pairs_and_dropped_messages(chat, tmp_path, capsys):
    before = sorted(tmp_path.rglob("*"))
    # Whatever the runner, the first messages are read here.
    engine = ("--runner", "FlinkRunner", "--direct_num_workers", "7")
    sample(chat, 100, "--max_characters", "30", "--min_characters", "3", *engine)
    assert sorted(tmp_path.rglob("*")) == before
    said = capsys.readouterr().out
    rows = dict(line.rsplit(maxsplit=1) for line in said.splitlines()[1:12])
    # Of 1 to 100, 80 are runs of x: 31 to 39 less 35 twice, and 1, 2, 41, 42, 81 and 82.
    assert (rows["lines"], rows["malformed"], rows["comments"]) == ("101", "1", "100")
    assert (rows["dropped: length"], rows["dropped: min_characters"]) == ("16", "6")
    assert said.count("\ninput     ") == said.count("\nresponse  ") == 3
    dropped = [line for line in said.splitlines() if line.startswith("dropped by ")]
    assert dropped[0] == f"dropped by length: {'x' * 31}"
    assert dropped[3:] == [f"dropped by min_characters: {x}" for x in ("x", "xx", "x")]
    assert '"no object"' in said


def test_a_file_of_malformed_lines_is_shown_and_not_read_to_its_end(chat, capsys):
    chat.write_text("no\n" * 1_000_000)
    with pytest.raises(SystemExit, match="no pairs"):
        main(["reddit", "--input", str(chat), "--sample", "10"])
    said = capsys.readouterr().out
    table = dict(map(str.split, said.splitlines()[1:3]))
    assert 10_000 <= int(table["lines"].replace(",", "")) < 1_000_000
    assert said.count("\nmalformed ") == 4


def test_a_terminal_obeys_no_message(chat, capsys):
    rows = [{"n": 1, "said": "née \x1b[31m \x9bone\u202e"}, {"n": 2, "to": 1, "said": "日本"}]
    chat.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sample(chat, 10)
    said = capsys.readouterr().out
    assert "input     née \ufffd[31m \ufffdone\ufffd\nresponse  日本\n" in said
