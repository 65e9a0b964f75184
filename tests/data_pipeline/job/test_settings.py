"""What makes two jobs the same: every option that changes what is written."""

import dataclasses

import pytest

from data_pipeline import RedditOptions
from data_pipeline.job.settings import settings_of

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
TOGETHER = {"validation_shards": {"validation_fraction": 0.1}}
NOT_WRITTEN = {"input", "output", "overwrite", "sample", "allow_empty", "max_malformed"}
"""What is read is compared by its checksums; the last two only say when a job fails."""
FILES = {"bots", "exclude_texts"}


def described(**options):
    given = {"input": ("RC",), "output": "out", **options}
    return settings_of(RedditOptions(**given), stored_bytes=0).description


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
        value = (str(path),) if field.name == "exclude_texts" else str(path)
    together = TOGETHER.get(field.name, {})
    assert described(**{field.name: value}, **together) != described(**together)
