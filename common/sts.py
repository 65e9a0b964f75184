"""Pairs of sentences with human similarity scores, in the formats of their benchmarks.

    sts-*.csv                         STS Benchmark: genre, file, year, id, score, two sentences
    *.input.NAME.txt, *.gs.NAME.txt   a SemEval year: sentences and scores, line by line
    NAME.tsv                          score and two sentences
    SICK*.txt                         SICK, with its header; scores from 1 to 5

each plain or compressed with gzip; tab-separated, without CSV quoting. With `Columns` any .csv or
.tsv file with a header, JSON lines or Parquet is read; without, those are whose columns have the
names of `NAMED`; in both, scores are on any scale. A pair without a score, which SemEval has since
2015, was not judged: it is left out and counted, and so is one without a text.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from common.errors import InputError, reading
from common.files import aside
from common.tables import Dialect, parse_rows
from common.text_files import (
    Source,
    TextPairs,
    find,
    is_visible,
    number,
    parse_lines,
    split_of,
    stem_of,
    tables,
    unpacked_name,
)

SCORED = ("sts-dev.csv", "sts-test.csv")  # what is scored of the STS Benchmark's folder
TRAIN = "sts-train.csv"
MATRIX = "sts_matrix.npz"  # what `python -m evaluation sts --tune` learns
_INPUT, _GOLD = ".input.", ".gs."
NAMED = {
    "sentence1": ["sentence1", "sentence_A"],
    "sentence2": ["sentence2", "sentence_B"],
    "score": ["score", "similarity_score", "relatedness_score", "label"],
}
"""Names of columns that data sets of similarity have on Hugging Face, with scores to 1 or to 5."""


class Pair(NamedTuple):
    """Two sentences and their gold similarity, from 0 to 5 in the benchmarks."""

    sentence1: str
    sentence2: str
    gold: float
    genre: str = ""  # or data set; empty in a user's own table


@dataclass(frozen=True)
class SimilarityData(TextPairs[Pair]):
    """The judged pairs of a source."""

    sets: bool = False  # whether its genres are data sets of their own


class Columns(NamedTuple):
    """The columns of a table, and how it is read."""

    sentence1: str
    sentence2: str
    score: str
    dialect: Dialect = Dialect()


def sources(path: Path) -> list[Source]:
    """A file, or what a folder holds to score: the benchmark's dev and test, all sets of a SemEval
    year as one source, or each file of SICK or other table that is not to train on.
    """
    if path.is_file():
        return [_of_file(path)]
    if files := [file for name in SCORED for file in find(path, name)] or find(path, "SICK*.txt"):
        return [_of_file(file) for file in files]
    year = [file for each in find(path, f"*{_INPUT}*.txt") for file in (each, _gold_of(each))]
    if year := year or find(path, "*.tsv"):
        return [Source(f"sts-{path.resolve().name}", tuple(year))]
    named = tables(path, "*.parquet", "*.jsonl", "*.csv").items()
    if found := [Source(f"sts-{name}", of) for name, of in named if split_of(name) != "train"]:
        return found
    accepted = f"{', '.join(SCORED)}, *{_INPUT}*.txt, *.tsv, SICK*.txt, *.parquet, *.jsonl or *.csv"
    raise InputError(f"{path}: no {accepted} here (plain or .gz)")


def train_source(path: Path) -> Source:
    """The benchmark's train file, in the folder or beside the file."""
    folder = path if path.is_dir() else path.parent
    if not (files := find(folder, TRAIN)):
        raise InputError(f"{folder}: no {TRAIN} here (plain or .gz)")
    return _of_file(files[0])


def repeated(path: Path) -> set[frozenset[str]]:
    """The pairs of texts that the whole benchmark has more than once, in either order: what mteb's
    STSBenchmark.v2 leaves out. Empty for other data.
    """
    folder = path if path.is_dir() else path.parent
    files = [file for name in (TRAIN, *SCORED) for file in find(folder, name)[:1]]
    if len(files) < len((TRAIN, *SCORED)) or path not in (folder, *files):
        return set()
    pairs = [pair for file in files for pair in read(_of_file(file)).texts()]
    return {pair for pair, times in Counter(map(same_pair, pairs)).items() if times > 1}


def same_pair(texts: Iterable[str]) -> frozenset[str]:
    """What two pairs have in common that differ in order and outer white space alone."""
    return frozenset(text.strip() for text in texts)


def _of_file(path: Path) -> Source:
    files = (path, _gold_of(path)) if _is_semeval(path) else (path,)
    return Source(f"sts-{stem_of(path).removeprefix('sts-')}", files)


def _is_semeval(path: Path) -> bool:
    return _INPUT in path.name and unpacked_name(path).endswith(".txt")


def _gold_of(path: Path) -> Path:
    name = unpacked_name(path).replace(_INPUT, _GOLD)
    if not (files := find(path.parent, name)):
        raise InputError(f"{path}: its scores are missing, {name} (plain or .gz)")
    return files[0]


def read(source: Source, columns: Columns | None = None) -> SimilarityData:
    """The pairs of a source; with `columns`, of one CSV or TSV file with a header."""
    golds = {_gold_of(path) for path in source.files if _is_semeval(path)}
    files = [path for path in source.files if path not in golds]
    rows = [row for path in files for row in _read(path, columns)]
    judged = [row for row in rows if row]
    pairs = [row for row in judged if is_visible(row.sentence1) and is_visible(row.sentence2)]
    unjudged, without_text = len(rows) - len(judged), len(judged) - len(pairs)
    if len({pair.gold for pair in pairs}) < 2:
        raise InputError(
            f"{files[0]}: {len(pairs)} pairs with a score, {unjudged} without and {without_text} "
            "without a text; a correlation needs two different scores"
        )
    sets = len(files) > 1 and len({pair.genre for pair in pairs}) > 1
    counts = {"unjudged_pairs": unjudged, "pairs_without_text": without_text}
    return SimilarityData(source.name, pairs, counts, sets)


def _read(path: Path, columns: Columns | None) -> Iterator[Pair | None]:
    """The pairs of a file; None for each that nobody judged."""
    name = unpacked_name(path)
    genre = name.rsplit(".", 1)[0].split(_INPUT)[-1].removesuffix(".test")
    if columns:
        named = {name: [getattr(columns, name)] for name in NAMED}
        return parse_rows(path, _of_row, columns=named, dialect=columns.dialect)
    if _is_semeval(path):
        return _semeval(path, genre)
    if not name.endswith((".csv", ".tsv")) or _has_names(path):
        return parse_rows(path, _of_row, columns=NAMED)
    is_set = name.endswith(".tsv")
    # 503 of the benchmark's official rows have two columns about their licence.
    widths, at = ((3,), 0) if is_set else ((7, 9), 4)

    def pair(line: str) -> Pair | None:
        fields = line.split("\t")
        if len(fields) not in widths:
            accepted = f"{' or '.join(map(str, widths))}, or a header with {', '.join(NAMED)}"
            raise ValueError(f"{len(fields)} tab-separated columns; accepted: {accepted}")
        score, left, right = fields[at : at + 3]
        return _pair(genre if is_set else fields[0], left, right, _score(score))

    return parse_lines(path, pair)


def _has_names(path: Path) -> bool:
    words = re.split(r"\W+", next(parse_lines(path, str), "").lower())
    return all(any(name in words for name in names) for names in NAMED.values())


def _of_row(row: dict[str, Any]) -> Pair | None:
    genre = row.get("SemEval_set", "")  # of SICK
    score = _score(row["score"], on_any_scale=True)
    return _pair(genre, row["sentence1"], row["sentence2"], score)


def _semeval(path: Path, genre: str) -> Iterator[Pair | None]:
    gold = _gold_of(path)

    def sentences(line: str) -> list[str]:
        if len(fields := line.split("\t")) < 2:
            raise ValueError(f"{line!r}; accepted: two sentences, with a tab between")
        return fields[:2]

    lines = parse_lines(path, sentences, blank=True)
    scores = parse_lines(gold, _score, blank=True)
    with reading(f"{gold}: not as many scores as {path.name} has lines"):
        for (left, right), score in zip(lines, scores, strict=True):
            yield _pair(genre, left, right, score)


def _pair(genre: str, sentence1: Any, sentence2: Any, score: float | None) -> Pair | None:
    if other := [text for text in (sentence1, sentence2) if not isinstance(text, str)]:
        raise ValueError(f"a sentence is {other[0]!r}; accepted: text")
    return None if score is None else Pair(sentence1, sentence2, score, genre)


def _score(text: Any, *, on_any_scale: bool = False) -> float | None:
    if isinstance(text, str) and not text.strip():
        return None
    score = number(text)
    if not (math.isfinite(score) if on_any_scale else 0.0 <= score <= 5.0):
        accepted = "a finite number" if on_any_scale else "a number from 0 to 5"
        raise ValueError(f"the score is {text!r}; accepted: {accepted}")
    return score


def write_matrix(path: Path, matrix: np.ndarray, *, about: dict[str, Any]) -> None:
    """Writes what tuning learns, float32 [dim, dim], and as JSON the `module` it was learned on."""
    with aside(path) as new, new.open("wb") as file:
        np.savez(file, matrix=matrix, about=np.array(json.dumps(about)))


def read_matrix(path: Path, *, dim: int) -> tuple[np.ndarray, dict[str, Any]]:
    """The matrix, float32 [dim, dim] of finite numbers, and what the file says about it."""
    with reading(path), np.load(path) as file, np.errstate(over="ignore"):
        matrix, about = file["matrix"].astype(np.float32), json.loads(str(file["about"]))
        _ = about["module"]["path"], about["module"]["fingerprint"]
    if matrix.shape != (dim, dim) or not np.isfinite(matrix).all() or not matrix.any():
        accepted = f"finite numbers {[dim, dim]}, not all zero"
        raise InputError(f"{path}: a matrix {list(matrix.shape)}; accepted: {accepted}")
    return matrix, about
