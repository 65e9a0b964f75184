"""SNLI, MultiNLI and other NLI data: premise, hypothesis and the label of most annotators.

JSON lines, TSV (.tsv, or .txt as SNLI has it) or Parquet, with the columns of SNLI or those of
Hugging Face, whose labels are numbers: -1 is none, and 0 to 2 are `LABELS`.
"""

from pathlib import Path
from typing import Any, NamedTuple

from common import text_files
from common.errors import InputError
from common.tables import parse_rows
from common.text_files import Source, TextPairs, is_visible, split_of, stem_of
from common.tfrecord import NO_LABEL, label_of

_COLUMNS = {
    "premise": ["sentence1", "premise"],
    "hypothesis": ["sentence2", "hypothesis"],
    "label": ["gold_label", "label"],
}
_FORMS = ("*.jsonl", "*.parquet", "*.tsv", "*.txt")  # of a data set in several, the first is read


class Pair(NamedTuple):
    """A premise, a hypothesis and the label of the two."""

    premise: str
    hypothesis: str
    gold: str


NliData = TextPairs[Pair]


def find(path: Path) -> dict[str, list[Source]]:
    """Return the sets of each split of a folder, or a file alone under its own split's name."""
    if path.is_file():
        return {split_of(stem_of(path)) or path.name: [_source(stem_of(path), (path,))]}
    stems: dict[str, tuple[Path, ...]] = {}
    for form in _FORMS:
        stems = text_files.tables(path, form) | stems
    found: dict[str, list[Source]] = {}
    for stem in sorted(filter(split_of, stems)):
        source, others = _source(stem, stems[stem]), found.setdefault(split_of(stem), [])
        if other := next((other for other in others if other.name == source.name), None):
            raise InputError(f"{source.files[0]}: {source.name} again, after {other.files[0]}")
        others.append(source)
    if not {"dev", "test"} & found.keys():
        raise InputError(f"{path}: no dev or test file here ({', '.join(_FORMS)}, plain or .gz)")
    return found


def _source(stem: str, files: tuple[Path, ...]) -> Source:
    """Return SNLI's own as `snli-dev`, another under its file's name."""
    name = stem.removeprefix("snli_1.0_")
    return Source(f"snli-{split_of(name) if name.isalpha() and split_of(name) else name}", files)


def read(*sources: Source) -> NliData:
    """Read files as one set; pairs without an agreed label (`-`, -1) are counted only."""
    files = [path for source in sources for path in source.files]
    rows = [row for path in files for row in parse_rows(path, _pair, columns=_COLUMNS)]
    pairs = [pair for pair in rows if pair.gold != NO_LABEL]
    if not pairs:
        raise InputError(f"{files[0]}: no labelled pairs")
    name = ", ".join(source.name for source in sources)
    return TextPairs(name, pairs, {"without_label": len(rows) - len(pairs)})


def _pair(row: dict[str, Any]) -> Pair:
    gold = NO_LABEL if row["label"] == "" else label_of(row["label"])
    texts = row["premise"], row["hypothesis"]
    if gold != NO_LABEL and not all(isinstance(text, str) and is_visible(text) for text in texts):
        raise ValueError(f"premise and hypothesis are {texts}; both need text")
    return Pair(*texts, gold)
