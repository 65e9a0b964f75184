"""Retrieval data: queries and documents by id, and which documents are relevant to a query.

    queries, documents   NAME.tsv: id and text, tab-separated, without a header;
                         NAME.jsonl: objects with "id" (or "_id"), "text" and, optionally, "title"
    relevant             TREC's qrels: query, an unused column, document, grade;
                         or BEIR's: query, document, grade, under a header of three names,
                         of which the third is no number

each plain or compressed with gzip. A grade above 0 is relevant.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evaluation.data.files import (
    Source,
    check_text,
    existing,
    named_source,
    placed_lines,
    without_gz,
)
from evaluation.errors import InputError

IDS = ("id", "_id")
FORMATS = ".tsv and .jsonl, plain or .gz, are accepted"
HEADERS = ("id", "_id", "query-id", "query_id", "corpus-id", "doc_id", "docid", "qid")
TREC_COLUMNS, BEIR_COLUMNS = 4, 3

Relevant = dict[str, dict[str, int]]
"""Grades by query, then by document."""


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
    queries_left_out: int = 0
    """Queries without a relevant document: no ranking of theirs is better than another."""
    documents_without_text: int = 0
    """They are never found."""

    def texts(self) -> Iterator[tuple[str]]:
        """Yield each text to encode."""
        return ((text,) for texts in (self.documents, self.queries) for text in texts.values())


def find(files: RetrievalFiles) -> list[Source]:
    """Return the one source, named after the file of relevant documents."""
    for path in files:
        if not existing(path).is_file():
            raise InputError(f"{path}: not a regular file; a file of lines is accepted")
    name = without_gz(files.relevant).rsplit(".", 1)[0]
    return [named_source(f"retrieval-{name}", *files)]


def read(source: Source) -> RetrievalData:
    """Read the files of a source.

    Raises:
      InputError: if a line is malformed, an id occurs twice or is unknown, or no query has a
        relevant document.
    """
    files = RetrievalFiles(*source.files)
    queries = _texts(files.queries)
    documents = _texts(files.documents)
    if blank := next((key for key, text in queries.items() if not text), None):
        raise InputError(f"{files.queries}: the query {blank!r} has no text")
    relevant = _relevant(files.relevant, queries, documents)
    asked = {key: queries[key] for key in relevant if any(g > 0 for g in relevant[key].values())}
    if not asked:
        raise InputError(f"{files.relevant}: no query has a relevant document (a grade above 0)")
    with_text = {key: text for key, text in documents.items() if text}
    if not with_text:
        raise InputError(f"{files.documents}: holds no document with text")
    return RetrievalData(
        source.name,
        queries=asked,
        documents=with_text,
        relevant={key: relevant[key] for key in asked},
        queries_left_out=len(queries) - len(asked),
        documents_without_text=len(documents) - len(with_text),
    )


def _texts(path: Path) -> dict[str, str]:
    """Read the texts of a file by id; an empty text stays empty."""
    name = without_gz(path)
    if name.endswith(".tsv"):
        parse = _of_tsv
    elif name.endswith(".jsonl"):
        parse = _of_json
    else:
        raise InputError(f"{path}: the format is unknown; {FORMATS}")
    found: dict[str, str] = {}
    for place, line in placed_lines(path):
        if line.strip():
            key, text = parse(line, place)
            if key in found:
                raise InputError(f"{place}: the id {key!r} occurs twice")
            found[key] = text.strip()
    if not found:
        raise InputError(f"{path}: no lines; a text with its id is accepted in each")
    return found


def _of_tsv(line: str, place: str) -> tuple[str, str]:
    columns = line.split("\t")
    if len(columns) != 2:
        raise InputError(
            f"{place}: {len(columns)} columns; 2 tab-separated (id, text) are accepted"
        )
    if place.endswith(":1") and columns[0].strip().lower() in HEADERS:
        raise InputError(f"{place}: {line!r} is a header; a text with its id is accepted there")
    return columns[0].strip(), columns[1]


def _of_json(line: str, place: str) -> tuple[str, str]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON ({error})") from error
    if not isinstance(row, dict):
        raise InputError(f"{place}: {line[:40]!r}; an object with id and text is accepted")
    key = next((row[name] for name in IDS if name in row), None)
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise InputError(f'{place}: "id" is {key!r}; a text or a whole number is accepted')
    check_text(str(key), "id", place)
    texts = {"title": row.get("title") or "", "text": row.get("text")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f'{place}: "{name}" is {text!r}; a text is accepted')
        check_text(text, name, place)
    return str(key), f"{texts['title']} {texts['text']}"


def _relevant(path: Path, queries: dict[str, str], documents: dict[str, str]) -> Relevant:
    """Read grades, all of them of known queries and documents."""
    found: Relevant = {}
    columns = 0
    for place, line in placed_lines(path):
        fields = line.split()
        if not fields:
            continue
        if not columns:
            columns = len(fields)
            if columns == BEIR_COLUMNS:
                _check_header(fields, place)
                continue
        if len(fields) != columns or columns not in (TREC_COLUMNS, BEIR_COLUMNS):
            raise InputError(
                f"{place}: {len(fields)} columns; {TREC_COLUMNS} (query, 0, document, grade) are "
                f"accepted, or {BEIR_COLUMNS} (query, document, grade) under a header"
            )
        query, document, grade = fields[0], fields[-2], fields[-1]
        if query not in queries:
            raise InputError(f"{place}: the query {query!r} is not among the queries")
        if document not in documents:
            raise InputError(f"{place}: the document {document!r} is not among the documents")
        grades = found.setdefault(query, {})
        if document in grades:
            raise InputError(f"{place}: the document {document!r} occurs twice for {query!r}")
        grades[document] = _grade(grade, place)
    return found


def _check_header(names: list[str], place: str) -> None:
    """Raise InputError where the first of three columns' lines is no header but a judgement."""
    if re.fullmatch(r"[+-]?[\d.]+", names[-1]):
        raise InputError(
            f"{place}: {' '.join(names)!r} has a grade; {BEIR_COLUMNS} columns are accepted under "
            "a header, such as: query-id corpus-id score"
        )


def _grade(value: str, place: str) -> int:
    if not re.fullmatch(r"[+-]?\d+", value):
        raise InputError(f"{place}: grade is {value!r}; a whole number is accepted")
    return int(value)
