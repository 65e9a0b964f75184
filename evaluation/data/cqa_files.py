"""SemEval Task 3, English, subtask B: question files (.xml) and gold files (.relevancy)."""

import gzip
import xml.sax
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.data.files import (
    Source,
    existing,
    named_source,
    open_bytes,
    placed_lines,
    without_gz,
)
from evaluation.errors import InputError

# "PerfectMatch" and "Relevant" are both good questions (section 4.4).
LABELS = {"PerfectMatch": True, "Relevant": True, "Irrelevant": False}
GOLD = {"true": True, "false": False}
RELEVANCY = ".relevancy"
TEXT_OF = {
    "OrgQSubject": "query",
    "OrgQBody": "query",
    "RelQSubject": "candidate",
    "RelQBody": "candidate",
}


@dataclass
class Candidate:
    """A related question: its label, and the search engine's score for it, higher first."""

    id: str
    relevant: bool
    engine_score: float
    text: str = ""


@dataclass
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
    if existing(path).is_file():
        return [named_source(_result_name(path), path)]
    with_text: dict[str, Path] = {}
    without_text: dict[str, Path] = {}
    for candidate in sorted(path.rglob("*")):
        name = without_gz(candidate)
        if name.endswith(".xml") and "-subtaskA" not in name:
            found = with_text
        elif name.endswith(".subtaskB" + RELEVANCY):
            found = without_text
        else:
            continue
        key = _result_name(candidate)
        if key in found:
            raise InputError(f"{candidate}: the same data as {found[key]}; keep one of them")
        found[key] = candidate
    chosen = without_text | with_text
    if not chosen:
        raise InputError(f"{path}: holds no *.xml and no *.subtaskB.relevancy (plain or .gz)")
    return [named_source(key, chosen[key]) for key in sorted(chosen)]


def _result_name(path: Path) -> str:
    """Return the same name for a question file and its relevancy file."""
    name = without_gz(path)
    for suffix in (RELEVANCY, ".subtaskB", ".xml"):
        name = name.removesuffix(suffix)
    return f"cqa-{name}"


def read(source: Source) -> QueryData:
    """Read one file of queries, each with its related questions in the file's order."""
    (path,) = source.files
    has_text = not without_gz(path).endswith(RELEVANCY)
    queries = read_xml(path) if has_text else read_relevancy(path)
    return QueryData(source.name, queries, has_text=has_text)


def read_xml(path: Path) -> list[Query]:
    """Read a question file, .xml or .xml.gz.

    `OrgQuestion` is repeated for each of its related questions: queries are grouped by
    ORGQ_ID. The text is subject and body; comments are left out, as in the paper.
    """
    handler = _QuestionHandler(path)
    try:
        with open_bytes(path) as file:
            xml.sax.parse(file, handler)
    except xml.sax.SAXParseException as error:
        raise InputError(
            f"{path}:{error.getLineNumber()}: not well-formed XML ({error.getMessage()})"
        ) from error
    except InputError:
        raise
    except (LookupError, ValueError) as error:  # of an encoding
        raise InputError(f"{path}: {error}; UTF-8 is accepted") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: damaged gzip file ({error})") from error
    for query in handler.queries.values():
        if not query.text or not any(candidate.text for candidate in query.candidates):
            raise InputError(
                f"{path}: question {query.id!r} or all of its related questions have no text; "
                f"accepted: text in one or more of {', '.join(TEXT_OF)}"
            )
    return _checked(handler.queries, path=path, wanted="OrgQuestion elements with RelQuestion")


def read_relevancy(path: Path) -> list[Query]:
    """Read an organisers' gold file: query, candidate, rank, score, true or false."""
    queries: dict[str, Query] = {}
    for place, line in placed_lines(path):
        columns = line.split("\t")
        if len(columns) != 5:
            raise InputError(
                f"{place}: {len(columns)} columns; 5 tab-separated are accepted "
                "(query, candidate, rank, score, label)"
            )
        query_id, candidate_id, _, score, label = columns
        candidate = Candidate(
            candidate_id,
            relevant=_label(label, accepted=GOLD, place=place),
            engine_score=_number(score, column="score", place=place),
        )
        _add(queries.setdefault(query_id, Query(query_id)), candidate, place=place)
    return _checked(queries, path=path, wanted="rows")


class _QuestionHandler(xml.sax.ContentHandler):
    """Collects the queries while the parser, which knows the line, walks the file."""

    def __init__(self, path: Path):
        super().__init__()
        self.queries: dict[str, Query] = {}
        self._path = path
        self._query: Query | None = None
        self._candidate: Candidate | None = None
        self._first_time = True
        self._pieces: list[str] = []

    def startElement(self, name, attributes):  # noqa: N802  (the SAX interface)
        """Open a question."""
        if name in TEXT_OF:
            self._pieces = []
        if name == "OrgQuestion":
            query_id = self._attribute(attributes, "ORGQ_ID", element=name)
            self._first_time = query_id not in self.queries
            self._query = self.queries.setdefault(query_id, Query(query_id))
        elif name == "RelQuestion":
            if self._query is None:
                raise InputError(f"{self._place()}: RelQuestion outside an OrgQuestion")
            self._candidate = self._read_candidate(attributes)
            _add(self._query, self._candidate, place=self._place())

    def characters(self, content):
        """Collect text: the parser hands it over in pieces."""
        self._pieces.append(content)

    def endElement(self, name):  # noqa: N802  (the SAX interface)
        """Add a subject or body to its question."""
        owner = TEXT_OF.get(name)
        target = self._candidate if owner == "candidate" else self._query
        if owner and target is not None and (owner == "candidate" or self._first_time):
            target.text = f"{target.text} {''.join(self._pieces).strip()}".strip()

    def _read_candidate(self, attributes) -> Candidate:
        """Make a candidate of a RelQuestion's attributes; engine rank 1 scores 1, rank 2 1/2."""
        rank = _number(
            self._attribute(attributes, "RELQ_RANKING_ORDER", element="RelQuestion"),
            column="RELQ_RANKING_ORDER",
            place=self._place(),
        )
        if rank < 1:
            raise InputError(f"{self._place()}: RELQ_RANKING_ORDER is {rank}; 1 or more is needed")
        label = self._attribute(attributes, "RELQ_RELEVANCE2ORGQ", element="RelQuestion")
        return Candidate(
            self._attribute(attributes, "RELQ_ID", element="RelQuestion"),
            relevant=_label(label, accepted=LABELS, place=self._place()),
            engine_score=1.0 / rank,
        )

    def _attribute(self, attributes, name: str, *, element: str) -> str:
        if name not in attributes:
            raise InputError(f"{self._place()}: {element} has no attribute {name}")
        return attributes[name]

    def _place(self) -> str:
        return f"{self._path}:{self._locator.getLineNumber()}"  # type: ignore[attr-defined]


def _label(value: str, *, accepted: dict[str, bool], place: str) -> bool:
    """Say whether a label means relevant."""
    if value not in accepted:
        raise InputError(f"{place}: label is {value!r}; {', '.join(accepted)} are accepted")
    return accepted[value]


def _number(value: str, *, column: str, place: str) -> float:
    """Parse a finite number."""
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        raise InputError(f"{place}: {column} is {value!r}; a number is accepted")
    return number


def _add(query: Query, candidate: Candidate, *, place: str) -> None:
    """Add a candidate that the query does not have yet."""
    if any(candidate.id == known.id for known in query.candidates):
        raise InputError(f"{place}: candidate {candidate.id!r} occurs twice for {query.id!r}")
    query.candidates.append(candidate)


def _checked(queries: dict[str, Query], *, path: Path, wanted: str) -> list[Query]:
    """Return the queries of a file, which must hold some, each with candidates."""
    if not queries:
        raise InputError(f"{path}: holds no questions ({wanted} are needed)")
    for query in queries.values():
        if not query.candidates:
            raise InputError(f"{path}: question {query.id!r} has no related questions")
    if not any(candidate.relevant for query in queries.values() for candidate in query.candidates):
        raise InputError(f"{path}: no related question is relevant; MAP needs one or more")
    return list(queries.values())
