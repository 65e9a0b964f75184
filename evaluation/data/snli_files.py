"""SNLI's own files: premise, hypothesis and the label of the majority of annotators."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation.data.files import (
    Source,
    check_text,
    existing,
    named_rows,
    named_source,
    placed_lines,
    without_gz,
)
from evaluation.errors import InputError

# The order of the probabilities that `classify_nli` gives.
LABELS = ("entailment", "neutral", "contradiction")
NO_LABEL = "-"
COLUMNS = ("gold_label", "sentence1", "sentence2")
SUFFIXES = (".jsonl", ".txt")
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Pair:
    """A premise, a hypothesis and the label of the two."""

    premise: str
    hypothesis: str
    gold: str


@dataclass(frozen=True)
class NliData:
    """The labelled pairs of one file, and how many it has besides without an agreed label."""

    name: str
    pairs: list[Pair]
    without_label: int

    def texts(self) -> list[tuple[str, str]]:
        """Return premise and hypothesis of each pair."""
        return [(pair.premise, pair.hypothesis) for pair in self.pairs]


def find(path: Path) -> dict[str, Source]:
    """Return the splits of a folder, by name, or a file alone under its own split's name.

    Where a file is there in both of SNLI's formats, as in its archive, the .jsonl is taken.

    Raises InputError where the folder has neither dev nor test, or a split twice.
    """
    if existing(path).is_file():
        return {split_of(path): _source(path)}
    found: dict[str, Source] = {}
    names = {without_gz(candidate) for candidate in path.iterdir()}
    for candidate in sorted(path.iterdir()):
        stem = without_gz(candidate).removesuffix(".txt")
        if stem != without_gz(candidate) and f"{stem}.jsonl" in names:
            continue
        if not without_gz(candidate).endswith(SUFFIXES) or split_of(candidate) not in SPLITS:
            continue
        split = split_of(candidate)
        if split in found:
            raise InputError(f"{candidate}: the split {split} again, after {found[split].files[0]}")
        found[split] = _source(candidate)
    if not {"dev", "test"} & set(found):
        raise InputError(f"{path}: holds no *dev*.jsonl or *test*.jsonl (or .txt; plain or .gz)")
    return found


def only(path: Path, *, option: str) -> Source:
    """Return the source of one file, which an option names."""
    if not existing(path).is_file():
        raise InputError(f"{option} {path}: a folder; one file of SNLI is accepted")
    return _source(path)


def split_of(path: Path) -> str:
    """Return the split in a file's name, or the name without its suffixes."""
    stem = without_gz(path).rsplit(".", 1)[0]
    return next((split for split in SPLITS if split in stem), stem)


def _source(path: Path) -> Source:
    return named_source(f"snli-{split_of(path)}", path)


def read(source: Source) -> NliData:
    """Read one file, .jsonl or SNLI's tab-separated .txt; pairs labelled "-" are counted only."""
    (path,) = source.files
    rows = _json_rows(path) if without_gz(path).endswith(".jsonl") else _text_rows(path)
    pairs, without_label = [], 0
    for place, (label, premise, hypothesis) in rows:
        if label == NO_LABEL:
            without_label += 1
            continue
        if label not in LABELS:
            accepted = ", ".join([*LABELS, NO_LABEL])
            raise InputError(f"{place}: gold_label is {label!r}; {accepted} are accepted")
        for name, text in (("sentence1", premise), ("sentence2", hypothesis)):
            if not isinstance(text, str) or not text.strip():
                raise InputError(f"{place}: {name} is {text!r}; text is needed")
            check_text(text, name, place)
        pairs.append(Pair(premise, hypothesis, label))
    if not pairs:
        raise InputError(f"{path}: holds no labelled pairs")
    return NliData(source.name, pairs, without_label)


Rows = Iterator[tuple[str, tuple[str, str, str]]]


def _json_rows(path: Path) -> Rows:
    for place, line in placed_lines(path):
        if not line:
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place}: not JSON ({error})") from error
        missing = [name for name in COLUMNS if not isinstance(row, dict) or name not in row]
        if missing:
            raise InputError(f"{place}: no {', '.join(missing)}; {', '.join(COLUMNS)} are needed")
        yield place, (row["gold_label"], row["sentence1"], row["sentence2"])


def _text_rows(path: Path) -> Rows:
    lines = ((place, line) for place, line in placed_lines(path) if line)
    for place, row in named_rows(lines, COLUMNS):
        yield place, (row["gold_label"], row["sentence1"], row["sentence2"])
