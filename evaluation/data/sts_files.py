"""Pairs of sentences with human similarity scores, in their own formats.

    sts-*.csv                      STS Benchmark: genre, file, year, id, score, two sentences
    *.input.NAME.txt, *.gs.NAME.txt   a SemEval year: sentences and scores, line by line
    NAME.tsv                       score and two sentences
    SICK*.txt                      SICK, with its header; scores from 1 to 5

each plain or compressed with gzip; tab-separated, without CSV quoting. With `Columns` any CSV or
TSV file with a header is read, with scores on any scale. A pair with an empty score, which SemEval
has since 2015, was not judged: it is left out and counted.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evaluation.data import delimited
from evaluation.data.files import (
    Source,
    existing,
    named_rows,
    named_source,
    numbered_lines,
    placed_lines,
    require_once,
    without_gz,
)
from evaluation.errors import InputError

# Of a folder, what is scored; the official train file is there to learn from.
FOLDER_FILES = ("sts-dev.csv", "sts-test.csv")
TRAIN_FILE = "sts-train.csv"
COLUMNS = "genre, file, year, id, score, sentence1, sentence2"
# Pairs by genre in the official files (the benchmark's readme, section 4.3 of the paper).
OFFICIAL_COUNTS = {
    "sts-dev": {"main-captions": 625, "main-forums": 375, "main-news": 500},
    "sts-test": {"main-captions": 625, "main-forums": 254, "main-news": 500},
    "sts-train": {"main-captions": 2000, "main-forum": 450, "main-news": 3299},
}
INPUT, GOLD = ".input.", ".gs."
SICK_COLUMNS = ("sentence_A", "sentence_B", "relatedness_score")
SICK_SPLIT = "SemEval_set"


@dataclass(frozen=True)
class Pair:
    """Two sentences and their gold similarity; `genre` may be a data set.

    Where the user named the columns of the file, similarity is on any scale, otherwise from 0 to 5,
    and `genre` is empty.
    """

    genre: str
    gold: float
    sentence1: str
    sentence2: str


@dataclass(frozen=True)
class SimilarityData:
    """The judged pairs of a source; `sets` says that its genres are data sets of their own."""

    name: str
    pairs: list[Pair]
    unjudged: int = 0
    sets: bool = False

    def texts(self) -> list[tuple[str, str]]:
        """Return the two sentences of each pair."""
        return [(pair.sentence1, pair.sentence2) for pair in self.pairs]


class Columns(NamedTuple):
    """The columns of a CSV or TSV file with a header."""

    sentence1: str
    sentence2: str
    score: str
    quotes: bool = True
    """Whether quotes enclose fields; otherwise they are part of the text."""


def difference(name: str, counts: Mapping[str, int]) -> str:
    """Return how data of a benchmark file's name differ from that file; empty if they do not.

    `counts` are their pairs by genre.
    """
    official = OFFICIAL_COUNTS.get(name)
    if official is None or counts == official:
        return ""
    here, there = sum(counts.values()), sum(official.values())
    if here == there:
        return f"{name} has as many pairs here as in the STS Benchmark, but not of the same genres"
    return f"{name} has {here:,} pairs here and {there:,} in the STS Benchmark"


def find(path: Path) -> list[Source]:
    """Return the sources of a folder, or the one of a file.

    A folder with the benchmark's files gives dev and test; one of a SemEval year gives one
    source of all its data sets; each file of SICK is a source.
    """
    if existing(path).is_file():
        return [_source_of_file(path)]
    benchmark = [file for name in FOLDER_FILES for file in _either(path / name)[:1]]
    if benchmark:
        return [_source_of_file(file) for file in benchmark]
    inputs = [file for file in _files(path, ".txt") if INPUT in file.name]
    year = [file for input_file in inputs for file in (input_file, _gold_of(input_file))]
    year = year or _files(path, ".tsv")
    if year:
        return [named_source(f"sts-{path.resolve().name}", *year)]
    sick = [file for file in _files(path, ".txt") if file.name.startswith("SICK")]
    if sick:
        return [_source_of_file(file) for file in sick]
    raise InputError(
        f"{path}: holds none of {', '.join(FOLDER_FILES)}, *{INPUT}*.txt, *.tsv, SICK*.txt "
        "(plain or .gz)"
    )


def _files(folder: Path, suffix: str) -> list[Path]:
    return require_once([file for file in folder.iterdir() if without_gz(file).endswith(suffix)])


def _either(path: Path) -> list[Path]:
    """Return the file, plain or .gz, if there is one."""
    return [file for file in (path, path.with_name(f"{path.name}.gz")) if file.is_file()]


def _source_of_file(path: Path) -> Source:
    stem = without_gz(path).rsplit(".", 1)[0]
    if INPUT in path.name and without_gz(path).endswith(".txt"):
        return named_source(f"sts-{stem}", path, _gold_of(path))
    return named_source(stem if stem.startswith("sts-") else f"sts-{stem}", path)


def _gold_of(path: Path) -> Path:
    """Return the file of scores that belongs to a SemEval file of sentences."""
    wanted = path.with_name(without_gz(path).replace(INPUT, GOLD))
    found = _either(wanted)
    if not found:
        raise InputError(f"{path}: its scores are missing, {wanted.name} (plain or .gz)")
    return found[0]


def train_of(path: Path) -> Source:
    """Return the benchmark's train file, from the folder or from beside the file."""
    folder = path if path.is_dir() else path.parent
    found = _either(folder / TRAIN_FILE)
    if not found:
        raise InputError(f"{folder}: no {TRAIN_FILE} (plain or .gz), which is learned from")
    return _source_of_file(found[0])


def read(source: Source, columns: Columns | None = None) -> SimilarityData:
    """Read a source's pairs; every row is a judged pair, an unjudged one, or an error.

    With `columns` the source is one CSV or TSV file with a header.
    """
    rows: list[Pair | None] = []
    files = iter(source.files)
    for path in files:
        name = without_gz(path)
        if columns:
            rows += _named(path, columns)
        elif INPUT in name:
            rows += _semeval(path, next(files))
        elif name.endswith(".tsv"):
            rows += [_scored(line, place, genre=_set_of(path)) for place, line in _lines(path)]
        elif name.endswith(".txt"):
            rows += _sick(path)
        else:
            rows += read_benchmark(path)
    pairs = [row for row in rows if row is not None]
    where = source.files[0] if len(source.files) == 1 else source.files[0].parent
    if len(pairs) < 2:
        without = len(rows) - len(pairs)
        unjudged = f", and {without:,} without a score" if without else ""
        raise InputError(
            f"{where}: holds {len(pairs)} pairs{unjudged}; a correlation needs at least 2"
        )
    if len({pair.gold for pair in pairs}) == 1:
        raise InputError(f"{where}: every score is {pairs[0].gold}; a correlation needs two values")
    sets = len(source.files) > 1 and len({pair.genre for pair in pairs}) > 1
    return SimilarityData(source.name, pairs, unjudged=len(rows) - len(pairs), sets=sets)


def _lines(path: Path) -> list[tuple[str, str]]:
    """Return (place for an error, line) of a file, without empty lines at its end."""
    lines = list(placed_lines(path))
    while lines and not lines[-1][1].strip("\t "):
        lines.pop()
    return lines


def _set_of(path: Path) -> str:
    """Return the name of the data set in a SemEval file's name."""
    stem = without_gz(path).rsplit(".", 1)[0]
    return stem.split(INPUT)[-1].removesuffix(".test")


def read_benchmark(path: Path) -> Iterator[Pair]:
    """Read a benchmark file: raw quotes, and 503 official rows with 2 licence columns."""
    for place, line in _lines(path):
        columns = line.split("\t")
        if len(columns) not in (7, 9):
            raise InputError(
                f"{place}: {len(columns)} columns; 7 tab-separated ({COLUMNS}) are accepted, "
                "or 9 with two licence columns; `sts --columns` reads other tables"
            )
        genre, _, _, _, score, sentence1, sentence2 = columns[:7]
        yield _pair(genre, score, sentence1, sentence2, place=place)


def _scored(line: str, place: str, *, genre: str) -> Pair | None:
    """Parse a row of score and two sentences."""
    columns = line.split("\t")
    if len(columns) != 3:
        raise InputError(f"{place}: {len(columns)} columns; 3 (score, two sentences) are accepted")
    score, sentence1, sentence2 = columns
    return _pair(genre, score, sentence1, sentence2, place=place) if score.strip() else None


def _semeval(path: Path, gold_path: Path) -> Iterator[Pair | None]:
    """Read a SemEval data set: two sentences or more columns a line, and a score a line."""
    scores = [line.strip() for _, line in numbered_lines(gold_path)]
    lines = list(numbered_lines(path))
    if len(scores) != len(lines):
        raise InputError(
            f"{gold_path}: {len(scores)} scores for the {len(lines)} lines of {path.name}"
        )
    for (number, line), score in zip(lines, scores, strict=True):
        columns = line.split("\t")
        if len(columns) < 2:
            raise InputError(f"{path}:{number}: {len(columns)} columns; two sentences are needed")
        place = f"{gold_path}:{number}" if not _is_score(score) else f"{path}:{number}"
        yield _pair(_set_of(path), score, *columns[:2], place=place) if score else None


def _sick(path: Path) -> Iterator[Pair]:
    """Read SICK: the first line names the columns; its splits, where it has them, are genres."""
    for place, row in named_rows(_lines(path), SICK_COLUMNS):
        sentence1, sentence2, score = (row[name] for name in SICK_COLUMNS)
        yield _pair(row.get(SICK_SPLIT, "SICK"), score, sentence1, sentence2, place=place)


def _named(path: Path, columns: Columns) -> Iterator[Pair | None]:
    """Read a CSV or TSV file with a header; scores are any finite numbers."""
    *names, quotes = columns
    for place, (sentence1, sentence2, score) in delimited.read(path, names, quotes=quotes):
        _check_texts(place, {columns.sentence1: sentence1, columns.sentence2: sentence2})
        if score.strip() and not math.isfinite(_number(score)):
            raise InputError(f"{place}: {columns.score} is {score!r}; a number is accepted")
        yield Pair("", _number(score), sentence1, sentence2) if score.strip() else None


def _pair(genre: str, score: str, sentence1: str, sentence2: str, *, place: str) -> Pair:
    """Check and parse what every format has."""
    _check_texts(place, {"genre": genre, "sentence1": sentence1, "sentence2": sentence2})
    if not _is_score(score):
        raise InputError(f"{place}: score is {score!r}; a number from 0 to 5 is accepted")
    return Pair(genre, float(score), sentence1, sentence2)


def _check_texts(place: str, texts: dict[str, str]) -> None:
    """Raise InputError naming the first column that is blank."""
    for column, value in texts.items():
        if not value.strip():
            raise InputError(f"{place}: {column} is {value!r}; text is needed")


def _is_score(value: str) -> bool:
    """Say whether a value is a number from 0 to 5."""
    return 0.0 <= _number(value) <= 5.0


def _number(value: str) -> float:
    """Return a number; NaN where the text is none, nor are Python's 1_0."""
    try:
        return math.nan if "_" in value else float(value)
    except ValueError:
        return math.nan
