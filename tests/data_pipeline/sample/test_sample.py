"""The sample world: its formats, its determinism, and that word overlap does not solve it."""

import html
import itertools
import re
from collections import Counter
from random import Random
from xml.etree import ElementTree

import numpy as np
import orjson
import pytest
from backports import zstd

from common.errors import InputError
from data_pipeline import SampleOptions, write_sample
from data_pipeline.__main__ import main
from data_pipeline.sample import dump
from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.threads import Forum
from data_pipeline.sample.world import DUMP, LABELLED_PARTS, load
from data_pipeline.sources.reddit.source import Selection
from tests.data_pipeline.sources.one_by_one import parse_comment, rule_that_drops

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


@pytest.fixture(scope="module")
def lines(folder):
    """The lines of each month."""
    return [zstd.decompress((folder / month).read_bytes()).splitlines() for month in MONTHS]


@pytest.fixture(scope="module")
def months(lines):
    """The well-formed comments of each month by id."""
    return [comments_of(some) for some in lines]


@pytest.fixture(scope="module")
def unspoiled(world):
    """Comments as they are before the dump's noise."""
    forum = Forum(Speaker(world, Random(5)), comments=5_000)
    return list(itertools.islice(forum.stream(), 5_000))


def make(output, **options):
    write_sample(SampleOptions(output=str(output), **options))


def comments_of(lines):
    comments = {}
    for line in lines:
        if (comment := parse_comment(line)) is not None:
            comments[comment.id] = comment
    return comments


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def sts_rows(folder, part):
    text = (folder / f"stsb/sts-{part}.csv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def words(text):
    return re.findall(r"\w+", text.lower())


def cores_in(text, cores):
    """Those of the cores, given as joined words, that occur in a text."""
    said = words(text)
    spans = itertools.combinations(range(len(said) + 1), 2)
    return {core for i, j in spans if (core := " ".join(said[i:j])) in cores}


def meanings(world):
    return [meaning for domain in world.domains.values() for meaning in domain.meanings.values()]


def joined(world, *parts):
    """All sentences of some parts as joined words; small talk has nothing held out."""
    cores = (core for each in meanings(world) for part in parts for core in each.cores[part])
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
        lines = [zstd.decompress((tmp_path / month).read_bytes()).splitlines() for month in MONTHS]
        assert sum(len(comments_of(some)) for some in lines) == comments


@pytest.mark.parametrize(("output", "comments"), [("sample", 0), ("s3://bucket/world", 1)])
def test_what_is_refused(tmp_path, monkeypatch, output, comments):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="--comments: 0" if not comments else output):
        make(output, comments=comments)
    assert list(tmp_path.iterdir()) == []


def test_failure_leaves_no_dump(world, tmp_path, monkeypatch):
    monkeypatch.setattr(dump, "malformed", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        dump.write(world, tmp_path, comments=COMMENTS, seed=3)
    assert not list(tmp_path.iterdir())


def test_the_dump_has_what_real_dumps_have(lines, months):
    january, february = months
    assert not january.keys() & february.keys()
    assert len(january) + len(february) == COMMENTS
    assert 0.9 < len(january) / len(february) < 1.1
    every = january | february
    dropped = Counter(rule_that_drops(Selection(), comment) for comment in every.values())
    for rule, rate in dump.RATES.items():
        assert 0.5 < dropped[rule] / (COMMENTS * rate) < 2, rule

    malformed = [line for line in itertools.chain(*lines) if parse_comment(line) is None]
    assert any(line.endswith(b"}") for line in malformed)
    assert not all(line.endswith(b"}") for line in malformed)
    assert len(malformed) == COMMENTS // dump.MALFORMED_EVERY
    assert sum(map(len, lines)) - len(malformed) - COMMENTS > 5  # duplicates

    replies = [c for c in every.values() if c.parent in every]
    assert len([c for c in february.values() if c.parent in january]) > 5
    assert all(c.thread == every[c.parent].thread for c in replies)
    assert any(every[c.parent].parent in every for c in replies)  # chains
    assert any(c.parent is None for c in every.values())  # under posts
    assert any(c.parent and c.parent not in every for c in every.values())

    text = b"\n".join(itertools.chain(*lines))
    for entity in (b"&amp;", b"&gt;", b"&lt;"):
        assert entity in text
    assert not re.search(rb"&(?!amp;|lt;|gt;)", text)


def test_ordinary_comments_pass_the_rules_are_answered_and_rarely_repeat(months, unspoiled):
    template = next(iter(months[0].values()))
    for body in (comment["body"] for comment in unspoiled):
        comment = template._replace(text=body, author="x")
        assert rule_that_drops(Selection(), comment) is None, body
        assert html.unescape(body) == body
    authors = {comment["author"] for comment in unspoiled}
    assert len(authors) > 4_000
    assert not any("bot" in author.lower() for author in authors)
    ids = {comment["id"] for comment in unspoiled}
    replies = [c["body"] for c in unspoiled if c["parent_id"][3:] in ids]
    assert 0.5 < len(replies) / len(unspoiled) < 0.8
    assert len(set(replies)) / len(replies) > 0.99


def test_names_of_a_thing_share_no_words(world):
    for domain in world.domains.values():
        for thing, names in domain.names.items():
            content = [w for name in names for w in set(words(name)) if len(w) > 3 and w != "with"]
            assert len(content) == len(set(content)), thing


def test_held_out_sentences_are_not_in_the_dump(months, world):
    held_out = joined(world, *LABELLED_PARTS)
    assert not [core for core in joined(world, DUMP) if cores_in(core, held_out)]
    for comment in itertools.chain(*(month.values() for month in months)):
        assert len(comment.text) >= 350 or not cores_in(comment.text, held_out)
    for one, other in itertools.combinations(LABELLED_PARTS, 2):
        assert not joined(world, one) & joined(world, other)


def test_every_name_and_way_is_in_the_dump(world):
    for meaning in meanings(world):
        every = [core for cores in meaning.cores.values() for core in cores]
        assert {c.way for c in meaning.cores[DUMP]} == {c.way for c in every}
        assert {c.name for c in meaning.cores[DUMP]} == {c.name for c in every}


def test_no_comment_replies_to_a_question_with_a_question(world, unspoiled):
    """So paraphrases are never paired: only the replies that they share can tell."""
    said = joined(world, DUMP)
    asks = {c["id"]: c["parent_id"][3:] for c in unspoiled[:2000] if cores_in(c["body"], said)}
    assert len(asks) > 500
    assert not asks.keys() & set(asks.values())


@pytest.mark.parametrize("part", LABELLED_PARTS)
def test_sts_rows_are_held_out_and_not_solved_by_word_overlap(folder, world, part):
    rows = sts_rows(folder, part)
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


@pytest.mark.parametrize("part", LABELLED_PARTS)
def test_nli_rows(folder, part):
    content = (folder / f"nli/snli_1.0_{part}.jsonl").read_bytes().splitlines()
    rows = list(map(orjson.loads, content))
    labels = Counter(row["gold_label"] for row in rows)
    assert set(labels) == {"entailment", "contradiction", "neutral", "-"}
    assert labels["-"] < len(rows) / 20
    assert len({row["pairID"] for row in rows}) == len(rows)
    for row in rows:
        assert row["sentence1"] != row["sentence2"]
        votes = Counter(row["annotator_labels"])
        assert votes.total() == 5
        gold = row["gold_label"]
        assert votes[gold] >= 3 if gold != "-" else max(votes.values()) < 3


@pytest.mark.parametrize("part", ["dev", "test"])
def test_cqa_groups_of_ten_in_a_mediocre_order(folder, part):
    root = ElementTree.parse(folder / f"semeval_cqa/SemEval2016-Task3-CQA-QL-{part}.xml").getroot()
    groups, precisions = {}, []
    for question in root.iter("OrgQuestion"):
        groups.setdefault(question.get("ORGQ_ID"), []).append(question)
    assert len(groups) >= 40
    for group in groups.values():
        found = [question.find("Thread/RelQuestion") for question in group]
        assert [int(q.get("RELQ_RANKING_ORDER")) for q in found] == list(range(1, 11))
        labels = [q.get("RELQ_RELEVANCE2ORGQ") for q in found]
        assert {"PerfectMatch", "Irrelevant"} <= set(labels)
        assert set(labels) <= {"PerfectMatch", "Relevant", "Irrelevant"}
        (own,) = {question.findtext("OrgQSubject") for question in group}
        assert own not in [q.findtext("RelQSubject") for q in found]
        is_good = np.array([label != "Irrelevant" for label in labels])
        precisions.append((np.cumsum(is_good) / np.arange(1, 11))[is_good].mean())
    assert 0.25 < np.mean(precisions) < 0.65
    assert any(not q.findtext("RelQBody") for q in root.iter("RelQuestion"))
    assert root.find(".//RelComment/RelCText").text
