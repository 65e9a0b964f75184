"""What identifies the data of a result, and whether they are a synthetic sample or from Reddit."""

import json
from collections.abc import Sequence
from pathlib import Path

from common.files import COMPLETED
from common.text_files import Source

SYNTHETIC, REDDIT = "synthetic sample", "Reddit"  # origins of data that are known
_SAMPLE, _SAMPLE_WORDS = "SAMPLE.txt", b"A sample world: "
"""The file that `data_pipeline sample` writes above its data, and how it begins."""


def provenance(source: Source, learned_from: Sequence[Source] = ()) -> dict:
    """Return names and SHA-256 of the data and of those learned from, and a known `origin`."""
    identity = source.provenance()
    if origin := origin_of(source.files):
        identity["origin"] = origin
    if files := tuple(path for other in learned_from for path in other.files):
        of_others = Source("", files).provenance()
        identity["learned_from"] = {key: of_others[key] for key in ("files", "sha256")}
    return identity


def origin_of(files: Sequence[Path]) -> str:
    """Return the origin of files that all have the same; empty where it is unknown."""
    origins = {_of_folder(folder) for folder in {path.absolute().parent for path in files}}
    return origins.pop() if len(origins) == 1 else ""


def _of_folder(folder: Path) -> str:
    for path in (folder / _SAMPLE, folder.parent / _SAMPLE):
        if path.is_file() and path.read_bytes().startswith(_SAMPLE_WORDS):
            return SYNTHETIC
    try:
        if json.loads((folder / COMPLETED).read_bytes()).get("synthetic"):
            return SYNTHETIC
        named = json.loads((folder / "data_card.json").read_bytes())["source"]["name"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ""  # not there, or somebody else's file of this name
    return REDDIT if named == REDDIT else ""
