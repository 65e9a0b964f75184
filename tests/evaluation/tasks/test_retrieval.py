"""Retrieval: its files, its metrics by hand, and what stands beside them."""

import dataclasses
import math

import numpy as np
import pytest

from common.errors import InputError
from evaluation.analysis import paired_test
from evaluation.data import retrieval_files
from evaluation.data.retrieval_files import RetrievalData, RetrievalFiles
from evaluation.results import measure
from evaluation.tasks import retrieval

# By cosine with q1: d2, d1 (grade 2), d3 (grade 1), d4; with q2: d4 (grade 1), d3, d1, d2.
VECTORS = {
    "red": [1, 0],
    "blue": [0, 1],
    "a red house": [3, 1],
    "the red red red": [9, 0],
    "a house": [1, 1],
    "blue blue": [-1, 5],
}
DATA = RetrievalData(
    "retrieval-test",
    queries={"q1": "red", "q2": "blue"},
    documents={"d1": "a red house", "d2": "the red red red", "d3": "a house", "d4": "blue blue"},
    relevant={"q1": {"d1": 2, "d3": 1, "d2": 0}, "q2": {"d4": 1}},
)


@pytest.fixture
def result(fake_encoder):
    return retrieval.evaluate(fake_encoder(VECTORS), DATA)


def test_metrics_and_those_of_bm25_by_hand(result):
    ndcg = (2 / math.log2(3) + 1 / math.log2(4)) / (2 + 1 / math.log2(3))
    assert result.items[0]["documents"] == ["d2", "d1", "d3", "d4"]
    assert result.items[0]["metrics"] == pytest.approx(
        {"ndcg_at_10": ndcg, "mrr_at_10": 0.5, "recall_at_10": 1.0, "recall_at_100": 1.0}
    )
    assert result.metrics == pytest.approx(
        {"ndcg_at_10": (ndcg + 1) / 2, "mrr_at_10": 0.75, "recall_at_10": 1, "recall_at_100": 1}
    )
    assert (result.n, result.counts["documents"]) == (2, 4)
    # In half of the documents, "red" weighs nothing by Robertson's idf, so it finds none of them.
    beside = [item["baselines"]["bm25"] for item in result.items]
    assert [found["mrr_at_10"] for found in beside] == [0.0, 1.0]
    assert result.baselines["bm25"]["ndcg_at_10"] == pytest.approx(1 / 2)


def test_blocks_of_queries_change_nothing(fake_encoder, result, monkeypatch):
    monkeypatch.setattr(retrieval, "CELLS", 1)
    assert retrieval.evaluate(fake_encoder(VECTORS), DATA) == result


def test_documents_of_equal_scores_are_in_an_order_that_no_file_sets(monkeypatch):
    monkeypatch.setattr(retrieval, "DEEPEST", 4)
    queries = {f"q{number}": "" for number in range(40)}
    scores = dict(zip("abcdefgh", [2.0, 1, 1 + 1e-9, 1, 1, 0.5, 0, 3], strict=True))

    def ranked(order):
        data = RetrievalData("", queries, dict.fromkeys(order, ""), {})
        documents = np.array([[scores[document]] for document in order])
        return retrieval.best(np.ones((len(queries), 1)), documents, data, above=0.0)

    found = ranked("abcdefgh")
    assert ranked("hgfedcba") == ranked("cgahfbed") == found
    assert {tuple(line[:2]) for line in found.values()} == {("h", "a")}
    # Each of the four that are equal is third for some query, and left out for some.
    assert {line[2] for line in found.values()} == set("bcde")
    monkeypatch.setattr(retrieval, "DEEPEST", 8)
    assert {len(line) for line in ranked("abcdefgh").values()} == {7}


def test_relevant_documents_that_are_not_there_count_as_not_found(fake_encoder):
    data = dataclasses.replace(
        DATA,
        queries={"q2": "blue"},
        relevant={"q2": {"d4": 1, "d9": 1}},
        counts={"unknown_relevant_documents": 1},
    )
    found = retrieval.evaluate(fake_encoder(VECTORS), data)
    assert found.metrics["recall_at_10"] == 0.5
    assert found.metrics["ndcg_at_10"] == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert found.counts["unknown_relevant_documents"] == 1
    assert found.notes


def test_a_query_that_is_a_document_need_not_find_itself(fake_encoder):
    data = RetrievalData(
        "retrieval-test",
        queries={"a": "red", "b": "blue"},
        documents={"a": "red", "b": "blue", "c": "a house"},
        relevant={"a": {"c": 1}, "b": {"c": 1}},
    )
    found = {
        given: retrieval.evaluate(fake_encoder(VECTORS), data, ignore_identical_ids=given)
        for given in (False, True)
    }
    assert found[False].items[0]["documents"] == ["a", "c", "b"]
    assert found[True].items[0]["documents"] == ["c", "b"]
    assert [found[given].metrics["mrr_at_10"] for given in found] == [0.5, 1.0]
    assert (len(found[False].notes), len(found[True].notes)) == (1, 0)


def test_intervals_and_paired_tests_are_over_queries(result):
    found = measure.with_intervals(result, seed=0)
    assert found.intervals["mrr_at_10"] == [0.5, 1.0]
    assert "(2)" in found.notes[0]
    (ndcg, *_) = paired_test.compare(result, result, system_b="bm25")
    assert ndcg.b == pytest.approx(result.baselines["bm25"]["ndcg_at_10"])


QUERIES = "q1\twhere is it\nq2\thow much\nq3\tnever asked\n"
DOCUMENTS = '{"id": "d1", "text": "here"}\n{"_id": 2, "title": "Price", "text": "ten"}\n'
TREC = "q1 0 d1 1\nq1 0 2 0\nq2\t0\t2\t3\n"


@pytest.fixture
def read(write_text):
    def run(queries=QUERIES, documents=DOCUMENTS, relevant=TREC, name="queries.tsv"):
        files = RetrievalFiles(
            write_text(name, queries),
            write_text("documents.jsonl.gz", documents),
            write_text("test.qrels", relevant),
        )
        return retrieval_files.read(retrieval_files.find(files))

    return run


@pytest.mark.parametrize(
    "relevant", [TREC, "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\t2\t0\n\nq2\t2\t3\n"]
)
def test_formats_of_trec_and_of_beir(read, relevant):
    data = read(documents=DOCUMENTS + '{"id": "d3", "text": " \u2060"}\n', relevant=relevant)
    assert data.name == "retrieval-test"
    assert data.queries == {"q1": "where is it", "q2": "how much"}
    assert data.documents == {"d1": "here", "2": "Price ten"}
    assert data.relevant == {"q1": {"d1": 1, "2": 0}, "q2": {"2": 3}}
    assert (data.counts["queries_left_out"], data.counts["documents_without_text"]) == (1, 1)
    # As others write it: NaN and null for what is absent, and ids with outer space.
    documents = '{"id": " d1 ", "text": "a", "x": NaN}\n{"_id": 2, "text": null, "title": "b"}\n'
    assert read(documents=documents).documents == {"d1": "a", "2": "b"}


def test_judgements_of_unknown_ids_and_repeated_ones_are_counted(read):
    relevant = (
        TREC + "q8 0 d1 1\nq9 0 d7 1\nq1 0 d7 2.0\nq1 0 d8 0\nq1 0 d1 1.0\nq2 0 2 3\nq3 0 d1 0\n"
    )
    data = read(relevant=relevant)
    # As in trec_eval, a relevant document that is not there counts as not found.
    assert data.relevant == {"q1": {"d1": 1, "2": 0, "d7": 2, "d8": 0}, "q2": {"2": 3}}
    counted = {"judgements_of_unknown_queries": 2, "unknown_relevant_documents": 1}
    counted |= {"repeated_judgements": 2, "queries_left_out": 1, "documents_without_text": 0}
    assert data.counts == counted


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"queries": "q1 where\n"}, "queries.tsv:1"),
        ({"queries": QUERIES + "q1\tx\n"}, "queries.tsv"),
        ({"queries": "ID\ttext\n" + QUERIES}, "queries.tsv:1: .*ID"),
        ({"queries": QUERIES + "q9\t\u3164\n"}, "q9"),
        ({"name": "queries.csv"}, "queries.csv"),
        ({"documents": '{"text": "a"}\n'}, "documents.jsonl.gz:1"),
        ({"documents": '{"id": "d1", "text": ""}\n{"id": 2, "text": ""}\n'}, "documents.jsonl.gz"),
        ({"relevant": "q1 d1 1 0 x\n"}, "test.qrels:1"),
        ({"relevant": "q9 0 d1 1\n"}, "test.qrels: .*queries 1"),
        ({"relevant": "q1 0 d9 1\n"}, "test.qrels: .*documents 1"),
        ({"relevant": "q1 0 d1 yes\n"}, "test.qrels:1: .*yes"),
        ({"relevant": "q1 0 d1 1\nq1 0 d1 2\n"}, "test.qrels:2: .*d1"),
        ({"relevant": "q1 0 d1 0.5\n"}, r"test.qrels:1: .*0\.5"),
        ({"relevant": "q1 0 d1 4294967297\n"}, "test.qrels:1: .*4294967297"),
        ({"relevant": "q1 0 d1 0\n"}, "test.qrels"),
    ],
)
def test_what_cannot_be_read_is_named(read, changed, place):
    with pytest.raises(InputError, match=place):
        read(**changed)
