import pytest

from common.errors import InputError
from evaluation.data import retrieval_files
from evaluation.data.retrieval_files import RetrievalFiles

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
        (source,) = retrieval_files.find(files)
        return retrieval_files.read(source)

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


def test_json_as_others_write_it(read):
    """NaN and null for what is absent, and ids with outer space, which judgements never have."""
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
        ({"queries": "q1\ta\tb\n"}, "queries.tsv:1: 3 .*accepted"),
        ({"queries": "ID\ttext\n" + QUERIES}, "queries.tsv:1: .*ID.*header"),
        ({"queries": QUERIES + "q9\t\u3164\n"}, "q9"),
        ({"name": "queries.csv"}, "queries.csv"),
        ({"documents": '{"text": "a"}\n'}, "documents.jsonl.gz:1"),
        ({"documents": '{"id": "a"}\n'}, "documents.jsonl.gz:1"),
        ({"documents": '{"id": "d1", "text": ""}\n{"id": 2, "text": ""}\n'}, "documents.jsonl.gz"),
        ({"relevant": "q1 d1 1 0 x\n"}, "test.qrels:1"),
        ({"relevant": "q9 0 d1 1\n"}, "test.qrels: .*queries 1"),
        ({"relevant": "q1 0 d9 1\n"}, "test.qrels: .*documents 1"),
        ({"relevant": "q1 0 d1 yes\n"}, "test.qrels:1: .*yes"),
        ({"relevant": "q1 0 d1 1\nq1 0 d1 2\n"}, "test.qrels:2: .*d1"),
        ({"relevant": "q1 0 d1 0.5\n"}, r"test.qrels:1: .*0\.5"),
        ({"relevant": "q1 0 d1 4294967297\n"}, "test.qrels:1: .*4294967297"),
        ({"relevant": "q1 0 d1 1_0\n"}, "test.qrels:1: .*1_0"),
        ({"relevant": "query doc grade\n"}, "test.qrels:1: .*grade.*accepted"),
        ({"relevant": "q1 0 d1 0\n"}, "test.qrels"),
    ],
)
def test_what_cannot_be_read_is_named(read, changed, place):
    with pytest.raises(InputError, match=place):
        read(**changed)
