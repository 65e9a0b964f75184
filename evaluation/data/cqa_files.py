"""SemEval Task 3, English, subtask B: question files (.xml) and gold files (.relevancy)."""

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from common import text_files
from common.errors import InputError, reading
from common.text_files import Source, parse_lines, unpacked_name

LABELS = {"PerfectMatch": True, "Relevant": True, "Irrelevant": False}
"""Both of the first are good questions (section 4.4)."""
_GOLD = {"true": True, "false": False}
_RELEVANCY = ".relevancy"


@dataclass(frozen=True)
class Candidate:
    """A related question: its label, and the search engine's score for it, higher first."""

    id: str
    relevant: bool
    engine_score: float
    text: str = ""


@dataclass(frozen=True)
class Query:
    """An original question and its candidates in the file's order."""

    id: str
    text: str = ""
    candidates: list[Candidate] = field(default_factory=list)


@dataclass(frozen=True)
class QueryData:
    """One file of the task."""

    name: str
    queries: list[Query]
    has_text: bool

    def texts(self) -> list[tuple[str, str]]:
        """Return query and candidate of each candidate."""
        return [(q.text, c.text) for q in self.queries for c in q.candidates]


def find(path: Path) -> list[Source]:
    """Return the file itself, or every file of subtask B anywhere in the folder.

    Where a question file and its .relevancy are both there, the one with text is taken.
    """
    if path.is_file():
        return [source(path)]
    found: dict[str, Path] = {}
    for file in text_files.find(path, "**/*.xml", f"**/*.subtaskB{_RELEVANCY}"):
        if "-subtaskA" in file.name:
            continue
        other = found.setdefault(source(file).name, file)
        if other != file and _has_text(other) == _has_text(file):
            raise InputError(f"{file}: the same data as {other}; keep one of them")
        if _has_text(file):
            found[source(file).name] = file
    if not found:
        raise InputError(f"{path}: no *.xml or *.subtaskB.relevancy here (plain or .gz)")
    return [source(found[name]) for name in sorted(found)]


def _has_text(path: Path) -> bool:
    return not unpacked_name(path).endswith(_RELEVANCY)


def source(path: Path) -> Source:
    """Return the source of one file; a question file and its relevancy file have the same name."""
    name = unpacked_name(path)
    for suffix in (_RELEVANCY, ".subtaskB", ".xml"):
        name = name.removesuffix(suffix)
    return Source(f"cqa-{name}", (path,))


def read(source: Source) -> QueryData:
    """Read one file of queries, each with its related questions in the file's order."""
    (path,) = source.files
    has_text = _has_text(path)
    queries = _read_xml(path) if has_text else _read_relevancy(path)
    with reading(path):
        for query in queries:
            ids = {candidate.id for candidate in query.candidates}
            if not ids or len(ids) < len(query.candidates):
                raise ValueError(f"question {query.id!r} has no candidate, or one twice")
            if has_text and not (query.text and any(each.text for each in query.candidates)):
                raise ValueError(f"question {query.id!r} or all of its candidates have no text")
        if not any(candidate.relevant for query in queries for candidate in query.candidates):
            raise ValueError("no related question is relevant; MAP needs one or more")
    return QueryData(source.name, queries, has_text=has_text)


def _read_xml(path: Path) -> list[Query]:
    """Read a question file, .xml or .xml.gz.

    `OrgQuestion` is repeated for each of its related questions: queries are grouped by
    ORGQ_ID. The text is subject and body; comments are left out, as in the paper.
    """
    queries: dict[str, Query] = {}
    with reading(path), gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for asked in ElementTree.parse(file).iter("OrgQuestion"):
            query_id = _attribute(asked, "ORGQ_ID")
            query = queries.setdefault(query_id, Query(query_id, _text(asked, "OrgQ")))
            query.candidates.extend(map(_candidate, asked.iter("RelQuestion")))
    return list(queries.values())


def _candidate(related: ElementTree.Element) -> Candidate:
    """Make a candidate of a RelQuestion; engine rank 1 scores 1, rank 2 1/2."""
    return Candidate(
        _attribute(related, "RELQ_ID"),
        relevant=_label(_attribute(related, "RELQ_RELEVANCE2ORGQ"), LABELS),
        engine_score=1.0 / int(_attribute(related, "RELQ_RANKING_ORDER")),
        text=_text(related, "RelQ"),
    )


def _attribute(element: ElementTree.Element, name: str) -> str:
    if name not in element.attrib:
        raise ValueError(f"{element.tag} has no attribute {name}")
    return element.attrib[name]


def _text(element: ElementTree.Element, prefix: str) -> str:
    elements = (element.find(f"{prefix}{part}") for part in ("Subject", "Body"))
    texts = ("".join(part.itertext()).strip() for part in elements if part is not None)
    return " ".join(filter(None, texts))


def _read_relevancy(path: Path) -> list[Query]:
    """Read an organisers' gold file: query, candidate, rank, score, true or false."""
    queries: dict[str, Query] = {}

    def add(line: str) -> None:
        query_id, candidate_id, _, score, label = line.split("\t")
        candidate = Candidate(candidate_id, _label(label, _GOLD), float(score))
        queries.setdefault(query_id, Query(query_id)).candidates.append(candidate)

    for _ in parse_lines(path, add):
        pass
    return list(queries.values())


def _label(value: str, accepted: dict[str, bool]) -> bool:
    if value not in accepted:
        raise ValueError(f"the label is {value!r}; accepted: {', '.join(accepted)}")
    return accepted[value]
