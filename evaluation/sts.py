"""STS Benchmark (section 4.3): how well -arccos(cosine) follows people's similarity scores."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation import metrics, similarity
from evaluation.errors import InputError
from evaluation.files import Source, existing, numbered_lines, without_gz
from evaluation.result import Result

# The official train file is left out of a folder: it is there to learn from.
FOLDER_FILES = ("sts-dev.csv", "sts-test.csv")

COLUMNS = "genre, file, year, id, score, sentence1, sentence2"


@dataclass(frozen=True)
class Pair:
    """Two sentences and how similar people found them, from 0 to 5."""

    genre: str
    gold: float
    sentence1: str
    sentence2: str


@dataclass(frozen=True)
class SimilarityData:
    """One file of the benchmark."""

    name: str
    pairs: list[Pair]


def find(path: Path) -> list[Source]:
    """Return the benchmark file itself, or the dev and test files of a folder."""
    if existing(path).is_file():
        return [Source(without_gz(path).removesuffix(".csv"), (path,))]
    sources = []
    for name in FOLDER_FILES:
        for candidate in (path / name, path / f"{name}.gz"):
            if candidate.is_file():
                sources.append(Source(name.removesuffix(".csv"), (candidate,)))
                break
    if not sources:
        raise InputError(f"{path}: holds none of {', '.join(FOLDER_FILES)} (plain or .gz)")
    return sources


def read(source: Source) -> SimilarityData:
    """Read one file: tab separated, raw quotes, 503 official rows with 2 licence columns."""
    (path,) = source.files
    lines = [(f"{path}:{number}", line) for number, line in numbered_lines(path)]
    while lines and not lines[-1][1]:
        lines.pop()  # empty lines at the end are no pairs
    pairs = [_pair(line, place=place) for place, line in lines]
    if len(pairs) < 2:
        raise InputError(f"{path}: holds {len(pairs)} pairs; a correlation needs at least 2")
    if len({pair.gold for pair in pairs}) == 1:
        raise InputError(f"{path}: every score is {pairs[0].gold}; a correlation needs two values")
    return SimilarityData(source.name, pairs)


def _pair(line: str, *, place: str) -> Pair:
    """Parse one row."""
    columns = line.split("\t")
    if len(columns) not in (7, 9):
        raise InputError(
            f"{place}: {len(columns)} columns; 7 tab-separated ({COLUMNS}) are accepted, "
            "or 9 with two licence columns"
        )
    genre, _, _, _, score, sentence1, sentence2 = columns[:7]
    for column, value in (("genre", genre), ("sentence1", sentence1), ("sentence2", sentence2)):
        if not value.strip():
            raise InputError(f"{place}: {column} is {value!r}; text is needed")
    return Pair(genre, _gold(score, place=place), sentence1, sentence2)


def _gold(score: str, *, place: str) -> float:
    """Parse a gold score."""
    try:
        gold = float(score)
    except ValueError:
        gold = float("nan")
    if not 0.0 <= gold <= 5.0:
        raise InputError(f"{place}: score is {score!r}; a number from 0 to 5 is accepted")
    return gold


def evaluate(encoder, data: SimilarityData) -> Result:
    """Score every pair by -arccos(cosine), in [-pi, 0], and correlate with the gold scores."""
    pairs = data.pairs
    embeddings = encoder.encode(
        [pair.sentence1 for pair in pairs] + [pair.sentence2 for pair in pairs]
    )
    scores = similarity.negative_angle(embeddings[: len(pairs)], embeddings[len(pairs) :])
    gold = np.array([pair.gold for pair in pairs])
    overlaps = _overlaps(pairs)
    return Result(
        task="sts",
        name=data.name,
        system="module",
        metrics=_correlations(scores, gold),
        n=len(pairs),
        groups=_by_genre(scores, gold, genres=np.array([pair.genre for pair in pairs])),
        baselines={"word_overlap": _correlations(overlaps, gold)},
        items=[
            {
                "gold": pair.gold,
                "score": float(score),
                "genre": pair.genre,
                "sentence1": pair.sentence1,
                "sentence2": pair.sentence2,
                "baselines": {"word_overlap": float(overlap)},
            }
            for pair, score, overlap in zip(pairs, scores, overlaps, strict=True)
        ],
    )


def _correlations(scores: np.ndarray, gold: np.ndarray) -> dict[str, float]:
    """Return both correlations of two [n] vectors."""
    return {
        "pearson": metrics.pearson(scores, gold),
        "spearman": metrics.spearman(scores, gold),
    }


def _by_genre(scores: np.ndarray, gold: np.ndarray, *, genres: np.ndarray) -> dict[str, dict]:
    """Return the correlations within each genre (table 4); their mean is not the overall one."""
    return {
        str(genre): {
            "n": int((genres == genre).sum()),
            "metrics": _correlations(scores[genres == genre], gold[genres == genre]),
        }
        for genre in sorted(set(genres))
    }


def _overlaps(pairs: list[Pair]) -> np.ndarray:
    """Return the word overlap of each pair: float64 [n] in [0, 1]."""
    return np.array(
        [
            similarity.word_overlap(
                similarity.words(pair.sentence1), similarity.words(pair.sentence2)
            )
            for pair in pairs
        ]
    )
