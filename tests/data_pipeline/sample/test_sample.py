"""The sample world: its formats, its determinism, and that word overlap does not solve it."""

import html
import itertools
import re
import tracemalloc
from collections import Counter
from random import Random
from xml.etree import ElementTree

import numpy as np
import orjson
import pytest
from backports import zstd

from common.errors import InputError
from data_pipeline import sample
from data_pipeline.__main__ import main
from data_pipeline.sample import dump, noise
from data_pipeline.sample.speech import Speaker
from data_pipeline.sample.threads import Forum
from data_pipeline.sample.world import DUMP, LABELLED_PARTS, load
from data_pipeline.sources.reddit.comment import MalformedLineError, parse_comment
from data_pipeline.sources.reddit.filters import Rules, Selection

COMMENTS = 6_000
RULES = Rules(Selection())
JANUARY, FEBRUARY = "reddit/RC_2020-01.zst", "reddit/RC_2020-02.zst"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    output = tmp_path_factory.mktemp("sample")
    sample.write_sample(output, comments=COMMENTS, seed=3)
    return output


@pytest.fixture(scope="module")
def world():
    return load()


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def raw_lines(folder, month):
    return zstd.decompress((folder / month).read_bytes()).splitlines()


def comments_of(folder, month):
    """Return the well-formed comments of a month by id."""
    comments = {}
    for line in raw_lines(folder, month):
        try:
            comment = parse_comment(line)
        except MalformedLineError:
            continue
        comments[comment.id] = comment
    return comments


def sts_rows(folder, part):
    text = (folder / f"stsb/sts-{part}.csv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def words(text):
    return re.findall(r"\w+", text.lower())


def cores_in(text, cores):
    """Return those of the cores, given as joined words, that occur in a text."""
    said = words(text)
    spans = itertools.combinations(range(len(said) + 1), 2)
    return {core for i, j in spans if (core := " ".join(said[i:j])) in cores}


def joined(world, *parts):
    """Return all sentences of some parts as joined words; small talk has nothing held out."""
    return {
        " ".join(words(core.text))
        for domain in world.domains.values()
        for meaning in domain.meanings.values()
        for part in parts
        for core in meaning.cores[part]
    }


def unspoiled(world, count):
    forum = Forum(Speaker(world, Random(5)), comments=count)
    return list(itertools.islice(forum.stream(), count))


def test_same_seed_gives_same_bytes_and_another_seed_other_bytes(folder, tmp_path):
    sample.write_sample(tmp_path / "again", comments=COMMENTS, seed=3)
    sample.write_sample(tmp_path / "other", comments=COMMENTS, seed=4)
    first, again, other = (
        contents(folder),
        contents(tmp_path / "again"),
        contents(tmp_path / "other"),
    )
    assert first == again
    assert first.keys() == other.keys()
    assert not [name for name in first if first[name] == other[name]]


def test_layout(folder):
    assert sorted(contents(folder)) == [
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


def test_number_of_comments(folder):
    january, february = comments_of(folder, JANUARY), comments_of(folder, FEBRUARY)
    assert not january.keys() & february.keys()
    assert len(january) + len(february) == COMMENTS
    assert 0.9 < len(january) / len(february) < 1.1


@pytest.mark.parametrize("comments", [1, 37])
def test_tiny_worlds_are_whole_too(tmp_path, comments):
    sample.write_sample(tmp_path, comments=comments, seed=0)
    assert len(comments_of(tmp_path, JANUARY)) + len(comments_of(tmp_path, FEBRUARY)) == comments


@pytest.mark.parametrize("comments", [0, -1])
def test_no_comments_is_an_error(tmp_path, comments):
    with pytest.raises(InputError, match=f"--comments: {comments} is not 1 or more"):
        sample.write_sample(tmp_path, comments=comments)


@pytest.mark.parametrize("mark", [None, "some samples of ours"])
def test_real_data_is_not_overwritten(tmp_path, mark):
    (tmp_path / "stsb").mkdir()
    if mark is not None:
        (tmp_path / "SAMPLE.txt").write_text(mark)
    (tmp_path / "stsb" / "sts-test.csv").write_text("the official file")
    with pytest.raises(InputError, match="stsb' already exists and is not a sample world"):
        sample.write_sample(tmp_path, comments=10)
    assert (tmp_path / "stsb" / "sts-test.csv").read_text() == "the official file"
    assert not (tmp_path / "reddit").exists()


def test_a_sample_world_may_be_made_again_and_says_so(tmp_path, caplog, capsys):
    with caplog.at_level("INFO"):
        main(["sample", "--output", f"{tmp_path}/", "--comments", "10"])
        assert "replacing" not in caplog.text
        main(["sample", "--output", f"{tmp_path}/", "--comments", "20"])
    assert f"replacing an earlier sample world in {tmp_path}" in caplog.text
    written = f"written to {tmp_path}; {tmp_path}/SAMPLE.txt describes it\n"
    assert capsys.readouterr().out == 2 * written
    assert "20 comments" in (tmp_path / "SAMPLE.txt").read_text()


def test_failure_leaves_no_dump(world, tmp_path, monkeypatch):
    monkeypatch.setattr(dump, "malformed", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        dump.write(world, tmp_path, comments=COMMENTS, seed=3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rule", noise.RATES)
def test_every_rule_has_something_to_drop(folder, rule):
    months = (comments_of(folder, month).values() for month in (JANUARY, FEBRUARY))
    dropped = Counter(map(RULES.that_drops, itertools.chain(*months)))
    assert 0.5 < dropped[RULES.names.index(rule)] / (COMMENTS * noise.RATES[rule]) < 2


def test_malformed_and_duplicate_lines(folder):
    lines = [line for month in (JANUARY, FEBRUARY) for line in raw_lines(folder, month)]
    reasons = []
    for line in lines:
        try:
            parse_comment(line)
        except MalformedLineError as error:
            reasons.append(str(error))
    assert any("not JSON" in reason for reason in reasons)
    assert any("'body'" in reason for reason in reasons)
    assert len(reasons) == COMMENTS // noise.MALFORMED_EVERY
    assert len(lines) - len(reasons) - COMMENTS > 5  # duplicates


def test_threads_cross_months_and_keep_their_link(folder):
    january, february = comments_of(folder, JANUARY), comments_of(folder, FEBRUARY)
    every = january | february
    late = [c for c in february.values() if c.parent_comment in january]
    replies = [c for c in every.values() if c.parent_comment in every]
    assert len(late) > 5
    assert all(c.thread == every[c.parent_comment].thread for c in replies)
    assert any(every[c.parent_comment].parent_comment in every for c in replies)  # chains
    assert any(c.parent_comment is None for c in every.values())  # under posts
    assert any(c.parent_comment and c.parent_comment not in every for c in every.values())


def test_bodies_hold_html_entities(folder):
    text = b"\n".join(raw_lines(folder, JANUARY) + raw_lines(folder, FEBRUARY))
    for entity in (b"&amp;", b"&gt;", b"&lt;"):
        assert entity in text
    assert not re.search(rb"&(?!amp;|lt;|gt;)", text)


def test_most_kept_comments_are_answered_and_replies_rarely_repeat(world):
    comments = unspoiled(world, 5_000)
    ids = {comment.id for comment in comments}
    replies = [c.body for c in comments if c.parent_id[3:] in ids]
    assert 0.5 < len(replies) / len(comments) < 0.8
    assert len(set(replies)) / len(replies) > 0.99


def test_ordinary_comments_pass_the_rules(folder, world):
    template = next(iter(comments_of(folder, JANUARY).values()))
    bodies = [comment.body for comment in unspoiled(world, 20_000)]
    for body in bodies:
        assert RULES.that_drops(template._replace(text=body, author="x")) is None, body
    assert not any(html.unescape(body) != body for body in bodies)


def test_no_author_but_bots_is_called_bot(world):
    authors = {comment.author for comment in unspoiled(world, 5_000)}
    assert len(authors) > 4_000
    assert not any("bot" in author.lower() for author in authors)


def test_stream_is_lazy_and_does_not_grow(world):
    stream = dump.lines(world, comments=10**9, seed=0)
    tracemalloc.start()
    list(itertools.islice(stream, 10))
    before, _ = tracemalloc.get_traced_memory()
    for _ in itertools.islice(stream, 5_000):
        pass
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 50_000  # 5,000 lines are 2.5 MB


def test_names_of_a_thing_share_no_words(world):
    for domain in world.domains.values():
        for thing, names in domain.names.items():
            content = [w for name in names for w in set(words(name)) if len(w) > 3 and w != "with"]
            assert len(content) == len(set(content)), thing


def test_held_out_sentences_are_not_in_the_dump(folder, world):
    held_out = joined(world, *LABELLED_PARTS)
    assert not [core for core in joined(world, DUMP) if cores_in(core, held_out)]
    for month in (JANUARY, FEBRUARY):
        for comment in comments_of(folder, month).values():
            assert len(comment.text) >= 350 or not cores_in(comment.text, held_out)


def test_labelled_parts_share_no_sentences(world):
    train, dev, test = (joined(world, part) for part in LABELLED_PARTS)
    assert not train & dev
    assert not train & test
    assert not dev & test


def test_every_name_and_way_is_in_the_dump(world):
    for domain in world.domains.values():
        for meaning in domain.meanings.values():
            every = [core for cores in meaning.cores.values() for core in cores]
            assert {c.way for c in meaning.cores[DUMP]} == {c.way for c in every}
            assert {c.name for c in meaning.cores[DUMP]} == {c.name for c in every}


def test_no_comment_replies_to_a_question_with_a_question(world):
    """So paraphrases are never paired: only the replies that they share can tell."""
    said = joined(world, DUMP)
    comments = unspoiled(world, 2_000)
    asks = {comment.id for comment in comments if cores_in(comment.body, said)}
    assert len(asks) > 500
    assert not [c for c in comments if c.id in asks and c.parent_id[3:] in asks]


@pytest.mark.parametrize("part", LABELLED_PARTS)
def test_sts_columns(folder, part):
    rows = sts_rows(folder, part)
    assert {len(row) for row in rows} == {7, 9}
    assert {row[0] for row in rows} == {"main-captions", "main-forums", "main-news"}
    gold = [float(row[4]) for row in rows]
    assert 0 <= min(gold) < 0.3
    assert 4.7 < max(gold) <= 5
    assert any(row[5].count('"') + row[6].count('"') for row in rows)


@pytest.mark.parametrize("part", LABELLED_PARTS)
def test_sts_sentences_are_held_out(folder, world, part):
    held_out = joined(world, part)
    for row in sts_rows(folder, part):
        assert cores_in(row[5], held_out)
        assert cores_in(row[6], held_out)


@pytest.mark.parametrize("genre", ["main-captions", "main-forums", "main-news", "main-"])
@pytest.mark.parametrize("part", ["dev", "test"])
def test_word_overlap_does_not_solve_sts(folder, genre, part):
    rows = [row for row in sts_rows(folder, part) if row[0].startswith(genre)]
    pairs = [(set(words(row[5])), set(words(row[6]))) for row in rows]
    overlap = [len(one & two) / len(one | two) for one, two in pairs]
    assert abs(np.corrcoef(overlap, [float(row[4]) for row in rows])[0, 1]) <= 0.3


@pytest.mark.parametrize("part", LABELLED_PARTS)
def test_nli_rows(folder, part):
    lines = (folder / f"nli/snli_1.0_{part}.jsonl").read_bytes().splitlines()
    rows = [orjson.loads(line) for line in lines]
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
def test_cqa_groups_of_ten(folder, part):
    root = ElementTree.parse(folder / f"semeval_cqa/SemEval2016-Task3-CQA-QL-{part}.xml").getroot()
    groups: dict[str, list] = {}
    for question in root.iter("OrgQuestion"):
        groups.setdefault(question.get("ORGQ_ID"), []).append(question)
    assert len(groups) >= 40
    for group in groups.values():
        found = [question.find("Thread/RelQuestion") for question in group]
        assert [int(q.get("RELQ_RANKING_ORDER")) for q in found] == list(range(1, 11))
        labels = {q.get("RELQ_RELEVANCE2ORGQ") for q in found}
        assert (
            {"PerfectMatch", "Irrelevant"} <= labels <= {"PerfectMatch", "Relevant", "Irrelevant"}
        )
        assert len({question.findtext("OrgQSubject") for question in group}) == 1
        own = group[0].findtext("OrgQSubject")
        assert own not in [q.findtext("RelQSubject") for q in found]
    assert any(not q.findtext("RelQBody") for q in root.iter("RelQuestion"))
    assert any(True for _ in root.iter("RelComment"))


def test_search_engine_order_is_mediocre(folder):
    root = ElementTree.parse(folder / "semeval_cqa/SemEval2016-Task3-CQA-QL-test.xml").getroot()
    good = [q.get("RELQ_RELEVANCE2ORGQ") != "Irrelevant" for q in root.iter("RelQuestion")]
    precisions = []
    for start in range(0, len(good), 10):
        group = np.array(good[start : start + 10])
        precisions.append((np.cumsum(group) / np.arange(1, 11))[group].mean())
    assert 0.25 < np.mean(precisions) < 0.65


def test_an_object_store_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="--output: 's3://bucket/world': accepted: a local folder"):
        sample.write_sample("s3://bucket/world", comments=1)
    assert list(tmp_path.iterdir()) == []
