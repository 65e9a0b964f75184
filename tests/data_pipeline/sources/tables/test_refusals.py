"""Options that make no sense and files that cannot be read: one line, and nothing is written."""

import pyarrow as pa
import pyarrow.parquet
import pytest

ROWS = [{"id": n, "to": n - 1, "said": "words", "talk": 1, "turn": n} for n in range(9)]
LINKED = ["--id_field", "id", "--parent_field", "to", "--text_field", "said"]
TURNS = ["--thread_field", "talk", "--order_field", "turn", "--text_field", "said"]
PAIRS = ["--input_field", "id", "--response_field", "said"]


@pytest.mark.parametrize(
    ("command", "options", "named"),
    [
        ("conversations", [], "--text_field"),
        ("conversations", ["--text_field", "said"], "--id_field"),
        ("conversations", LINKED[:2] + LINKED[4:], "--parent_field"),
        ("conversations", LINKED[2:], "--id_field"),
        ("conversations", TURNS[2:], "--order_field"),
        ("conversations", [*TURNS, "--id_field", "id"], "--order_field"),
        ("conversations", [*LINKED, "--thread_field", "id"], "--id_field"),
        ("conversations", [*LINKED, "--drop_authors_containing", "bot"], "--drop_authors"),
        ("conversations", [*LINKED, "--delimiter", "::"], "--delimiter"),
        ("conversations", [*LINKED, "--delimiter", ";"], "--delimiter"),  # no input is CSV
        ("conversations", [*LINKED, "--quotes", "none"], "--quotes"),
        ("conversations", [*LINKED, "--escape", "\\"], "--escape"),
        ("conversations", [*LINKED, "--columns", "id,to,said"], "--columns"),
        ("conversations", [*LINKED, "--escape", "\\\\"], "--escape"),
        ("conversations", [*LINKED, "--escape", "\\", "--quotes", "none"], "--escape"),
        ("conversations", [*LINKED, "--sample", "0"], "--sample"),
        ("conversations", [*TURNS, "--no_parent", "0"], "--no_parent"),
        ("conversations", [*LINKED[:-1], "text"], "'text'"),
        ("conversations", [*LINKED, "--exclude_texts", "no*.txt"], "--exclude_texts"),
        ("conversations", [*LINKED, "--pairs_of", "halves"], "--pairs_of"),
        ("conversations", [*LINKED, "--ids_within", "thread"], "--thread_field"),
        ("conversations", [*LINKED, "--split_by", "newest"], "--time_field"),
        ("conversations", [*TURNS, "--pairs_of", "halves", "--split_by", "pair"], "--pairs_of"),
        ("conversations", [*TURNS, "--pairs_of", "halves", "--context_turns", "2"], "--context_"),
        ("pairs", PAIRS[:2], "--response_field"),
        ("pairs", PAIRS[2:], "--input_field"),
        ("pairs", [*PAIRS, "--context_turns", "1"], "--context_turns"),
        ("pairs", [*PAIRS, "--context_field", "said"], "--context_field"),
        ("pairs", [*PAIRS, "--drop_authors_containing", "bot"], "--drop_authors_containing"),
        ("pairs", [*PAIRS, "--pairs_of", "halves"], "--pairs_of"),
        ("pairs", [*PAIRS[:3], "id"], "--input_field"),
    ],
)
def test_options_that_make_no_sense(refused, write_table, command, options, named):
    message = refused(command, "--input", write_table("c.jsonl", ROWS), *options)
    assert named in message


def test_a_field_that_a_later_file_lacks_is_named(refused, write_table, tmp_path):
    for n in range(12):
        write_table(f"{n:02}.csv", ROWS if n < 11 else [{"id": 1, "to": 2, "text": "words"}])
    message = refused("conversations", "--input", f"{tmp_path}/*.csv", *LINKED)
    assert f"{tmp_path}/11.csv" in message
    assert "'said'" in message


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_file_of_another_encoding_is_named(refused, tmp_path, encoding):
    path = tmp_path / "c.csv"
    path.write_bytes("id,to,said\n2,1,café\n".encode(encoding))
    message = refused("conversations", "--input", path, *LINKED)
    assert f"{path}: " in message and "UTF-8" in message


def test_values_that_python_cannot_hold_are_named(refused, tmp_path):
    texts = pa.array([b"fine", b"caf\xe9"]).cast(pa.string(), safe=False)
    path = tmp_path / "c.parquet"
    pa.parquet.write_table(pa.table({"id": texts, "said": ["a", "b"]}), path)
    assert str(path) in refused("pairs", "--input", path, *PAIRS)


def test_a_job_that_leaves_nothing_to_train_on_fails(refused, write_table):
    asked = ("conversations", "--input", write_table("c.jsonl", ROWS), *TURNS)
    assert "--test_fraction" in refused(*asked, "--test_fraction", "0.999999")


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet"])
def test_files_without_a_row_are_like_others(refused, make, tmp_path, suffix):
    path = tmp_path / f"c.{suffix}"
    path.write_text("" if suffix == "jsonl" else "id,said\n")
    if suffix == "parquet":
        nothing = pa.array([], pa.string())
        pa.parquet.write_table(pa.table({"id": nothing, "said": nothing}), path)
    command = ("pairs", "--input", path, *PAIRS)
    assert "--allow_empty" in refused(*command)
    statistics, pairs = make(*command, "--allow_empty")
    assert (statistics["lines"], pairs) == (0, [])


def test_lines_may_all_be_malformed_if_that_is_asked_for(refused, make, tmp_path):
    path = tmp_path / "c.jsonl"
    path.write_text("no object\n")
    command = ("conversations", "--input", path, *LINKED)
    assert str(path) in refused(*command)
    statistics, _ = make(*command, "--max_malformed", "1", "--allow_empty")
    assert statistics["malformed"] == 1


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_field_with_a_name_of_several_is_named(refused, tmp_path, suffix):
    path = tmp_path / f"c.{suffix}"
    path.write_text("id,to,said,said\n1,,some,words\n2,1,more,words\n")
    if suffix == "parquet":
        table = pa.table([pa.array(["1", "2"])] * 4, names=["id", "to", "said", "said"])
        pa.parquet.write_table(table, path)
    message = refused("conversations", "--input", path, *LINKED)
    assert f"{path}: 2 fields 'said'" in message


QUESTIONS = ("--input_field", "question", "--response_field", "answer")


def write(path, *lines):
    path.write_text("\n".join(["question,answer", *lines, ""]))
    return path


def test_a_quote_that_swallows_rows_ends_the_job(refused, tmp_path):
    rows = [f"question {n},answer {n}" for n in range(300)]
    for stray in ('"no end,x', 'x,"no end'):
        for others in ([*rows, 'c,"d"'], rows[:9]):
            path = write(tmp_path / "t.csv", "a,b", stray, *others)
            assert f"{path}: line 3" in refused("pairs", "--input", path, *QUESTIONS)


def test_escaped_quotes_are_read_as_the_message_says(refused, make, tmp_path):
    rows = [f'"question \\"{n}\\", as asked","answer {n}"' for n in range(4)]
    path = write(tmp_path / "t.csv", *rows, "a,b")
    assert "--escape" in refused("pairs", "--input", path, *QUESTIONS)
    statistics, pairs = make("pairs", "--input", path, *QUESTIONS, "--escape", "\\")
    assert (statistics["malformed"], len(pairs)) == (0, 5)
    assert ('question "0", as asked', "answer 0") in {(p["input"], p["response"]) for p in pairs}
