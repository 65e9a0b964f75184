"""Names of input files that are hard to write: commas, signs of patterns, other encodings."""

import os
from pathlib import Path

import pytest

from data_pipeline.storage.inputs import find_inputs

LATIN_1 = os.fsdecode("RC_für".encode("latin-1"))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Makes files in the working folder."""
    monkeypatch.chdir(tmp_path)

    def make(*names):
        for name in names:
            (tmp_path / name).write_bytes(b"{}\n")

    return make


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (["RC_a,b.json"], ["RC_a,b.json"]),
        (["RC_*,b.json"], ["RC_a,b.json"]),
        (["RC_1.json,RC_2.json"], ["RC_1.json", "RC_2.json"]),
        (["RC_1.json, RC_a,b.json"], None),
        (["RC_1.json", "RC_a,b.json"], ["RC_1.json", "RC_a,b.json"]),
        (["RC_[1].json"], ["RC_[1].json"]),
        (["RC_[1],[2].json"], ["RC_[1],[2].json"]),
        (["RC_[12].json"], ["RC_1.json", "RC_2.json"]),
    ],
)
def test_a_value_that_names_files_is_taken_whole(files, given, found):
    files("RC_a,b.json", "RC_1.json", "RC_2.json", "RC_[1].json", "RC_[1],[2].json")
    if found is None:
        with pytest.raises(ValueError, match="'RC_a' matches no file"):
            find_inputs(given)
    else:
        assert sorted(Path(dump.path).name for dump in find_inputs(given)) == found


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("--input", {"--input": LATIN_1}),
        ("--input", {"--input": "RC_*"}),
        ("--output", {"--output": LATIN_1}),
        ("--cache", {"--cache": LATIN_1}),
        ("--exclude_texts", {"--exclude_texts": LATIN_1}),
    ],
)
def test_a_name_that_is_not_utf_8_is_one_error(fails, files, option, values):
    files(LATIN_1, "RC_1")
    given = {"--input": "RC_1", "--output": "out"} | values
    message = fails(*(part for item in given.items() for part in item))
    assert message.startswith(f"error: {option}: '")
    assert "RC_f\\udcfcr' is not UTF-8; rename it" in message
