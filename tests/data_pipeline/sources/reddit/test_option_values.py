"""What options of the command accept, and the one line that names what they do not."""

import pytest

from data_pipeline.job.options import describe_partitions
from data_pipeline.sources.reddit.options import RedditOptions, check
from data_pipeline.storage.inputs import InputFile


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--test_fraction", "-0.1"], "--test_fraction: -0.1 is not in [0, 1]"),
        (["--test_fraction", "nan"], "--test_fraction: nan is not in [0, 1]"),
        (["--validation_fraction", "-0.1"], "--validation_fraction: -0.1 is not in [0, 1)"),
        (["--validation_fraction", "nan"], "--validation_fraction: nan is not in [0, 1)"),
        (["--validation_fraction", "1"], "--validation_fraction: 1.0 is not in [0, 1)"),
        (
            ["--validation_fraction", "0.5", "--test_fraction", "0.5"],
            "--validation_fraction: 0.5 and a --test_fraction of 0.5 leave no pairs to train on",
        ),
        (["--validation_shards", "0"], "--validation_shards: 0 is not 1 or more"),
        (["--test_shards", "0"], "--test_shards: 0 is not 1 or more"),
        (["--train_shards", "-1"], "--train_shards: -1 is not 1 or more"),
        (["--records_per_file", "0"], "--records_per_file: 0 is not 1 or more"),
        (["--gzip", "--format", "parquet"], "--gzip: Parquet files are compressed already"),
        (["--context_turns", "-1"], "--context_turns: -1 is not 0 or more"),
        (["--context_turns", "101"], "--context_turns: 101 is not 0 to 100"),
        (["--direct_num_workers", "-2"], "--direct_num_workers: -2 is not 0 or more"),
        (["--max_characters", "0"], "--max_characters: 0 is not 1 or more"),
        (["--min_letter_share", "1"], "--min_letter_share: 1.0 is not in [0, 1)"),
        (["--drop_prefixes", ","], "--drop_prefixes: ',' names none"),
        (["--rules", "none", "--letters_and_marks"], "--letters_and_marks: no rule counts letters"),
        (["--min_characters", "-1"], "--min_characters: -1 is not 0 or more"),
        (["--max_copies_of_pair", "0"], "--max_copies_of_pair: 0 is not 1 or more"),
        (["--subreddits", ", ,"], "--subreddits: ', ,' names none"),
        (["--exclude_subreddits", ""], "--exclude_subreddits: '' names none"),
        (["--bots", "nowhere"], "--bots: 'nowhere' cannot be read"),
        (["--bots", "."], "--bots: '.' cannot be read"),
        (["--exclude_texts", "nowhere.txt"], "--exclude_texts: 'nowhere.txt' cannot be read"),
        (["--cache", ""], "--cache: '' names no folder"),
    ],
)
def test_a_value_that_cannot_be_is_one_line(fails, world, tmp_path, options, reason):
    output = tmp_path / "out"
    assert reason in fails("--input", f"{tmp_path}/RC_*", "--output", output, *options)
    assert not output.exists()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--split_by", "comment"], "argument --split_by: invalid choice: 'comment'"),
        (["--format", "csv"], "argument --format: invalid choice: 'csv'"),
        (["--test_fraction", "a tenth"], "argument --test_fraction: invalid float value"),
        *[
            ([f"--{name}", "1.5"], f"argument --{name}: invalid int value: '1.5'")
            for name in (
                *("train_shards", "validation_shards", "test_shards"),
                "records_per_file",
                *("context_turns", "min_characters", "min_score", "max_copies_of_pair"),
            )
        ],
        (["--exclude_texts"], "argument --exclude_texts: expected at least one argument"),
        (["--output"], "argument --output: expected one argument"),
    ],
)
def test_a_value_of_another_kind_is_named_in_the_last_line(run, tmp_path, capsys, options, reason):
    with pytest.raises(SystemExit) as raised:
        run("--input", "x", "--output", tmp_path / "out", *options)
    assert raised.value.code == 2
    assert reason in capsys.readouterr().err.splitlines()[-1]


def test_bots_may_have_a_byte_order_mark_and_windows_line_ends(
    run, write_dump, comment, tmp_path, statistics_of
):
    write_dump("RC", [comment("c1", author="First"), comment("c2", author="Second")])
    bots, output = tmp_path / "bots.txt", tmp_path / "out"
    bots.write_bytes("\ufefffirst\r\n\r\nSECOND \r\n".encode())
    run("--input", tmp_path / "RC", "--output", output, "--bots", bots, "--allow_empty")
    assert statistics_of(output)["dropped"]["bots"] == 2


@pytest.mark.parametrize("content", [b"", b" \n\n", b"\xff"])
def test_a_list_of_bots_that_names_nobody_is_one_line(fails, world, tmp_path, content):
    bots = tmp_path / "bots.txt"
    bots.write_bytes(content)
    message = fails(*("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out", "--bots", bots))
    assert f"--bots: '{bots}' " in message


@pytest.mark.parametrize("given", ["Fish,cats", " r/FISH , /r/Cats/,", "r/cats,r/cats,fish"])
def test_subreddits_however_they_are_written(
    run, write_dump, comment, tmp_path, statistics_of, given
):
    write_dump("RC", [comment(f"c{n}", subreddit=s) for n, s in enumerate(["FISH", "Cats", "r"])])
    source = ("--input", tmp_path / "RC", "--cache", tmp_path / "cache", "--allow_empty")
    source += ("--output",)
    run(*source, tmp_path / "only", "--subreddits", given)
    run(*source, tmp_path / "but", "--exclude_subreddits", given)
    assert statistics_of(tmp_path / "only")["dropped"]["subreddits"] == 1
    assert statistics_of(tmp_path / "but")["dropped"]["exclude_subreddits"] == 2


def test_rules_are_counted_in_their_order_each_comment_once(
    run, write_dump, comment, tmp_path, statistics_of
):
    fine = {"score": 3, "subreddit": "fish"}
    rows = [
        comment("c1", body="kept as it is", **fine),
        comment("c2", "t1_c1", body="a reply that stays", **fine),
        comment("c3", body="[removed]", author="a_bot", score=0),
        comment("c4", body="short", score=0, subreddit="dogs"),
        comment("c5", body="long enough", score=1, subreddit="dogs"),
        comment("c6", body="long enough", score=3, subreddit="dogs", author="listed"),
        comment("c7", body="long enough", over_18=True, author="Listed", **fine),
        comment("c8", body="long enough", over_18=True, **fine),
        comment("c9", body="long enough", subreddit="fish"),
    ]
    bots = tmp_path / "bots.txt"
    bots.write_text("listed\n")
    run(
        *("--input", write_dump("RC", rows), "--output", tmp_path / "out", "--bots", bots),
        *("--min_characters", 6, "--min_score", 2, "--subreddits", "fish", "--drop_over_18"),
    )
    statistics = statistics_of(tmp_path / "out")
    assert statistics["dropped"] == {
        "deleted": 1,
        "length": 0,
        "alphabetic": 0,
        "prefix": 0,
        "bot": 0,
        "min_characters": 1,
        "min_score": 2,
        "subreddits": 1,
        "bots": 1,
        "over_18": 1,
    }
    assert (statistics["kept"], statistics["pairs"]) == (2, 1)


@pytest.mark.parametrize(
    ("options", "dropped", "pairs", "words"),
    [
        (["--rules", "none"], {"deleted": 1}, 3, "[deleted] or [removed]"),
        (
            ["--rules", "none", "--max_characters", 13],
            {"deleted": 1, "length": 1},
            2,
            ">14 characters or more",
        ),
        (
            ["--min_letter_share", "0.5", "--drop_prefixes", "Dear ", "--max_characters", 20],
            {"deleted": 1, "length": 0, "alphabetic": 1, "prefix": 1, "bot": 1},
            0,
            ">50% letters or less",
        ),
    ],
)
def test_the_papers_rules_are_options(
    run, write_dump, comment, tmp_path, statistics_of, options, dropped, pairs, words
):
    rows = [
        comment("c1", body="How old?"),
        comment("c2", "t1_c1", body="I am 20 years old", author="a_bot"),
        comment("c3", "t1_c1", body="20"),
        comment("c4", "t1_c1", body="Dear reader"),
        comment("c5", "t1_c1", body="[deleted]"),
    ]
    out = tmp_path / "out"
    run("--input", write_dump("RC", rows), "--output", out, "--allow_empty", *options)
    statistics = statistics_of(out)
    assert statistics["dropped"] == dropped
    assert statistics["pairs"] == pairs
    assert words in (out / "data_card.html").read_text()


def test_all_of_them_are_off_by_default(run, world, tmp_path, statistics_of):
    run("--input", f"{tmp_path}/RC_*", "--output", tmp_path / "out")
    statistics = statistics_of(tmp_path / "out")
    assert list(statistics["dropped"]) == ["deleted", "length", "alphabetic", "prefix", "bot"]
    assert not {"excluded", "copies_dropped"} & statistics.keys()


@pytest.mark.parametrize(
    ("gibibytes", "partitions"), [(0, 16), (0.5, 16), (1, 32), (20, 640), (40, 1024), (2000, 1024)]
)
def test_partitions_follow_the_size_of_the_input_and_the_log_says_why(gibibytes, partitions):
    _, settings = check(RedditOptions(), [InputFile("RC.zst", int(gibibytes * 2**30))])
    assert settings.partitions == partitions
    assert describe_partitions(settings.partitions) == (
        f"{partitions} partitions (one for each 32 MiB of input, 16 to 1,024)"
    )
