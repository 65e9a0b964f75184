"""Options of the Reddit job: what they drop, and which values are refused."""

import pytest

from common.errors import InputError
from data_pipeline.sources.reddit.options import RedditOptions

FILES = {"input": ("RC",), "output": "out"}


@pytest.mark.parametrize(
    "options",
    [
        *[["--test_fraction", value] for value in ("-0.1", "1.01", "nan")],
        *[["--validation_fraction", value] for value in ("-0.1", "1", "nan")],
        ["--validation_fraction", "0.5", "--test_fraction", "0.5"],
        *[["--train_shards", "-1"], ["--records_per_file", "0"], ["--gzip", "--format", "parquet"]],
        *[["--context_turns", "-1"], ["--context_turns", "101"], ["--max_copies_of_pair", "0"]],
        *[["--max_characters", "0"], ["--min_letter_share", "1"], ["--min_characters", "-1"]],
        *[["--drop_prefixes", ","], ["--subreddits", "/, ,"], ["--exclude_subreddits", ""]],
        *[[name, "nowhere.txt"] for name in ("--exclude_texts", "--bots", "--submissions")],
        *[["--input", "nowhere/RC_*"], ["--input", ","], ["--input", "nosuch://bucket/RC_*"]],
        *[["--output", path] for path in ("nosuch://bucket/out", "", "hdfs://host/out", "out/a*")],
        *[["--test_fractoin", "0.2"], ["--runner", "NoSuch"]],
    ],
    ids=" ".join,
)
def test_a_value_that_cannot_be_is_one_line(refused, world, tmp_path, options):
    source = () if "--input" in options else ("--input", f"{tmp_path}/RC_*")
    assert options[0] in refused("reddit", *source, *options)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("given", ["Fish,cats", " r/FISH , /r/Cats/,", "r/cats,r/cats,fish"])
def test_subreddits_however_they_are_written(given):
    for name in ("subreddits", "exclude_subreddits"):
        options = RedditOptions(**FILES, **{name: given})
        assert options.named == {name: {"fish", "cats"}}


def test_authors_however_they_are_written(tmp_path):
    (tmp_path / "bots.txt").write_text("\ufeffAutoModerator\r\n\n /u/Élan\nu/some_one/\n")
    options = RedditOptions(**FILES, bots=str(tmp_path / "bots.txt"))
    assert options.named["bots"] == {"automoderator", "élan", "some_one"}
    (tmp_path / "bots.txt").write_text(" \n")
    with pytest.raises(InputError, match="--bots"):
        _ = RedditOptions(**FILES, bots=str(tmp_path / "bots.txt")).named
