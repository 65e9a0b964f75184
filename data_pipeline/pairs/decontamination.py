"""Decontamination: pairs with a text of an evaluation set are removed, and listed in a file.

Texts are compared by their words, as `normalize` returns them. The name of an evaluation set's
file tells its texts:

    *.txt          each line, and each of its fields between tabs (SNLI)
    *.tsv          each field between tabs; quotes are text
    *.csv          the same if most lines have tabs (STS Benchmark and other SemEval files); else
                   each line, and each field of CSV as RFC 4180 has it
    *.jsonl        each string in the JSON of each line (SNLI)
    *.xml          the text between two tags (SemEval CQA)

each plain or compressed (`*.jsonl.gz`).
"""

import csv
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import pyarrow as pa
from apache_beam.pvalue import TaggedOutput

from common.errors import InputError
from common.text_files import MIN_CHARACTERS, load_json, normalize
from common.tfrecord import CONTEXT, INPUT, INPUT_ID, RESPONSE, RESPONSE_ID
from data_pipeline.execution.report import COUNTS, TALLY
from data_pipeline.pairs.splits import stable_hash
from data_pipeline.storage.filesystem import Tap
from data_pipeline.storage.inputs import InputFile, UnreadableFileError, find_inputs
from data_pipeline.storage.lines import plain_suffix, read_chunks
from data_pipeline.storage.output_folder import EXCLUDED, ShardFile, write_aside

REMOVED = "removed"  # the tag of the lines about removed pairs
OPTION = "--exclude_texts"


class Excluded:
    """Hashes of the normalized texts of evaluation sets, and the file of each."""

    def __init__(self, values: Sequence[str], *, are_halves: bool = False):
        """Reads files; `are_halves` if pairs were one text; raises an InputError for no text."""
        files = find_inputs(values, option=OPTION)
        self.paths = [file.path for file in files]
        self._are_halves = are_halves
        self._file_of: dict[bytes, str] = {}
        for file in files:
            texts = set(map(normalize, read_texts(file)))
            if not any(texts):
                raise InputError(f"{OPTION}: {file.path!r} has no text")
            for words in texts:
                if len(words) >= MIN_CHARACTERS:
                    self._file_of.setdefault(stable_hash(words.encode()), file.path)

    def find(self, text: str) -> str | None:
        """The file that has an equal text, or None."""
        return self._file_of.get(stable_hash(normalize(text).encode()))

    def find_pair(self, text: str, response: str, *context: str | None) -> str | None:
        """The file that has a text equal to one of these; of halves, to the whole message, too."""
        whole = [f"{text} {response}"] if self._are_halves else []
        texts = [text, response, *filter(None, context), *whole]
        return next(filter(None, map(self.find, texts)), None)

    def no_match(self) -> str:
        """What to say where no pair has one of these texts."""
        texts = f"its {len(self._file_of):,} texts of {MIN_CHARACTERS} or more letters and digits"
        return f"{OPTION}: no pair has one of {texts}"

    def describe(self) -> list[str]:
        """The files and a hash of their texts: part of what makes two jobs the same."""
        return [*self.paths, stable_hash(b"".join(sorted(self._file_of))).hex()]


def read_texts(file: InputFile) -> list[str]:
    """All texts of a file; raises an InputError if it cannot be read as what its name says."""
    try:
        text = b"".join(read_chunks(file, Tap())).decode("utf-8-sig")
        # splitlines would also split at other characters, such as U+2028.
        lines = text.split("\n")
        match plain_suffix(file.path):
            case ".txt":
                return lines + _between_tabs(lines)
            case ".tsv":
                return _between_tabs(lines)
            case ".csv":
                return _of_csv(lines)
            case ".jsonl":
                return [text for line in lines if line.strip() for text in _strings(line)]
            case ".xml":
                return list(ET.fromstring(text).itertext())
    except UnreadableFileError as error:
        raise InputError(f"{OPTION}: {error}") from error
    except (ValueError, csv.Error, ET.ParseError) as error:
        raise InputError(f"{OPTION}: {file.path!r}: {error}") from error
    raise InputError(
        f"{OPTION}: {file.path!r}: accepted: .txt, .csv, .tsv, .jsonl and .xml, plain or compressed"
    )


def _between_tabs(lines: Sequence[str]) -> list[str]:
    return [field for line in lines for field in line.split("\t")]


def _of_csv(lines: Sequence[str]) -> list[str]:
    if 2 * sum("\t" in line for line in lines) > sum(bool(line.strip()) for line in lines):
        return _between_tabs(lines)
    csv.field_size_limit(sum(map(len, lines)) + len(lines))  # a field may be as long as the file
    rows = csv.reader((f"{line}\n" for line in lines), strict=True)
    return [*lines, *(field for row in rows for field in row)]


def _strings(line: str) -> Iterator[str]:
    """All strings in a line of JSON, at any depth: what comes from people may be nested deeply."""
    left = [load_json(line.encode(), orjson.loads)]
    while left:
        match left.pop():
            case str() as text:
                yield text
            case dict() as fields:
                left += fields.values()
            case list() as values:
                left += values


def decontaminate(pairs: pa.RecordBatch, *, excluded: Excluded) -> Iterator[Any]:
    """Yields pairs without a text of an evaluation set; tagged, lines of the others, a tally."""
    context = [name for name in pairs.schema.names if name.startswith(CONTEXT.format(""))]
    texts = (pairs.column(name).to_pylist() for name in (INPUT, RESPONSE, *context))
    found = [excluded.find_pair(*some) for some in zip(*texts, strict=True)]
    files = pa.array(found, pa.string())
    yield pairs.filter(files.is_null())
    if files.null_count == len(found):
        return
    listed = [INPUT, RESPONSE, INPUT_ID, RESPONSE_ID, *context]
    removed = pairs.filter(files.is_valid()).select(listed).to_pylist()
    lines = [
        orjson.dumps({"file": file, **row}, option=orjson.OPT_APPEND_NEWLINE)
        for file, row in zip(files.drop_null().to_pylist(), removed, strict=True)
    ]
    yield TaggedOutput(REMOVED, b"".join(lines))
    yield TaggedOutput(TALLY, {COUNTS: Counter(excluded=len(lines))})


def write_removed(batches: list[bytes], folder: str) -> ShardFile:
    """Writes batches of lines, sorted: how they were batched depends on how the input was cut."""
    lines = sorted(line for batch in batches for line in batch.splitlines(keepends=True))
    return write_aside(folder, EXCLUDED, b"".join(lines), records=len(lines))
