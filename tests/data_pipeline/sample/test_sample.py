"""The sample world: its determinism and its dumps; all of its bytes are among the goldens."""

import pytest
from backports import zstd

from common.errors import InputError
from data_pipeline import SampleOptions, write_sample
from data_pipeline.__main__ import main
from data_pipeline.sample import dump
from tests.data_pipeline.sources.one_by_one import parse_comment

COMMENTS = 6_000
MONTHS = tuple(f"reddit/{name}" for name in dump.MONTHS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    output = tmp_path_factory.mktemp("sample")
    make(output, comments=COMMENTS, seed=3)
    return output


def make(output, **options):
    write_sample(SampleOptions(output=str(output), **options))


def comments_in(folder):
    """The well-formed comments of both months, each id once."""
    months = [zstd.decompress((folder / month).read_bytes()) for month in MONTHS]
    lines = (line for month in months for line in month.splitlines())
    return list({each.id: each for each in map(parse_comment, lines) if each is not None}.values())


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_same_seed_gives_same_bytes_and_another_seed_other_bytes(folder, tmp_path):
    make(tmp_path / "again", comments=COMMENTS, seed=3)
    make(tmp_path / "other", comments=37, seed=4)
    first, other = contents(folder), contents(tmp_path / "other")
    assert first == contents(tmp_path / "again")
    assert sorted(first) == [
        "SAMPLE.txt",
        "nli/snli_1.0_dev.jsonl",
        "nli/snli_1.0_test.jsonl",
        "nli/snli_1.0_train.jsonl",
        "reddit/RC_2020-01.zst",
        "reddit/RC_2020-02.zst",
        "semeval_cqa/SemEval2016-Task3-CQA-QL-dev.xml",
        "semeval_cqa/SemEval2016-Task3-CQA-QL-test.xml",
        "stsb/sts-dev.csv",
        "stsb/sts-test.csv",
        "stsb/sts-train.csv",
    ]
    assert first.keys() == other.keys()
    assert not [name for name in first if first[name] == other[name]]


def test_real_data_is_not_overwritten_and_another_sample_is(tmp_path):
    (tmp_path / "stsb").mkdir()
    (tmp_path / "SAMPLE.txt").write_text("some samples of ours")
    with pytest.raises(InputError, match="stsb"):
        make(tmp_path, comments=10)
    assert not (tmp_path / "reddit").exists()
    (tmp_path / "SAMPLE.txt").unlink()
    (tmp_path / "stsb").rmdir()
    for comments in (1, 37):
        main(["sample", "--output", str(tmp_path), "--comments", str(comments)])
        assert f"{comments} comments" in (tmp_path / "SAMPLE.txt").read_text()
        assert len(comments_in(tmp_path)) == comments


@pytest.mark.parametrize(("output", "comments"), [("sample", 0), ("s3://bucket/world", 1), ("", 1)])
def test_what_is_refused(tmp_path, monkeypatch, output, comments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="--output" if comments else "--comments: 0"):
        make(output, comments=comments)
    assert list(tmp_path.iterdir()) == []
