"""The model of a row that is trained at several learning rates: the best on validation pairs.

    python -m benchmarks.quality.choose --models RATE=DIR ... --output DIR

Gives `--output` the files of the model with the highest P@1 at its last validation, and
`chosen.json`: its rate, and the P@1 of each. The checkpoints of the others are removed.
"""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks import runs

METRIC = "p_at_1"
CHOSEN = "chosen.json"


def main() -> None:
    """Chooses."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="+", required=True, metavar="RATE=DIR")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR")
    given = parser.parse_args()
    models = {
        float(rate): Path(folder) for rate, _, folder in (m.partition("=") for m in given.models)
    }
    found = {rate: runs.last(folder / "validation")[METRIC] for rate, folder in models.items()}
    choose(models, found, given.output)


def choose(models: dict[float, Path], found: dict[float, float], output: Path) -> None:
    """Gives `output` the model with the highest figure.

    Args:
      models: folders of models by their rates.
      found: what each scored.
      output: a folder, which may hold what an interrupted choice left.
    """
    rate = max(found, key=lambda rate: found[rate])
    if not any(models[rate].rglob("ckpt*.index")) and not any(output.rglob("ckpt*.index")):
        sys.exit(f"error: {models[rate]} has no checkpoint any more; remove it to train it again")
    shutil.copytree(models[rate], output, copy_function=_link, dirs_exist_ok=True)
    said = {"rate": rate, METRIC: {f"{one:g}": figure for one, figure in found.items()}}
    (output / CHOSEN).write_text(json.dumps(said, indent=1))
    for folder in models.values():  # a link keeps what was chosen
        for path in folder.rglob("ckpt*"):
            path.unlink()


def _link(source: str, target: str) -> None:
    """A link to a checkpoint, which is never changed; a copy of any other file."""
    if not Path(source).name.startswith("ckpt"):
        shutil.copy(source, target)
    elif not Path(target).exists():
        os.link(source, target)


if __name__ == "__main__":
    main()
