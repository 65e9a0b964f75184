"""SNLI's own files: premise, hypothesis and the label of the majority of annotators."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import msgspec

from common.errors import InputError
from common.text_files import Source, parse_lines, parse_rows, unpacked_name

Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[str, ...] = get_args(Label)
"""In the order of the probabilities that `classify_nli` gives."""
SPLITS = ("train", "dev", "test")
_NO_LABEL = "-"
_SUFFIXES = (".jsonl", ".txt")


class Pair(msgspec.Struct, frozen=True):
    """A premise, a hypothesis and the label of the two."""

    premise: str = msgspec.field(name="sentence1")
    hypothesis: str = msgspec.field(name="sentence2")
    gold: Literal[Label, "-"] = msgspec.field(name="gold_label")


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

    Raises:
      InputError: if the folder has neither dev nor test, or a split twice.
    """
    if path.is_file():
        return {_split_of(path): source(path)}
    found: dict[str, Source] = {}
    names = {unpacked_name(candidate) for candidate in path.iterdir()}
    for candidate in sorted(path.iterdir()):
        name, split = unpacked_name(candidate), _split_of(candidate)
        is_double = name.endswith(".txt") and f"{name.removesuffix('.txt')}.jsonl" in names
        if is_double or not name.endswith(_SUFFIXES) or split not in SPLITS:
            continue
        if split in found:
            raise InputError(f"{candidate}: the split {split} again, after {found[split].files[0]}")
        found[split] = source(candidate)
    if not {"dev", "test"} & set(found):
        raise InputError(f"{path}: no *dev*.jsonl or *test*.jsonl here (or .txt; plain or .gz)")
    return found


def source(path: Path) -> Source:
    """Return the source of one file, named after its split."""
    return Source(f"snli-{_split_of(path)}", (path,))


def _split_of(path: Path) -> str:
    """Return the split in a file's name, or the name without its suffixes."""
    stem = unpacked_name(path).rsplit(".", 1)[0]
    return next((split for split in SPLITS if split in stem), stem)


def read(source: Source) -> NliData:
    """Read one file, .jsonl or SNLI's tab-separated .txt; pairs labelled "-" are counted only."""
    (path,) = source.files
    if unpacked_name(path).endswith(".jsonl"):
        decode = msgspec.json.Decoder(Pair).decode
        rows = list(parse_lines(path, lambda line: _labelled(decode(line))))
    else:
        columns = [field.encode_name for field in msgspec.structs.fields(Pair)]
        rows = list(
            parse_rows(path, lambda row: _labelled(msgspec.convert(row, Pair)), columns=columns)
        )
    pairs = [row for row in rows if row]
    if not pairs:
        raise InputError(f"{path}: no labelled pairs")
    return NliData(source.name, pairs, without_label=len(rows) - len(pairs))


def _labelled(pair: Pair) -> Pair | None:
    """Return the pair; None without an agreed label."""
    if pair.gold == _NO_LABEL:
        return None
    if not (pair.premise.strip() and pair.hypothesis.strip()):
        raise ValueError(
            f"the sentences are {pair.premise!r} and {pair.hypothesis!r}; text is needed"
        )
    return pair
