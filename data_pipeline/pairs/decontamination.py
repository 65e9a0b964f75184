"""Decontamination: pairs with a text of an evaluation set are removed, and listed in a file.

Texts are compared after normalization: NFKC, case folded, letters and digits only, one space
between words. The name of an evaluation set's file tells its texts:

    *.txt              each line is a text; where it has tabs, each field too (SNLI)
    *.tsv              each tab-separated field is one
    *.csv              the same where most lines have tabs (STS Benchmark and other SemEval files);
                       else each line, and each field between commas, quoted or not, or tabs
    *.jsonl            each line is JSON; each string in it is one (SNLI)
    *.xml              the text between two tags is one (SemEval CQA)

each plain or compressed with gzip (`*.jsonl.gz`).
"""

import csv
import gzip
import hashlib
import re
import unicodedata
import xml.etree.ElementTree as ET
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

import orjson
import pyarrow as pa
from apache_beam.pvalue import TaggedOutput

from common.errors import InputError
from data_pipeline.card.statistics import COUNTS, TALLY
from data_pipeline.pairs.schema import CONTEXT, INPUT, INPUT_ID, RESPONSE, RESPONSE_ID
from data_pipeline.storage.filesystem import read_bytes, reason_of
from data_pipeline.storage.inputs import GLOB_CHARACTERS, files_of, require_unicode

EXCLUDED = "excluded"
MIN_CHARACTERS = 4
"""Shorter normalized texts (a score, a "yes") exclude nothing."""
_LISTED = [INPUT, RESPONSE, INPUT_ID, RESPONSE_ID]
_NOT_WORD = re.compile(r"[\W_]+")


def normalize(text: str) -> str:
    """The words of a text; two texts with the same words count as equal."""
    return _NOT_WORD.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


class Excluded:
    """Hashes of the normalized texts of evaluation sets, and the file of each."""

    def __init__(self, paths: list[str], *, are_halves: bool = False):
        """Reads the files; `are_halves` tells whether input and response were one text."""
        self.paths = paths
        self._are_halves = are_halves
        self._file_of: dict[bytes, int] = {}
        for number, path in enumerate(paths):
            is_empty = True
            for text in read_texts(path):
                is_empty = is_empty and not text.strip()
                words = normalize(text)
                if len(words) >= MIN_CHARACTERS:
                    self._file_of.setdefault(_digest(words), number)
            if is_empty:
                raise InputError(f"--exclude_texts: {path!r} has no text")

    def __len__(self) -> int:
        return len(self._file_of)

    def find(self, text: str) -> str | None:
        """The file that has an equal text, or None."""
        number = self._file_of.get(_digest(normalize(text)))
        return None if number is None else self.paths[number]

    def find_pair(self, text: str, response: str, *context: str | None) -> str | None:
        """The file that has a text equal to one of these.

        Context turns may be null. Of halves, the whole message counts, too.
        """
        texts = [text, response, *filter(None, context)]
        if self._are_halves:
            texts.append(f"{text} {response}")
        return next(filter(None, map(self.find, texts)), None)

    def no_match(self) -> str:
        """What to say where no pair has one of these texts."""
        if not self._file_of:
            return (
                f"--exclude_texts: no text has {MIN_CHARACTERS} letters and digits; shorter ones "
                "exclude nothing"
            )
        return f"--exclude_texts: no pair has one of its {len(self):,} texts"

    def digest(self) -> str:
        """A hash of all texts: part of what makes two jobs the same."""
        return hashlib.blake2b(b"".join(sorted(self._file_of)), digest_size=8).hexdigest()


def _digest(words: str) -> bytes:
    return hashlib.blake2b(words.encode(), digest_size=8).digest()


def find_texts(values: Sequence[str]) -> list[str]:
    """The files that names and patterns name, each once; those of a pattern in order.

    Raises:
      InputError: if a pattern matches no file.
    """
    found: list[str] = []
    for value in values:
        require_unicode("--exclude_texts", value)
        matched = [value]
        if set(value) & GLOB_CHARACTERS:
            try:
                matched = sorted(file.path for file in files_of(value))
            except ValueError as error:  # no filesystem for such paths
                raise InputError(f"--exclude_texts: {value!r}: {error}") from error
            except OSError as error:
                raise InputError(f"--exclude_texts: {value!r}: {reason_of(error)}") from error
            if not matched:
                raise InputError(f"--exclude_texts: {value!r} matches no file")
        found += matched
    return list(dict.fromkeys(found))


def read_texts(path: str) -> Iterator[str]:
    """Yields all texts of a file.

    Raises:
      InputError: if the file cannot be read as what its name says.
    """
    require_unicode("--exclude_texts", path)
    suffixes = [suffix.lower() for suffix in PurePath(path).suffixes]
    try:
        content = read_bytes(path)
        if suffixes[-1:] == [".gz"]:
            content, suffixes = gzip.decompress(content), suffixes[:-1]
        texts = content.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(f"--exclude_texts: {path!r} cannot be read: {error}") from error
    # splitlines would also split at other characters, such as U+2028.
    lines = texts.split("\n")
    match suffixes[-1:]:
        case [".txt"]:
            for line in lines:
                yield line
                yield from line.split("\t") if "\t" in line else ()
        case [".csv"] | [".tsv"]:
            for line in lines:
                yield from line.split("\t")
            if suffixes[-1:] == [".tsv"] or _are_tab_separated(lines):
                yield from _fields(lines, "\t")
            else:
                yield from lines
                yield from _fields(lines, _delimiter_of(lines[0]))
        case [".jsonl"]:
            for number, line in enumerate(lines, start=1):
                yield from _strings(_load(path, number, line))
        case [".xml"]:
            try:
                yield from ET.fromstring(texts).itertext()
            except ET.ParseError as error:
                raise InputError(f"--exclude_texts: {path!r}: {error}") from error
        case _:
            raise InputError(
                f"--exclude_texts: {path!r}: accepted: .txt, .csv, .tsv, .jsonl and "
                ".xml, plain or .gz"
            )


def _are_tab_separated(lines: Sequence[str]) -> bool:
    """Whether most lines have tabs; a field between commas may have one, too."""
    return 2 * sum("\t" in line for line in lines) > sum(bool(line.strip()) for line in lines)


def _delimiter_of(header: str) -> str:
    """The delimiter that the first line has most of; a comma if it has none."""
    return max(",;|", key=header.count)


def _fields(lines: Sequence[str], delimiter: str) -> list[str]:
    """The fields of all rows; those of a line by itself where its quotes are none of CSV's."""
    # A field may be as long as the file.
    limit = csv.field_size_limit(sum(map(len, lines)) + len(lines))
    found: list[str] = []
    start = 0
    try:
        while start < len(lines):
            rest = (f"{lines[number]}\n" for number in range(start, len(lines)))
            rows = csv.reader(rest, delimiter=delimiter, strict=True)
            read = 0
            try:
                for row in rows:
                    read = rows.line_num
                    found += row
            except csv.Error:
                found += lines[start + read].split(delimiter)
                read += 1
            start += read
    finally:
        csv.field_size_limit(limit)
    return found


def _load(path: str, number: int, line: str) -> Any:
    try:
        return orjson.loads(line) if line.strip() else None
    except orjson.JSONDecodeError as error:
        raise InputError(f"--exclude_texts: {path!r}, line {number}: {error}") from error


def _strings(value: Any) -> Iterator[str]:
    """All strings in it, at any depth: what comes from people may be nested deeply."""
    left = [value]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case dict() as fields:
                left += fields.values()
            case list() as values:
                left += values


def decontaminate(pairs: pa.RecordBatch, *, excluded: Excluded) -> Iterator[Any]:
    """Yields the pairs without a text of an evaluation set.

    Tagged, it yields lines of `excluded-*.jsonl` and their count.
    """
    context = [name for name in pairs.schema.names if name.startswith(CONTEXT.format(""))]
    texts = (pairs.column(name).to_pylist() for name in (INPUT, RESPONSE, *context))
    found = [excluded.find_pair(*some) for some in zip(*texts, strict=True)]
    files = pa.array(found, pa.string())
    yield pairs.filter(files.is_null())
    if files.null_count == len(found):
        return
    removed = pairs.filter(files.is_valid()).select([*_LISTED, *context]).to_pylist()
    lines = [
        orjson.dumps({"file": file, **row}, option=orjson.OPT_APPEND_NEWLINE)
        for file, row in zip(files.drop_null().to_pylist(), removed, strict=True)
    ]
    yield TaggedOutput(EXCLUDED, b"".join(lines))
    yield TaggedOutput(TALLY, {COUNTS: Counter(excluded=len(lines))})
