"""What makes two jobs the same: every option that changes what is written."""

import dataclasses

import pytest

from data_pipeline import RedditOptions
from data_pipeline.job.graph import plan_of
from data_pipeline.storage.inputs import InputFile

OTHERWISE = {
    "rules": "none",
    "split_by": "pair",
    "format": "jsonl",
    "pairs_of": "halves",
    "drop_prefixes": "never",
    "drop_authors_containing": "never",
    "subreddits": "news",
    "exclude_subreddits": "news",
}
NOT_WRITTEN = {"input", "output", "overwrite", "sample", "allow_empty", "max_malformed"}
"""What is read is compared by its checksums; the last two only say when a job fails."""
FILES = {"bots", "exclude_texts", "submissions"}


def described(**options):
    given = {"input": ("RC",), "output": "out", **options}
    return plan_of(RedditOptions(**given), []).describe()


def another(field):
    if field.name in OTHERWISE:
        return OTHERWISE[field.name]
    if isinstance(field.default, bool):
        return not field.default
    return 0.25 if field.name.endswith(("share", "fraction")) else 3


WRITTEN = [field for field in dataclasses.fields(RedditOptions) if field.name not in NOT_WRITTEN]


@pytest.mark.parametrize("field", WRITTEN, ids=lambda field: field.name)
def test_an_option_that_changes_the_output_makes_another_job(field, tmp_path):
    value = another(field)
    if field.name in FILES:
        path = tmp_path / "names.txt"
        path.write_text("someone\n")
        value = str(path) if field.name == "bots" else (str(path),)
    assert described(**{field.name: value}) != described()


@pytest.mark.parametrize(
    ("gibibytes", "partitions", "shards"),
    [
        (0, 16, {"train": 16, "validation": 1, "test": 2}),
        (0.5, 16, {"train": 16, "validation": 2, "test": 2}),
        (1, 32, {"train": 32, "validation": 3, "test": 3}),
        (64, 1024, {"train": 2048, "validation": 205, "test": 205}),
    ],
)
def test_partitions_and_shards_follow_the_size_of_the_input(gibibytes, partitions, shards):
    """A worker holds one of each in memory: 32 MiB of input are to be one."""
    options = RedditOptions(input=("RC",), output="out", validation_fraction=0.1)
    plan = plan_of(options, [InputFile("RC", int(gibibytes * 2**30), 0.0)])
    assert (plan.partitions, plan.shards.by_split) == (partitions, shards)
