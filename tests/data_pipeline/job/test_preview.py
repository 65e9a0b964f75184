"""`--sample N`: what the first messages give, and nothing is written."""

import io
import json
import re

import pytest
from apache_beam.options.pipeline_options import StandardOptions

from data_pipeline.__main__ import main
from data_pipeline.execution.runner import LOCAL_RUNNER, make_pipeline


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


def test_it_prints_statistics_pairs_and_dropped_messages(chat, tmp_path, capsys):
    before = sorted(tmp_path.rglob("*"))
    asked = ("conversations", "--input", str(chat), *OPTIONS, "--sample", "100")
    main([*asked, "--max_characters", "30", "--min_characters", "3"])
    assert sorted(tmp_path.rglob("*")) == before
    said = capsys.readouterr().out
    rows = dict(line.rsplit(maxsplit=1) for line in said.splitlines()[1:12])
    # Of 1 to 100, 80 are runs of x: 31 to 39 less 35 twice, and 1, 2, 41, 42, 81 and 82.
    assert rows["lines"] == "101"
    assert rows["malformed"] == "1"
    assert rows["comments"] == "100"
    assert rows["dropped: length"] == "16"
    assert rows["dropped: min_characters"] == "6"
    assert said.count("\ninput     ") == said.count("\nresponse  ") == 3
    dropped = [line for line in said.splitlines() if line.startswith("dropped by ")]
    assert len(dropped) == 10
    assert dropped[0] == f"dropped by length: {'x' * 31}"
    assert dropped[5:] == [f"dropped by min_characters: {x}" for x in ("x", "xx") * 2 + ("x",)]
    assert 'malformed not a JSON object but str: "no object"' in said
    assert said.endswith("nothing written: the first 100 messages of each file\n")


def test_reddit_has_it_too(write_dump, comment, tmp_path, capsys):
    rows = [comment("c0"), *[comment(f"c{n}", f"t1_c{n - 1}") for n in range(1, 50)]]
    rows.append(comment("d", body="[deleted]"))
    main(["reddit", "--input", str(write_dump("RC.gz", rows)), "--sample", "20"])
    said = capsys.readouterr().out
    assert "dropped by" not in said
    assert re.search(r"^pairs +19$", said, flags=re.MULTILINE)
    assert [path.name for path in tmp_path.iterdir()] == ["RC.gz"]


def test_malformed_lines_count_as_far_as_messages_are_read(chat, capsys):
    """One of four lines of the file is malformed: of 8 messages' lines 3, not all 25."""
    rows = [{"n": n, "to": n - 1, "said": f"some words {n}"} for n in range(75)]
    lines = [json.dumps(row) for row in rows]
    chat.write_text(
        "\n".join(f"{line}\n[]" if n % 3 == 2 else line for n, line in enumerate(lines))
    )
    main(["conversations", "--input", str(chat), *OPTIONS, "--sample", "8"])
    assert re.search(r"^malformed +3$", capsys.readouterr().out, flags=re.MULTILINE)


def test_large_inputs_and_engines_do_not_matter(chat, capsys, monkeypatch):
    def require_memory(files, **_):
        assert [file.size for file in files] == [10_000]

    monkeypatch.setattr("data_pipeline.job.run.require_memory", require_memory)
    chat.write_bytes(chat.read_bytes() + b"\n" * 20_000)
    asked = ("conversations", "--input", str(chat), *OPTIONS, "--sample", "10")
    main([*asked, "--runner", "FlinkRunner", "--direct_num_workers", "7"])
    assert "nothing written: the first 10 messages" in capsys.readouterr().out


def test_no_pair_is_an_error_behind_what_was_found(chat, capsys):
    asked = ("conversations", "--input", str(chat), *OPTIONS, "--sample", "1")
    with pytest.raises(SystemExit) as raised:
        main([*asked])
    assert raised.value.code == (
        "error: --sample: no pairs among the first 1 messages of each file"
    )
    assert "comments" in capsys.readouterr().out


def test_without_it_an_output_is_required(chat, capsys):
    with pytest.raises(SystemExit) as raised:
        main(["conversations", "--input", str(chat), *OPTIONS])
    assert raised.value.code == 2
    assert "the following arguments are required: --output" in capsys.readouterr().err


def test_it_runs_on_the_local_runner_and_checks_options(chat, capsys, monkeypatch):
    asked = ("conversations", "--input", str(chat), *OPTIONS, "--sample", "10")
    runners = []
    monkeypatch.setattr(
        "data_pipeline.job.run.make_pipeline",
        lambda options: (
            runners.append(options.view_as(StandardOptions).runner) or make_pipeline(options)
        ),
    )
    main([*asked])
    assert runners == [LOCAL_RUNNER]
    with pytest.raises(SystemExit) as raised:
        main([*asked, "--speed", "9"])
    assert str(raised.value).startswith("error: unknown option --speed; accepted: ")
    capsys.readouterr()


def test_a_terminal_obeys_no_message(chat, capsys):
    rows = [{"n": 1, "said": "red \x1b[31m \x9bone\u202e"}, {"n": 2, "to": 1, "said": "né\u200d…"}]
    chat.write_text("".join(json.dumps(row) + "\n" for row in rows))
    main(["conversations", "--input", str(chat), *OPTIONS, "--sample", "10"])
    said = capsys.readouterr().out
    assert "input     red \ufffd[31m \ufffdone\ufffd\nresponse  né\u200d…\n" in said


def test_a_terminal_of_another_encoding_shows_escapes(chat, monkeypatch):
    rows = [{"n": 1, "said": "née"}, {"n": 2, "to": 1, "said": "日本"}]
    chat.write_text("".join(json.dumps(row) + "\n" for row in rows))
    stream = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr("sys.stdout", stream)
    main(["conversations", "--input", str(chat), *OPTIONS, "--sample", "10"])
    stream.flush()
    said = stream.buffer.getvalue().decode("latin-1")
    assert "input     née\nresponse  \\u65e5\\u672c\n" in said


def test_a_file_of_malformed_lines_is_shown(chat, capsys):
    chat.write_text("no\n" * 9)
    with pytest.raises(SystemExit, match="--sample: no pairs among the first 10 messages"):
        main(["conversations", "--input", str(chat), *OPTIONS, "--sample", "10"])
    assert "malformed not JSON: " in capsys.readouterr().out


def test_a_file_of_malformed_lines_is_not_read_to_its_end(chat, capsys):
    chat.write_text("no\n" * 1_000_000)
    with pytest.raises(SystemExit):
        main(["conversations", "--input", str(chat), *OPTIONS, "--sample", "10"])
    table = dict(map(str.split, capsys.readouterr().out.splitlines()[1:3]))
    assert 10_000 <= int(table["lines"].replace(",", "")) < 1_000_000
