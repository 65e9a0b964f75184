"""A mark on generated data, so that nobody takes them for real data of the same layout.

`python -m data_pipeline sample` writes `SAMPLE.txt` above the folders of its data. Jobs that read
these data say so in COMPLETED, which training, export and evaluation read, and in the data card.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from common.files import COMPLETED
from data_pipeline.storage.filesystem import is_remote

MARKER = "SAMPLE.txt"
FIRST_WORDS = "A sample world: "
SYNTHETIC = "synthetic"  # the key in COMPLETED and in the data card; neither has it for other data


def synthetic_flag(paths: Iterable[str]) -> dict[str, bool]:
    """What COMPLETED and the card say if all inputs, local files, were generated, or nothing."""
    known = list(paths)
    folders = {Path(path).parent for path in known}
    generated = known and not any(map(is_remote, known)) and all(map(_is_sample, folders))
    return {SYNTHETIC: True} if generated else {}


def _is_sample(folder: Path) -> bool:
    """Whether the marker is in the folder or in the one above, or a job made it of such data."""
    with suppress(OSError, ValueError, AttributeError):
        if json.loads((folder / COMPLETED).read_bytes()).get(SYNTHETIC) is True:
            return True
    return is_marker(folder / MARKER) or is_marker(folder.parent / MARKER)


def is_marker(path: Path) -> bool:
    """Whether it is a file that begins like the marker of a sample world."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(len(FIRST_WORDS)) == FIRST_WORDS.encode()
    return False
