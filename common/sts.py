"""Pairs of sentences with human similarity scores, in the formats of their benchmarks.

    sts-*.csv                         STS Benchmark: genre, file, year, id, score, two sentences
    *.input.NAME.txt, *.gs.NAME.txt   a SemEval year: sentences and scores, line by line
    NAME.tsv                          score and two sentences
    SICK*.txt                         SICK, with its header; scores from 1 to 5

each plain or compressed with gzip; tab-separated, without CSV quoting. With `Columns` any .csv or
.tsv file with a header is read, with scores on any scale. A pair without a score, which SemEval has
since 2015, was not judged: it is left out and counted.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from common.errors import InputError
from common.tables.delimited import Dialect
from common.text_files import Source, find, parse_lines, parse_rows, unpacked_name

SCORED = ("sts-dev.csv", "sts-test.csv")
"""What is scored of the STS Benchmark's folder."""
TRAIN = "sts-train.csv"
_INPUT, _GOLD = ".input.", ".gs."


class Pair(NamedTuple):
    """Two sentences and their gold similarity, from 0 to 5 where no columns were named."""

    genre: str
    """Or data set; empty where columns were named."""
    gold: float
    sentence1: str
    sentence2: str


class SimilarityData(NamedTuple):
    """The judged pairs of a source."""

    name: str
    pairs: list[Pair]
    unjudged: int = 0
    sets: bool = False
    """Whether its genres are data sets of their own."""

    def texts(self) -> list[tuple[str, str]]:
        """The two sentences of each pair."""
        return [(pair.sentence1, pair.sentence2) for pair in self.pairs]


class Columns(NamedTuple):
    """The columns of a CSV or TSV file with a header."""

    sentence1: str
    sentence2: str
    score: str
    quotes: str | None = None
    """As `--quotes` has it: see `common.tables.delimited`."""
    escape: str | None = None

    @property
    def dialect(self) -> Dialect:
        """How the file is read."""
        return Dialect(quotes=self.quotes, escape=self.escape)


_SICK = Columns("sentence_A", "sentence_B", "relatedness_score")


def sources(path: Path) -> list[Source]:
    """What a folder holds to score, or a file.

    A folder with the benchmark's files gives dev and test; one of a SemEval year gives one
    source of all its data sets; each file of SICK is a source.
    """
    if path.is_file():
        return [_of_file(path)]
    if files := [file for name in SCORED for file in find(path, name)] or find(path, "SICK*.txt"):
        return [_of_file(file) for file in files]
    year = [file for each in find(path, f"*{_INPUT}*.txt") for file in (each, _gold_of(each))]
    if year := year or find(path, "*.tsv"):
        return [Source(f"sts-{path.resolve().name}", tuple(year))]
    raise InputError(
        f"{path}: no {', '.join(SCORED)}, *{_INPUT}*.txt, *.tsv or SICK*.txt here (plain or .gz)"
    )


def train_source(path: Path) -> Source:
    """The benchmark's train file, in the folder or beside the file."""
    folder = path if path.is_dir() else path.parent
    if not (files := find(folder, TRAIN)):
        raise InputError(f"{folder}: no {TRAIN} here (plain or .gz)")
    return _of_file(files[0])


def _of_file(path: Path) -> Source:
    name = unpacked_name(path)
    files = (path, _gold_of(path)) if _INPUT in name and name.endswith(".txt") else (path,)
    return Source(f"sts-{name.rsplit('.', 1)[0].removeprefix('sts-')}", files)


def _gold_of(path: Path) -> Path:
    """The file of scores of a SemEval file of sentences."""
    name = unpacked_name(path).replace(_INPUT, _GOLD)
    if not (files := find(path.parent, name)):
        raise InputError(f"{path}: its scores are missing, {name} (plain or .gz)")
    return files[0]


def read(source: Source, columns: Columns | None = None) -> SimilarityData:
    """The pairs of a source; with `columns`, of one CSV or TSV file with a header."""
    files = [path for path in source.files if columns or _GOLD not in path.name]
    rows = [row for path in files for row in _read(path, columns)]
    pairs = [row for row in rows if row]
    unjudged = len(rows) - len(pairs)
    if len({pair.gold for pair in pairs}) < 2:
        raise InputError(
            f"{files[0]}: {len(pairs)} pairs with a score and {unjudged} without; a correlation "
            "needs two different scores"
        )
    sets = len(files) > 1 and len({pair.genre for pair in pairs}) > 1
    return SimilarityData(source.name, pairs, unjudged, sets)


def _read(path: Path, columns: Columns | None) -> Iterator[Pair | None]:
    name = unpacked_name(path)
    genre = name.rsplit(".", 1)[0].split(_INPUT)[-1].removesuffix(".test")
    if columns:
        return _rows(path, columns)
    if _INPUT in name:
        return _semeval(path, _gold_of(path), genre)
    if name.endswith(".txt"):
        return _rows(path, _SICK)
    is_set = name.endswith(".tsv")
    # 503 of the benchmark's official rows have two columns about their licence.
    widths, at = ((3,), 0) if is_set else ((7, 9), 4)

    def pair(line: str) -> Pair | None:
        fields = line.split("\t")
        if len(fields) not in widths:
            accepted = " or ".join(map(str, widths))
            raise ValueError(f"{len(fields)} tab-separated columns; accepted: {accepted}")
        gold, left, right = fields[at : at + 3]
        return _pair(genre if is_set else fields[0], left, right, _score(gold))

    return parse_lines(path, pair)


def _rows(path: Path, columns: Columns) -> Iterator[Pair | None]:
    """The pairs of rows under a header; of SICK with their set, else with scores on any scale."""
    is_sick = columns is _SICK

    def pair(row: dict[str, str]) -> Pair | None:
        left, right, score = (row[name] for name in columns[:3])
        genre = row.get("SemEval_set", "SICK") if is_sick else ""
        return _pair(genre, left, right, _score(score, on_any_scale=not is_sick))

    return parse_rows(path, pair, columns=columns[:3], dialect=columns.dialect)


def _semeval(path: Path, gold_path: Path, genre: str) -> Iterator[Pair | None]:
    """The pairs of two sentences or more columns a line, with a file of a score a line."""
    scores = list(parse_lines(gold_path, _score, blank=True))
    lines = list(parse_lines(path, str, blank=True))
    if len(scores) != len(lines):
        raise InputError(f"{gold_path}: {len(scores)} scores for {len(lines)} lines of {path.name}")
    remaining = iter(scores)

    def pair(line: str) -> Pair | None:
        left, right, *_ = line.split("\t")
        return _pair(genre, left, right, next(remaining))

    return parse_lines(path, pair, blank=True)


def _pair(genre: str, sentence1: str, sentence2: str, score: float | None) -> Pair | None:
    """A pair; None without a score."""
    if score is None:
        return None
    if not (sentence1.strip() and sentence2.strip()):
        raise ValueError(f"the sentences are {sentence1!r} and {sentence2!r}; text is needed")
    return Pair(genre, score, sentence1, sentence2)


def _score(text: str, *, on_any_scale: bool = False) -> float | None:
    """A score; None where there is none."""
    if not text.strip():
        return None
    score = float(text)
    if not (math.isfinite(score) if on_any_scale else 0.0 <= score <= 5.0):
        accepted = "a finite number" if on_any_scale else "a number from 0 to 5"
        raise ValueError(f"the score is {text!r}; accepted: {accepted}")
    return score
