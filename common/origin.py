"""Where data come from: generated, Reddit or unknown.

Generated data are marked, so that nobody takes them for real data of the same layout: `python -m
data_pipeline sample` writes `SAMPLE.txt` above their folders; jobs that read them say so in
COMPLETED and in the data card, which training, export and evaluation read.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from common.files import COMPLETED

MARKER = "SAMPLE.txt"
FIRST_WORDS = "A sample world: "
SYNTHETIC = "synthetic"  # the key in COMPLETED and in the data card; neither has it for other data
GENERATED, REDDIT = "synthetic sample", "Reddit"
"""The origins of data that are known, as results name them."""


def origin_of(paths: Iterable[str | Path]) -> str:
    """The origin of files that all have the same; empty where it is unknown or not local."""
    origins = {_of_folder(folder) for folder in {Path(path).absolute().parent for path in paths}}
    return origins.pop() if len(origins) == 1 else ""


def synthetic_flag(paths: Iterable[str | Path]) -> dict[str, bool]:
    """What COMPLETED and the card say if all inputs were generated, or nothing."""
    return {SYNTHETIC: True} if origin_of(paths) == GENERATED else {}


def _of_folder(folder: Path) -> str:
    """By the marker in it or in the one above, or by what the job wrote that made its files."""
    if is_marker(folder / MARKER) or is_marker(folder.parent / MARKER):
        return GENERATED
    try:
        if json.loads((folder / COMPLETED).read_bytes()).get(SYNTHETIC) is True:
            return GENERATED
        named = json.loads((folder / "data_card.json").read_bytes())["source"]["name"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""  # not there, or somebody else's file of this name
    return REDDIT if named == REDDIT else ""


def is_marker(path: Path) -> bool:
    """Whether it is a file that begins like the marker of a sample world."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(FIRST_WORDS)) == FIRST_WORDS.encode()
    return False
