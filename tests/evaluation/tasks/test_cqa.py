import numpy as np
import pytest

from common.errors import InputError
from evaluation.data import cqa_files
from evaluation.metrics import ranking
from evaluation.tasks import cqa, evaluate

ROWS = [
    ("Q1", "good bank", "which one?", "Q1_R2", 2, "Irrelevant", "best car"),
    ("Q1", "good bank", "which one?", "Q1_R5", 5, "PerfectMatch", "the best bank"),
    ("Q1", "good bank", "which one?", "Q1_R7", 7, "Relevant", "open an account"),
    ("Q2", "swimming", "", "Q2_R1", 1, "Irrelevant", "cooking &amp; eating"),
]


def read(path):
    (source,) = cqa_files.find(path)
    return cqa_files.read(source)


def test_xml_groups_repeated_questions(xml_file):
    data = read(xml_file("CQA-QL-dev.xml", ROWS))
    assert (data.name, bool(data.pairs[0].query)) == ("cqa-CQA-QL-dev", True)
    # Subject and body; no comments.
    found = [(each.query, each.id, each.relevant) for each in data.pairs]
    labels = {"Q1_R2": False, "Q1_R5": True, "Q1_R7": True}
    assert found[:3] == [("good bank which one?", *label) for label in labels.items()]
    assert found[3] == ("swimming", "Q2_R1", False)
    assert data.pairs[3].text == "cooking & eating"
    path = xml_file("dev.xml", [*ROWS, ("Q2", "running", "", "Q2_R9", 9, "Relevant", "walking")])
    with pytest.raises(InputError, match=r"dev\.xml: .*Q2.*swimming.*running"):
        read(path)


def test_ranks_by_cosine(xml_file, fake_encoder):
    encoder = fake_encoder(
        {
            "good bank which one?": [1.0, 0.0],
            "swimming": [1.0, 1.0],
            "best car": [9.0, 8.0],  # the largest dot product, but not the largest cosine
            "the best bank": [1.0, 0.1],
            "open an account": [0.0, 1.0],
            "cooking & eating": [1.0, 0.0],
        }
    )
    result = cqa.evaluate(encoder, read(xml_file("dev.xml", ROWS)))
    # Q1 in the order R5 (relevant), R2, R7 (relevant): (1 + 2/3) / 2. Q2 has nothing: 0.
    assert result.metrics["map"] == pytest.approx(5 / 6 / 2)
    assert result.metrics["mrr"] == pytest.approx(1 / 2)
    # The engine's order R2, R5 (relevant), R7 (relevant): (1/2 + 2/3) / 2.
    assert result.baselines["search_engine"]["map"] == pytest.approx(7 / 12 / 2)
    assert result.baselines["search_engine"]["mrr"] == pytest.approx(1 / 4)
    # Hits at 1 to 10 of 2 in all, pooled: 1 of 1, 1 of 2, then 2 of 2.
    assert result.metrics["avg_rec"] == pytest.approx((1 + 1 / 2 + 8) / 10)
    # Words: "bank" of the 6 in Q1 and R5, else none; ties keep the file's order: R5, R2, R7.
    assert result.baselines["word_overlap"]["map"] == pytest.approx(5 / 6 / 2)
    assert [item["baselines"]["word_overlap"] for item in result.items] == [0, 1 / 6, 0, 0]
    assert (result.system, result.n) == ("module", 2)
    assert result.counts == {"candidates": 4, "queries_with_a_relevant_candidate": 1}
    item = result.items[1]
    assert (item["query_id"], item["candidate_id"], item["relevant"]) == ("Q1", "Q1_R5", True)
    assert item["score"] == pytest.approx(1 / 1.01**0.5)


def test_relevancy_file_scores_the_search_engine(write_text):
    text = "Q1\tR1\t1\t0.25\tfalse\nQ1\tR2\t2\t0.5\ttrue\nQ2\tR3\t1\t1\tfalse\n"
    data = read(write_text("2017-test.xml.subtaskB.relevancy", text))
    result = cqa.evaluate(None, data)
    assert (result.name, result.system) == ("cqa-2017-test", "search_engine")
    assert result.metrics["map"] == pytest.approx(1 / 2)
    assert set(result.baselines) == {"ceiling"}


SUBTASK_A = '<xml><Thread><RelQuestion RELQ_ID="Q9" RELQ_RELEVANCE2ORGQ="N/A"/></Thread></xml>'


def test_folders_as_they_are_distributed(xml_file, write_text, tmp_path):
    for name in (
        *("train/part1-with-multiline.xml", "train/part1.xml", "train/part2-with-multiline.xml"),
        *("scorer/dev.xml", "dev/dev.xml", "dev/dev-subtaskA.xml"),
        "train-more-for-subtaskA-from-2015/2015-dev-reformatted.xml",
    ):
        xml_file(f"v3.2/{name}", ROWS)
    write_text("v3.2/2015.xml", SUBTASK_A)
    gold = "Q\tR\t1\t1\ttrue\n"
    # Of questions that have text, of another subtask, of no questions, and nothing of all this.
    for name in ("dev.xml.subtaskB", "dev.xml.subtaskA", "2017/test.xml.subtaskB"):
        write_text(f"{name}.relevancy", gold)
    for name in ("dev.xml.subtaskB.pred", "docs/readme.txt"):
        write_text(name, gold)
    names = {source.name: source.files[0].name for source in cqa_files.find(tmp_path)}
    assert names == {
        "cqa-dev": "dev.xml",
        "cqa-part1": "part1.xml",
        "cqa-part2": "part2-with-multiline.xml",
        "cqa-test": "test.xml.subtaskB.relevancy",
    }
    with pytest.raises(InputError, match=r"2015\.xml"):
        cqa_files.find(tmp_path / "v3.2/2015.xml")
    xml_file("copy/dev.xml.gz", ROWS[:2])
    with pytest.raises(InputError, match=r"dev\.xml"):
        cqa_files.find(tmp_path)


def test_labels_of_test_questions_come_from_their_gold_file(xml_file, write_text, tmp_path):
    unlabelled = [(*row[:5], "?", row[6]) for row in ROWS]
    path = xml_file("English-test-input.xml", unlabelled)
    with pytest.raises(InputError, match=r"English-test-input\.xml"):
        cqa_files.find(tmp_path)
    rows = [f"{row[0]}\t{row[3]}\t{row[4]}\t1\t{row[5] != 'Irrelevant'}\n".lower() for row in ROWS]
    gold = "".join(rows).replace("q", "Q").replace("_r", "_R")
    write_text("CQA-QL-test.xml.subtaskB.relevancy", gold)
    assert [source.name for source in cqa_files.find(tmp_path)] == ["cqa-English-test"]
    data = [read(path), read(tmp_path)]
    labelled = read(xml_file("labelled/test.xml", ROWS))
    assert data[0].pairs == data[1].pairs == labelled.pairs
    write_text("CQA-QL-test.xml.subtaskB.relevancy", rows[0].replace("q", "Q").replace("_r", "_R"))
    with pytest.raises(InputError, match="Q1_R5"):
        read(path)


BROKEN = [
    ('"Irrelevant"', '"Maybe"', "Maybe"),
    ('RELQ_RANKING_ORDER="2"', 'RELQ_RANKING_ORDER="0"', "'0'"),
    ('RELQ_ID="Q1_R2"', "", "RELQ_ID"),
    ('RELQ_ID="Q1_R5"', 'RELQ_ID="Q1_R2"', "Q1"),
    ("</Thread>", "", "line 9"),
    ("PerfectMatch", "Irrelevant", "relevant"),
]


@pytest.mark.parametrize(("old", "new", "named"), BROKEN)
def test_question_files_that_cannot_be_read_are_named(xml_file, old, new, named):
    path = xml_file("dev.xml", ROWS[:2])
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=rf"dev\.xml: .*{named}"):
        read(path)


@pytest.mark.parametrize("rest", ["1", "x\ttrue", "nan\ttrue", "1\tTrue", "1\ttrue"])
def test_gold_files_that_cannot_be_read_are_named(write_text, tmp_path, rest):
    path = write_text("a.relevancy", f"Q\tR\t1\t1\ttrue\nQ\tR\t1\t{rest}\n")
    with pytest.raises(InputError, match=r"a\.relevancy"):
        read(path)
    with pytest.raises(InputError, match=r"\*\.xml"):
        read(tmp_path / "nothing")


def test_official_search_engine_scores(real_data, word_encoder):
    folder = real_data / "semeval_cqa"
    found = {data.name: data for data in map(cqa_files.read, cqa_files.find(folder))}
    year_2016 = cqa.evaluate(word_encoder, found["cqa-SemEval2016-Task3-CQA-QL-dev"])
    engine = year_2016.baselines["search_engine"]
    assert year_2016.counts["candidates"] == 500
    # What the organisers print for their search engine, to the last digit.
    assert f"{engine['map']:.4f} {engine['avg_rec']:.4f} {100 * engine['mrr']:.2f}" == (
        "0.7135 0.8611 76.67"
    )
    year_2017 = cqa.evaluate(None, found["cqa-SemEval2017-Task3-CQA-QL-test"])
    assert f"{year_2017.metrics['map']:.4f}" == "0.4185"
    assert year_2017.counts["queries_with_a_relevant_candidate"] == 59
    assert year_2017.n == 88


LABELS = ["Irrelevant", "Relevant", "Irrelevant", "PerfectMatch"]


def rows(prefix, texts):
    return [
        (f"{prefix}1", "red house", "", f"{prefix}1_R{i}", i, label, text)
        for i, (label, text) in enumerate(zip(LABELS, texts, strict=True), start=1)
    ]


@pytest.fixture
def encoder(fake_encoder):
    """Cosines with "red house" that the texts name in hundredths."""
    vectors = {str(c): [c / 100, np.sqrt(1 - (c / 100) ** 2)] for c in range(0, 101, 10)}
    return fake_encoder(vectors | {"red house": [1.0, 0.0]})


def test_labels_are_at_a_threshold_of_other_data(xml_file, encoder):
    # By score: 90 yes, 70 no, 60 yes, 20 no. From 60 on: P 2/3, R 1, F1 0.8, the highest.
    dev = cqa.evaluate(encoder, read(xml_file("dev.xml", rows("Q", ["70", "60", "20", "90"]))))
    chosen = cqa.thresholds(dev)
    assert chosen["module"] == pytest.approx(0.4, abs=1e-6)  # between 0.2 and 0.6
    assert chosen["ceiling"] == 0.5
    # The search engine's order no, yes, no, yes, with scores 1, 1/2, 1/3, 1/4: all are a yes.
    assert chosen["search_engine"] == 1 / 4
    test = cqa.evaluate(encoder, read(xml_file("test.xml", rows("T", ["50", "30", "10", "80"]))))
    found = cqa.classified(test, chosen, dev=dev.name)
    # Yes to 50 (wrong) and 80 (right), no to 30 (wrong) and 10 (right).
    expected = {"precision": 0.5, "recall": 0.5, "f1": 0.5, "accuracy": 0.5}
    assert {name: found.metrics[name] for name in expected} == expected
    assert found.metrics["map"] == test.metrics["map"]
    assert found.baselines["ceiling"]["f1"] == 1.0
    assert found.baselines["search_engine"]["recall"] == 1.0  # from the threshold on
    assert found.settings["threshold"] == chosen["module"]
    assert any("chosen by F1 on cqa-dev" in note for note in found.notes)
    (note,) = cqa.classified(dev, chosen, dev=dev.name).notes
    assert "optimistic" in note


def test_the_scorers_labels_to_the_last_printed_digit(real_data):
    folder = real_data / "semeval_cqa"
    name = "SemEval2016-Task3-CQA-QL-dev.xml.subtaskB"
    predicted, relevant = (
        np.array([line.endswith("\ttrue") for line in path.read_text().splitlines()])
        for path in (folder / "2016_dev" / f"{name}.{end}" for end in ("pred", "relevancy"))
    )
    found = ranking.from_counts(ranking.label_counts(predicted, relevant))
    printed = (folder / "docs" / "random_baselines_MAP.txt").read_text()
    section = printed[printed.index("dev.xml.subtaskB.pred") :]
    for label, figure in (("Acc", "accuracy"), ("P  ", "precision"), ("R  ", "recall")):
        assert f"{label} = {found[figure]:.4f}" in section
    assert f"F1  = {found['f1']:.4f}" in section


def test_a_dev_file_given_later_is_not_ignored(xml_file, encoder, tmp_path):
    path = xml_file("cqa/qs.xml", rows("Q", ["70", "60", "20", "90"]))
    encoder.provenance = lambda: {"path": "m", "fingerprint": "1"}
    output = tmp_path / "out"
    assert "f1" not in evaluate(encoder, "cqa", path.parent, output=output)[0].metrics
    xml_file("cqa/dev.xml", rows("Q", ["70", "60", "20", "90"]))
    with pytest.raises(InputError, match=r"cqa-qs\.json"):
        evaluate(encoder, "cqa", path.parent, output=output)
    found = evaluate(encoder, "cqa", str(path.parent), output=output, again=True)
    assert all("f1" in one.metrics for one in found)
