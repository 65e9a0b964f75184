"""Options of `conversations` and `pairs` that make no sense: one line, and nothing is written."""

import pyarrow as pa
import pyarrow.parquet
import pytest

ROWS = [{"id": n, "to": n - 1, "said": "words", "talk": 1, "turn": n} for n in range(9)]
LINKED = ["--id_field", "id", "--parent_field", "to", "--text_field", "said"]
TURNS = ["--thread_field", "talk", "--order_field", "turn", "--text_field", "said"]
PAIRS = ["--input_field", "id", "--response_field", "said"]
EITHER = "either --id_field and --parent_field, or --thread_field and --order_field"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--text_field: names the text of a message; it is required"),
        (["--text_field", "said"], f"--id_field: is missing; accepted: {EITHER}"),
        (LINKED[:2] + LINKED[4:], f"--parent_field: is missing; accepted: {EITHER}"),
        (LINKED[2:], f"--id_field: is missing; accepted: {EITHER}"),
        (
            TURNS[2:],
            "--order_field: needs --thread_field, the conversation that it orders",
        ),
        (
            [*TURNS, "--id_field", "id"],
            "--order_field: orders messages that name no parent; accepted: " + EITHER,
        ),
        (
            [*LINKED, "--thread_field", "id"],
            "--id_field and --thread_field: both name 'id'; name two fields",
        ),
        (
            [*LINKED, "--drop_authors_containing", "bot"],
            "--drop_authors_containing: needs --author_field, the name of the author",
        ),
        (
            [*LINKED, "--delimiter", "::"],
            "--delimiter: '::' is not a character; accepted: one, as ';', and tab",
        ),
        ([*LINKED, "--sample", "0"], "--sample: 0 is not 1 or more"),
        ([*TURNS, "--no_parent", "0"], "--no_parent: needs --parent_field, the name of the parent"),
        ([*LINKED, "--validation_shards", "2"], "--validation_shards: 2 has no effect without"),
        (
            [*LINKED[:-1], "text"],
            "--text_field: FILE: no field 'text'; its fields are 'id', 'to', 'said', 'talk', "
            "'turn'",
        ),
        ([*LINKED, "--author_field", "who"], "--author_field: FILE: no field 'who'; its fields"),
        ([*LINKED, "--exclude_texts", "no*.txt"], "--exclude_texts: 'no*.txt' matches no file"),
    ],
)
def test_conversations(refused, write_table, options, message):
    path = write_table("c.jsonl", ROWS)
    assert refused("conversations", "--input", path, *options).startswith(
        message.replace("FILE", str(path))
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (PAIRS[:2], "--response_field: is missing; accepted: the name of a field"),
        (PAIRS[2:], "--input_field: is missing; accepted: the name of a field"),
        (
            [*PAIRS, "--context_turns", "1"],
            "--context_turns: a row has no turn before its input; accepted by conversations",
        ),
        (
            [*PAIRS, "--drop_authors_containing", "bot"],
            "--drop_authors_containing: rows have no author; accepted by conversations",
        ),
        (
            [*PAIRS[:3], "id"],
            "--input_field and --response_field: both name 'id'; name two fields",
        ),
    ],
)
def test_pairs(refused, write_table, options, message):
    assert refused("pairs", "--input", write_table("c.jsonl", ROWS), *options) == message


def test_a_field_that_is_mostly_empty_is_named(refused, write_table):
    rows = [{"id": n, "to": 1, "said": "words" if n < 3 else ""} for n in range(9)]
    path = write_table("c.csv", rows)
    assert refused("conversations", "--input", path, *LINKED) == (
        f"--text_field: {path}: the field 'said' is empty in 6 of the first 9 rows; its fields are "
        "'id', 'to', 'said'"
    )


def test_a_parent_that_no_message_has_is_named(refused, write_table):
    path = write_table("c.jsonl", [{"id": n, "to": None, "said": "words"} for n in range(9)])
    assert refused("conversations", "--input", path, *LINKED) == (
        f"--parent_field: {path}: the field 'to' is empty in all 9 rows; its fields are "
        "'id', 'to', 'said'"
    )


def test_a_field_that_a_later_file_lacks_is_named(refused, write_table, tmp_path):
    for n in range(12):
        write_table(f"{n:02}.csv", ROWS if n < 11 else [{"id": 1, "to": 2, "text": "words"}])
    message = refused("conversations", "--input", f"{tmp_path}/*.csv", *LINKED)
    assert message == (
        f"{tmp_path}/11.csv: no field 'said'; the first line must name the fields, and names "
        "'id', 'to', 'text'"
    )


def test_a_file_whose_rows_all_lack_the_text_is_named(refused, write_table, tmp_path):
    """The first rows are looked at in the first files only; the job looks at all."""
    for number in range(11):
        write_table(f"c{number:02}.jsonl", ROWS)
    last = write_table("c11.jsonl", [{"question": "words", "said": "words"}] * 9)
    said = refused("pairs", "--input", tmp_path / "c*.jsonl", *PAIRS)
    assert said == f"{last}: no row has 'id' (--input_field)"


@pytest.mark.parametrize("is_lost", [False, True])
def test_a_file_that_is_read_in_parts_is_judged_as_a_whole(
    refused, make, write_table, monkeypatch, is_lost
):
    """The text is in the first rows, behind those that are looked at before; or in none."""
    monkeypatch.setattr("data_pipeline.storage.parts.PLAIN_BYTES", 4000)
    monkeypatch.setattr("data_pipeline.sources.tables.check.CHECKED_ROWS", 3)
    rows = [{"id": n, "to": n - 1, "said": "words"} for n in range(9)]
    rows += [{"id": n, "to": n - 1} for n in range(9, 900)]
    names = [write_table(f"{n:02}.jsonl", rows[:9]) for n in range(10)]
    names.append(write_table("10.jsonl", rows[9 * is_lost :]))
    options = ("conversations", "--input", names[-1].parent / "*.jsonl", *LINKED)
    if is_lost:
        assert refused(*options) == f"{names[-1]}: no row has 'said' (--text_field)"
    else:
        assert make(*options, "--test_fraction", "0")[0]["lines"] == 10 * 9 + 900


def test_values_that_python_cannot_hold_are_named(refused, tmp_path):
    texts = pa.array([b"fine", b"caf\xe9"]).cast(pa.string(), safe=False)
    path = tmp_path / "c.parquet"
    pa.parquet.write_table(pa.table({"id": texts, "said": ["a", "b"]}), path)
    said = refused("pairs", "--input", path, *PAIRS)
    assert said.startswith(f"{path}: rows 1 to 2: column 'id': 'utf-8' codec can't decode")


def test_most_rows_without_an_id_are_too_many(refused, write_table):
    rows = [{"id": n if n < 10_001 else None, "to": 1, "said": "words"} for n in range(25_000)]
    message = refused("conversations", "--input", write_table("c.jsonl", rows), *LINKED)
    assert message.startswith("--input: 14,999 of 25,000 lines (60.0%) are malformed")


def test_a_job_that_leaves_nothing_to_train_on_fails(refused, write_table):
    path = write_table("c.jsonl", ROWS)
    asked = ("conversations", "--input", path, *TURNS, "--test_fraction", "0.999999")
    assert refused(*asked) == (
        "--test_fraction: 0.999999 and --split_by thread leave none of 8 pairs to train on; "
        "accepted: other values of these, or --allow_empty"
    )
    fractions = ("--test_fraction", "0", "--validation_fraction", "0.999999")
    assert refused("conversations", "--input", path, *TURNS, *fractions).startswith(
        "--test_fraction: 0, --validation_fraction 0.999999 and --split_by thread leave none of 8"
    )


def test_what_is_for_csv_alone_is_refused_without_any(refused, write_table):
    asked = ("conversations", "--input", write_table("c.jsonl", ROWS), *TURNS)
    for option in (("--delimiter", ";"), ("--no_quotes",)):
        assert refused(*asked, *option) == (
            f"{option[0]}: accepted with CSV and TSV files; no input is one"
        )


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_field_with_a_name_of_several_is_named(refused, tmp_path, suffix):
    path = tmp_path / f"c.{suffix}"
    path.write_text("id,to,said,said\n1,,some,words\n2,1,more,words\n")
    if suffix == "parquet":
        column = pa.array(["1", "2"])
        table = pa.table([column] * 4, names=["id", "to", "said", "said"])
        pa.parquet.write_table(table, path)
    message = f"--text_field: {path}: 2 fields are named 'said'; accepted: one of that name"
    assert refused("conversations", "--input", path, *LINKED) == message
    for number in range(10):
        (tmp_path / f"b{number}.csv").write_text("id,to,said\n1,,words\n2,1,more\n")
    said = refused("conversations", "--input", f"{tmp_path}/*.*", *LINKED)
    assert said == message.removeprefix("--text_field: ")
