"""SemEval Task 3, English, subtask B: question files (.xml) and gold files (.relevancy).

The organisers' folders also hold files of other subtasks, which are left out, the same questions
with line breaks (`-with-multiline`), and test questions (`-input`) with labels in a gold file.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from common import text_files
from common.errors import InputError, reading
from common.text_files import Source, TextPairs, is_visible, number, parse_lines, unpacked_name

_UNKNOWN, _RELEVANCY = "?", ".relevancy"
LABELS = {"PerfectMatch": True, "Relevant": True, "Irrelevant": False, _UNKNOWN: None}
"""Both of the first are good questions (section 4.4)."""
_GOLD = {"true": True, "false": False}
_VARIANTS = ("-with-multiline", "-input")
"""Ends of the names of files with the questions of another one, which is preferred."""


class Candidate(NamedTuple):
    """A question that the search engine returned for another one, and its score, higher first."""

    query: str  # this and the text are empty where a file has no text
    text: str
    query_id: str
    id: str
    relevant: bool | None  # None where a gold file says it
    engine_score: float


def find(path: Path) -> list[Source]:
    """Return the file itself, or every file of subtask B anywhere in the folder.

    Gold files are sources of their own only where there are no questions with text for them.
    """
    if path.is_file():
        if not _has_text(path):
            return [Source(_name(path), (path,))]
        files, gold = [path], text_files.find(path.parent, f"*.subtaskB{_RELEVANCY}")
    else:
        every = text_files.find(path, "**/*.xml")
        files = _one_of_each(one for one in every if "subtaskA" not in str(one.relative_to(path)))
        gold = _one_of_each(text_files.find(path, f"**/*.subtaskB{_RELEVANCY}"))
    judged = {one: {each.id for each in _read(one)} for one in gold}
    found, with_text = [], set()
    for file in files:
        first, name = next(_read(file), None), _name(file)
        if first is None:  # of another subtask
            continue
        labels = [one for one in gold if first.id in judged[one] or _name(one) == name]
        with_text.update(labels)
        if first.relevant is None and not labels:
            raise InputError(f"{file}: its labels are {_UNKNOWN!r}; its .relevancy is needed too")
        found.append(Source(name, (file, *labels[:1]) if first.relevant is None else (file,)))
    if path.is_dir():
        found += [Source(_name(one), (one,)) for one in gold if one not in with_text]
    if not found:
        raise InputError(f"{path}: no *.xml or *.subtaskB.relevancy of subtask B (plain or .gz)")
    return sorted(found, key=lambda source: source.name)


def _one_of_each(files: Iterable[Path]) -> list[Path]:
    """Return one of the files of each name; copies and variants are left out."""
    found: dict[str, Path] = {}
    for file in sorted(files, key=lambda file: [end in file.name for end in reversed(_VARIANTS)]):
        other = found.setdefault(_name(file), file)
        same_kind = unpacked_name(file) == unpacked_name(other)
        if same_kind and text_files.sha256([file]) != text_files.sha256([other]):
            raise InputError(f"{file}: other data than {other}, of the same name; keep one of them")
    return list(found.values())


def _has_text(path: Path) -> bool:
    return not unpacked_name(path).endswith(_RELEVANCY)


def _name(path: Path) -> str:
    name = unpacked_name(path)
    for suffix in (_RELEVANCY, ".subtaskB", ".xml", *_VARIANTS):
        name = name.removesuffix(suffix)
    return f"cqa-{name}"


def read(source: Source) -> TextPairs[Candidate]:
    """Read one file of queries, each with its related questions in the file's order."""
    path, *gold = source.files
    has_text = _has_text(path)
    labels = {each.id: each.relevant for file in gold for each in _read(file)}
    queries: dict[str, list[Candidate]] = {}
    with reading(path):
        for candidate in _read(path):
            relevant = candidate.relevant
            if relevant is None and (relevant := labels.get(candidate.id)) is None:
                raise ValueError(f"the related question {candidate.id!r} has no label")
            candidates = queries.setdefault(candidate.query_id, [])
            candidates.append(candidate._replace(relevant=relevant))
        for key, candidates in queries.items():
            ids, asked, texts = (
                {getattr(each, name): None for each in candidates}
                for name in ("id", "query", "text")
            )
            if len(ids) < len(candidates):
                raise ValueError(f"question {key!r} has a candidate twice")
            if len(asked) > 1:
                raise ValueError(f"question {key!r} has the texts {' and '.join(map(repr, asked))}")
            if has_text and not all(any(map(is_visible, some)) for some in (asked, texts)):
                raise ValueError(f"question {key!r} or all of its candidates have no text")
        if not any(each.relevant for candidates in queries.values() for each in candidates):
            raise ValueError("no related question is relevant; MAP needs one or more")
    return TextPairs(source.name, list(chain.from_iterable(queries.values())))


def _read(path: Path) -> Iterator[Candidate]:
    """Yield the candidates of a file; none of one of another subtask."""
    return _read_xml(path) if _has_text(path) else _read_relevancy(path)


def _read_xml(path: Path) -> Iterator[Candidate]:
    """Yield related questions; the text is subject and body, as in the paper.

    Of the search engine's ranks, 1 scores 1, 2 scores 1/2.
    """
    names = ("RELQ_ID", "RELQ_RELEVANCE2ORGQ", "RELQ_RANKING_ORDER")
    with reading(path), text_files.opened(path) as file:
        for asked in ElementTree.parse(file).iter("OrgQuestion"):
            query_id, text = asked.attrib["ORGQ_ID"], _text(asked, "OrgQ")
            if asked.find(".//RelQuestion") is None:
                raise ValueError(f"question {query_id!r} has no candidate")
            for related in asked.iter("RelQuestion"):
                key, label, order = (related.attrib[name] for name in names)
                if not 1 <= (rank := number(order)) < math.inf:
                    raise ValueError(f"RELQ_RANKING_ORDER is {order!r}; accepted: numbers from 1")
                relevant = _label(label, LABELS)
                texts = text, _text(related, "RelQ")
                yield Candidate(*texts, query_id, key, relevant, 1.0 / rank)


def _text(element: ElementTree.Element, prefix: str) -> str:
    elements = (element.find(f"{prefix}{part}") for part in ("Subject", "Body"))
    texts = ("".join(part.itertext()).strip() for part in elements if part is not None)
    return " ".join(filter(None, texts))


def _read_relevancy(path: Path) -> Iterator[Candidate]:
    def parse(line: str) -> Candidate:
        if len(fields := line.split("\t")) != 5:
            raise ValueError(f"{len(fields)} fields between tabs; accepted: 5")
        query_id, candidate_id, _, score, label = fields
        if not math.isfinite(number(score)):
            raise ValueError(f"the score is {score!r}; accepted: a finite number")
        return Candidate("", "", query_id, candidate_id, _label(label, _GOLD), float(score))

    return parse_lines(path, parse)


def _label(value: str, accepted: Mapping[str, bool | None]) -> bool | None:
    if value not in accepted:
        raise ValueError(f"the label is {value!r}; accepted: {', '.join(accepted)}")
    return accepted[value]
