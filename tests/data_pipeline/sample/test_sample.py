"""The sample world: its determinism, its dumps, and that word overlap does not solve it.

All of its bytes are among the goldens.
"""

import itertools
import re

import numpy as np
import pytest
from backports import zstd

from common.errors import InputError
from data_pipeline import SampleOptions, write_sample
from data_pipeline.__main__ import main
from data_pipeline.sample import dump
from data_pipeline.sample.world import DUMP, LABELLED_PARTS, load
from tests.data_pipeline.sources.one_by_one import parse_comment

COMMENTS = 6_000
MONTHS = tuple(f"reddit/{name}" for name in dump.MONTHS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    output = tmp_path_factory.mktemp("sample")
    make(output, comments=COMMENTS, seed=3)
    return output


@pytest.fixture(scope="module")
def world():
    return load()


def make(output, **options):
    write_sample(SampleOptions(output=str(output), **options))


def comments_in(folder):
    """The well-formed comments of both months, each id once."""
    months = [zstd.decompress((folder / month).read_bytes()) for month in MONTHS]
    lines = (line for month in months for line in month.splitlines())
    return list({each.id: each for each in map(parse_comment, lines) if each is not None}.values())


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def words(text):
    return re.findall(r"\w+", text.lower())


def cores_in(text, cores):
    """Those of the cores, given as joined words, that occur in a text."""
    said = words(text)
    spans = itertools.combinations(range(len(said) + 1), 2)
    return {core for i, j in spans if (core := " ".join(said[i:j])) in cores}


def joined(world, *parts):
    """All sentences of some parts as joined words; small talk has nothing held out."""
    meanings = [each for domain in world.domains.values() for each in domain.meanings.values()]
    cores = (core for each in meanings for part in parts for core in each.cores[part])
    return {" ".join(words(core.text)) for core in cores}


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


def test_held_out_sentences_are_not_in_the_dump(folder, world):
    held_out = joined(world, *LABELLED_PARTS)
    assert not [core for core in joined(world, DUMP) if cores_in(core, held_out)]
    for comment in comments_in(folder):
        assert len(comment.text) >= 350 or not cores_in(comment.text, held_out)
    for one, other in itertools.combinations(LABELLED_PARTS, 2):
        assert not joined(world, one) & joined(world, other)


@pytest.mark.parametrize("part", LABELLED_PARTS)
def test_sts_rows_are_held_out_and_not_solved_by_word_overlap(folder, world, part):
    text = (folder / f"stsb/sts-{part}.csv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()]
    assert {len(row) for row in rows} == {7, 9}
    gold = [float(row[4]) for row in rows]
    assert 0 <= min(gold) < 0.3
    assert 4.7 < max(gold) <= 5
    assert any('"' in row[5] + row[6] for row in rows)
    held_out = joined(world, part)
    assert all(cores_in(row[5], held_out) and cores_in(row[6], held_out) for row in rows)
    if part == "train":
        return
    genres = ("main-captions", "main-forums", "main-news")
    assert {row[0] for row in rows} == {*genres}
    for some in (genres, *((genre,) for genre in genres)):
        of_genre = [row for row in rows if row[0] in some]
        pairs = [(set(words(row[5])), set(words(row[6]))) for row in of_genre]
        overlap = [len(one & two) / len(one | two) for one, two in pairs]
        assert abs(np.corrcoef(overlap, [float(row[4]) for row in of_genre])[0, 1]) <= 0.3
