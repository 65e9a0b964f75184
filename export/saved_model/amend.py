"""Scores into a module that exists: a folder made anew takes the old one's place."""

import os
import shutil
from pathlib import Path

from data_pipeline.files.claim import CLAIM
from export.card import identity, model_card, scores
from export.saved_model import replace


def with_scores(module: Path, results: Path) -> int:
    """Replaces a module's scores and draws its card anew; returns how many results there are.

    Raises:
      InputError: if the folder is no module of ours, or the results are not about it.
    """
    about = identity.read(module)
    found = scores.read(results, fingerprint=about["fingerprint"])
    with replace.aside(module) as new:
        # The weights are not written again: both folders name the same files for a moment.
        shutil.copytree(module, new, copy_function=_linked, ignore=shutil.ignore_patterns(CLAIM))
        for name in (f"{identity.FOLDER}/{identity.SCORES}", model_card.FILE):
            (new / name).unlink(missing_ok=True)
        scores.write(new / identity.FOLDER / identity.SCORES, found)
        model_card.write(new)
    return len(found)


def _linked(source: str, to: str) -> None:
    """One file under two names, where the file system can."""
    try:
        os.link(source, to)
    except OSError:
        shutil.copy2(source, to)
