"""SNLI's own files: premise, hypothesis and the label of the majority of annotators."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import msgspec

from common import text_files
from common.errors import InputError
from common.text_files import Source, parse_lines, unpacked_name

Label = Literal["entailment", "neutral", "contradiction"]
LABELS: tuple[str, ...] = get_args(Label)
"""In the order of the probabilities that `classify_nli` gives."""
SPLITS = ("train", "dev", "test")
_NO_LABEL = "-"


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

    Raises:
      InputError: if the folder has neither dev nor test, or a split twice.
    """
    found: dict[str, Source] = {}
    for file in [path] if path.is_file() else text_files.find(path, "*.jsonl"):
        stem = unpacked_name(file).rsplit(".", 1)[0]
        split = next((split for split in SPLITS if split in stem), stem)
        if split in found:
            raise InputError(f"{file}: the split {split} again, after {found[split].files[0]}")
        if file == path or split in SPLITS:
            found[split] = Source(f"snli-{split}", (file,))
    if not path.is_file() and not {"dev", "test"} & found.keys():
        raise InputError(f"{path}: no *dev*.jsonl or *test*.jsonl here (plain or .gz)")
    return found


def read(source: Source) -> NliData:
    """Read one file, .jsonl or .jsonl.gz; pairs labelled "-" are counted only."""
    (path,) = source.files
    decoder = msgspec.json.Decoder(Pair)

    def parse(line: str) -> Pair:
        pair = decoder.decode(line)
        if pair.gold != _NO_LABEL and not (pair.premise.strip() and pair.hypothesis.strip()):
            raise ValueError(f"{pair}; both sentences need text")
        return pair

    rows = list(parse_lines(path, parse))
    pairs = [pair for pair in rows if pair.gold != _NO_LABEL]
    if not pairs:
        raise InputError(f"{path}: no labelled pairs")
    return NliData(source.name, pairs, without_label=len(rows) - len(pairs))
