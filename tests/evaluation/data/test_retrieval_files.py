import re

import pytest

from evaluation.data import retrieval_files
from evaluation.data.retrieval_files import RetrievalFiles
from evaluation.errors import InputError

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
    data = read(relevant=relevant)
    assert data.name == "retrieval-test"
    assert data.queries == {"q1": "where is it", "q2": "how much"}
    assert data.documents == {"d1": "here", "2": "Price ten"}
    assert data.relevant == {"q1": {"d1": 1, "2": 0}, "q2": {"2": 3}}
    assert (data.queries_left_out, data.documents_without_text) == (1, 0)
    assert ["where is it"] in [list(texts) for texts in data.texts()]


def test_empty_documents_are_left_out_and_counted(read):
    data = read(documents=DOCUMENTS + '{"id": "d3", "text": " "}\n')
    assert (set(data.documents), data.documents_without_text) == ({"d1", "2"}, 1)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"queries": "q1 where\n"}, "queries.tsv:1: 1 columns; 2 tab-separated (id, text) are"),
        ({"queries": "id\ttext\n" + QUERIES}, "queries.tsv:1: 'id\\ttext' is a header; a text"),
        ({"queries": QUERIES + "q1\tx\n"}, "queries.tsv:4: the id 'q1' occurs twice"),
        ({"queries": "\n"}, "queries.tsv: no lines; a text with its id is accepted in each"),
        ({"documents": ""}, "documents.jsonl.gz: no lines; a text with its id is accepted"),
        ({"queries": QUERIES + "q9\t\n"}, "queries.tsv: the query 'q9' has no text"),
        ({"name": "queries.csv"}, "queries.csv: the format is unknown; .tsv and .jsonl, plain or"),
        ({"documents": "x\n"}, "documents.jsonl.gz:1: not JSON (Expecting value"),
        ({"documents": "[1]\n"}, "documents.jsonl.gz:1: '[1]'; an object with id and text is"),
        ({"documents": '{"text": "a"}\n'}, 'documents.jsonl.gz:1: "id" is None; a text or a'),
        (
            {"documents": '{"id": "d1", "text": "a\\ud800"}\n'},
            """gz:1: "text" has '\\ud800', half""",
        ),
        ({"documents": '{"id": "\\udfff", "text": "a"}\n'}, """gz:1: "id" has '\\udfff', half"""),
        ({"documents": '{"id": "a"}\n'}, 'documents.jsonl.gz:1: "text" is None; a text is'),
        ({"documents": '{"id": "d1", "text": ""}\n{"id": 2, "text": ""}\n'}, "no document with"),
        ({"relevant": "q1 d1 1 0 x\n"}, "test.qrels:1: 5 columns; 4 (query, 0, document, grade)"),
        ({"relevant": "q1 d1 1\nq2 2 3\n"}, "test.qrels:1: 'q1 d1 1' has a grade; 3 columns are"),
        ({"relevant": "q1 d1 1.0\nq2 2 3\n"}, "test.qrels:1: 'q1 d1 1.0' has a grade; 3 columns"),
        ({"relevant": "q1 0 d1 1_0\n"}, "test.qrels:1: grade is '1_0'; a whole number is accep"),
        ({"relevant": "q1 0 d1 1\nq1 d1 1\n"}, "test.qrels:2: 3 columns; 4 (query, 0, document,"),
        ({"relevant": "q9 0 d1 1\n"}, "test.qrels:1: the query 'q9' is not among the queries"),
        ({"relevant": "q1 0 d9 1\n"}, "test.qrels:1: the document 'd9' is not among the docu"),
        ({"relevant": "q1 0 d1 yes\n"}, "test.qrels:1: grade is 'yes'; a whole number is accepted"),
        ({"relevant": "q1 0 d1 1\nq1 0 d1 1\n"}, "qrels:2: the document 'd1' occurs twice for 'q1"),
        ({"relevant": "q1 0 d1 0\n"}, "test.qrels: no query has a relevant document (a grade"),
        ({"relevant": ""}, "test.qrels: no query has a relevant document (a grade above 0)"),
    ],
)
def test_what_cannot_be_read_is_named(read, changed, says):
    with pytest.raises(InputError, match=re.escape(says)) as raised:
        read(**changed)
    assert "\n" not in str(raised.value)
