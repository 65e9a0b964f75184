"""Retrieval data: queries and documents by id, and which documents are relevant to a query.

    queries, documents   NAME.tsv: id and text, tab-separated, without a header;
                         NAME.jsonl: objects with "id" (or "_id"), "text" and, optionally, "title"
    relevant             TREC's qrels: query, an unused column, document, grade;
                         or BEIR's: query, document, grade, and its header

plain or .gz. A grade above 0 is relevant. As in trec_eval, judgements of unknown queries do not
count, and a relevant document that is not among the documents is one that nobody finds.
"""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from common.errors import InputError
from common.tables import parse_rows
from common.text_files import Source, is_visible, number, parse_lines, unpacked_name

_BEIR_HEADER = ["query-id", "corpus-id", "score"]
_HEADERS = {"id", "_id", "qid", "docid", "doc_id", "query_id"}, {"text", "query", "document"}
"""What tables with a header may call ids and texts."""
MOST = 1000  # of a grade, and of a negative one: the library takes others for other numbers
UNKNOWN_QUERY, UNKNOWN_DOCUMENT = "judgements_of_unknown_queries", "unknown_relevant_documents"
REPEATED = "repeated_judgements"
Relevant = dict[str, dict[str, int]]  # grades by query, then by document


class RetrievalFiles(NamedTuple):
    """The three files of a data set."""

    queries: Path
    documents: Path
    relevant: Path


@dataclass(frozen=True)
class RetrievalData:
    """The queries that have a relevant document, and all documents with text, by id."""

    name: str
    queries: dict[str, str]
    documents: dict[str, str]
    relevant: Relevant
    counts: Mapping[str, int] = field(default_factory=dict)
    """Queries without a relevant document, which are left out; documents without text, which are
    never found; and judgements of unknown ids."""


def find(files: RetrievalFiles) -> Source:
    """Return the files as one source, named after that of relevant documents."""
    return Source(f"retrieval-{unpacked_name(files.relevant).rsplit('.', 1)[0]}", tuple(files))


def read(source: Source) -> RetrievalData:
    """Read the files of a source."""
    files = RetrievalFiles(*source.files)
    queries, documents = _texts(files.queries), _texts(files.documents)
    if blank := next((key for key, text in queries.items() if not is_visible(text)), None):
        raise InputError(f"{files.queries}: the query {blank!r} has no text")
    relevant, counts = _relevant(files.relevant, queries, documents)
    relevant = {key: grades for key, grades in relevant.items() if max(grades.values()) > 0}
    known = (grades[key] for grades in relevant.values() for key in grades.keys() & documents)
    if max(known, default=0) <= 0:
        raise InputError(
            f"{files.relevant}: no query has a relevant document (a grade above 0) that is there; "
            + ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items())
        )
    with_text = {key: text for key, text in documents.items() if is_visible(text)}
    if not with_text:
        raise InputError(f"{files.documents}: no document has text")
    return RetrievalData(
        source.name,
        queries={key: queries[key] for key in relevant},
        documents=with_text,
        relevant=relevant,
        counts={
            "queries_left_out": len(queries) - len(relevant),
            "documents_without_text": len(documents) - len(with_text),
            **{name: counts[name] for name in (UNKNOWN_QUERY, UNKNOWN_DOCUMENT, REPEATED)},
        },
    )


def _texts(path: Path) -> dict[str, str]:
    match Path(unpacked_name(path)).suffix:
        case ".tsv":
            rows = parse_lines(path, _of_tsv)
        case ".jsonl":
            rows = parse_rows(path, _of_json, columns={"id": ["id", "_id"], "text": ["text"]})
        case _:
            raise InputError(f"{path}: accepted: .tsv and .jsonl, plain or .gz")
    found: dict[str, str] = {}
    for key, text in rows:
        if key in found:
            raise InputError(f"{path}: the id {key!r} occurs twice")
        found[key] = text.strip()
    return found


def _of_tsv(line: str) -> tuple[str, str]:
    key, *texts = line.split("\t")
    if len(texts) != 1:
        raise ValueError(f"{len(texts) + 1} columns; accepted: id and text, with a tab between")
    if key.strip().lower() in _HEADERS[0] and texts[0].strip().lower() in _HEADERS[1]:
        raise ValueError(f"{line!r} is a header; accepted: id and text, without a header")
    return key.strip(), texts[0]


def _of_json(row: dict[str, Any]) -> tuple[str, str]:
    if row["id"] == "":
        raise ValueError("no id")
    return str(row["id"]).strip(), f"{row.get('title') or ''} {row['text']}"


def _relevant(
    path: Path, queries: dict[str, str], documents: dict[str, str]
) -> tuple[Relevant, Counter]:
    found: Relevant = {}
    counts: Counter[str] = Counter()

    def judge(line: str) -> None:
        fields = line.split("\t") if "\t" in line else line.split()
        if [name.strip().lower() for name in fields] == _BEIR_HEADER:
            return
        if len(fields) not in (3, 4):
            raise ValueError(f"{len(fields)} columns; accepted: 3 or 4")
        query, document, text = fields[0].strip(), fields[-2].strip(), fields[-1]
        if not ((grade := number(text)).is_integer() and abs(grade) <= MOST):
            accepted = f"a whole number from -{MOST} to {MOST}"
            raise ValueError(f"the grade is {text!r}; accepted: {accepted}")
        if query not in queries:
            counts[UNKNOWN_QUERY] += 1
            return
        if document not in found.setdefault(query, {}):
            found[query][document] = int(grade)
            counts[UNKNOWN_DOCUMENT] += document not in documents and grade > 0
        elif found[query][document] == grade:
            counts[REPEATED] += 1
        else:
            both = f"{found[query][document]} and {grade:g}"
            raise ValueError(f"the document {document!r} has the grades {both} for {query!r}")

    deque(parse_lines(path, judge), maxlen=0)
    return found, counts
