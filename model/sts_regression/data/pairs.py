"""Sentence pairs with gold similarity scores, from the files of SemEval.

sts2016/*.tsv            score, sentence, sentence; without a score the pair was not judged
sts2017_track5/          STS.input*: two sentences a line; STS.gs*: their scores
stsb/sts-*.csv           STS Benchmark; columns 5 to 7 are score and sentences
"""

import hashlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from model.errors import InputError

STS2016, STSB = "sts2016", "stsb"
CORPORA = (STS2016, STSB)
"""The corpora that can be trained on."""
HIGHEST = 5.0
"""Scores are in [0, HIGHEST]."""


class Pair(NamedTuple):
    """One judged pair."""

    first: str
    second: str
    score: float
    genre: str
    where: str
    """File and line, for messages."""


class Source(NamedTuple):
    """Pairs and the files they come from."""

    pairs: list[Pair]
    files: list[Path]

    def provenance(self) -> dict:
        """File names, and SHA-256 over their bytes in order."""
        digest = hashlib.sha256()
        for path in self.files:
            digest.update(path.read_bytes())
        names = [path.name for path in self.files]
        file = names[0] if len(names) == 1 else f"{names[0]} ... {names[-1]}"
        return {"file": file, "files": names, "sha256": digest.hexdigest()}


def sts2016(data: Path) -> Source:
    """The 1,186 scored English pairs of SemEval 2016; each file is a genre."""
    folder = data / "sts2016"
    files = _found(folder, "*.tsv")
    pairs = []
    for path in files:
        for where, (score, first, second) in _rows(path, columns=3, used=(0, 1, 2)):
            if score:
                pairs.append(_pair(first, second, score, path.name.split(".")[0], where))
    return _source(pairs, files, where=folder)


def sts2017_track5(data: Path) -> Source:
    """The 250 English pairs of SemEval 2017."""
    folder = data / "sts2017_track5"
    (texts,), (scores,) = (_found(folder, f"STS.{kind}*", only=True) for kind in ("input", "gs"))
    text_rows = list(_rows(texts, columns=2, used=(0, 1)))
    score_rows = list(_rows(scores, columns=1, used=(0,)))
    if len(text_rows) != len(score_rows):
        raise InputError(f"{scores}: {len(score_rows)} scores for {len(text_rows)} pairs")
    pairs = [
        _pair(first, second, score, "track5", where)
        for (_, (first, second)), (where, (score,)) in zip(text_rows, score_rows, strict=True)
    ]
    return _source(pairs, [texts, scores], where=scores)


def stsb(data: Path, split: str) -> Source:
    """One split of the STS Benchmark, `train`, `dev` or `test`; a genre is `main-captions` etc."""
    (path,) = _found(data / "stsb", f"sts-{split}.csv", only=True)
    rows = _rows(path, columns=7, used=(0, 4, 5, 6))
    pairs = [
        _pair(first, second, score, genre, where) for where, (genre, score, first, second) in rows
    ]
    return _source(pairs, [path], where=path)


def _source(pairs: list[Pair], files: list[Path], *, where: Path) -> Source:
    """The source, if a correlation with its scores is defined; they are in `where`."""
    scores = {pair.score for pair in pairs}
    if len(scores) < 2:
        found = f"every score is {scores.pop():g}" if scores else "no pair has a score"
        raise InputError(f"{where}: {found}; a correlation needs two values")
    return Source(pairs, files)


def _found(folder: Path, pattern: str, *, only: bool = False) -> list[Path]:
    files = sorted(folder.glob(pattern))
    if not files or (only and len(files) > 1):
        needed = "one file" if only else "files"
        raise InputError(f"{folder}: {needed} {pattern} needed, found {len(files)}")
    return files


def _rows(path: Path, *, columns: int, used: tuple[int, ...]) -> Iterator[tuple[str, list[str]]]:
    r"""File and line number, and the used columns, of each line; only `\n` ends a line."""
    for number, line in enumerate(path.read_bytes().removesuffix(b"\n").split(b"\n"), start=1):
        where = f"{path}:{number}"
        try:
            cells = line.decode("utf-8").rstrip("\r").split("\t")
        except UnicodeDecodeError as error:
            raise InputError(f"{where}: not UTF-8 text ({error.reason})") from error
        if len(cells) < columns:
            raise InputError(f"{where}: {len(cells)} tab-separated columns, {columns} are needed")
        yield where, [cells[index].strip() for index in used]


def _pair(first: str, second: str, score: str, genre: str, where: str) -> Pair:
    """A pair, checked."""
    try:
        value = float(score)
    except ValueError:
        value = math.nan
    if not 0 <= value <= HIGHEST:
        raise InputError(f"{where}: score {score!r}; accepted: numbers from 0 to {HIGHEST:g}")
    for name, sentence in (("first", first), ("second", second)):
        if not sentence:
            raise InputError(f"{where}: the {name} sentence is empty")
    return Pair(first, second, value, genre, where)
