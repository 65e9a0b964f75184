"""Scores into a module that exists: a folder made anew takes the old one's place."""

import json
import os
import shutil
from pathlib import Path

from export import card, identity, replace, scores


def with_scores(module: Path, results: Path) -> int:
    """Replaces a module's scores and draws its card anew; returns how many results there are.

    Raises:
      InputError: if the folder is no module of ours, or the results are not about it.
    """
    about = identity.read(module)
    found = scores.read(results, fingerprint=about["fingerprint"])
    with replace.aside(module) as new:
        # The weights are not written again: both folders name the same files for a moment.
        shutil.copytree(module, new, copy_function=os.link)
        for name in (f"{identity.FOLDER}/{identity.SCORES}", card.FILE):
            (new / name).unlink(missing_ok=True)
        text = json.dumps(found, indent=1, ensure_ascii=False)
        (new / identity.FOLDER / identity.SCORES).write_text(text + "\n", encoding="utf-8")
        card.write(new)
    return len(found)
