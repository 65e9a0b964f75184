"""Trains a row at several learning rates and keeps the model that is best on validation pairs.

    python -m benchmarks.quality.choose --rates 0.003 0.006 --model_dir DIR -- \
      -m model --model_dir {model_dir} --params_override ...={rate},...={last_rate} ...

What is in braces is filled in for each rate. The best has the highest P@1 at its last validation;
the folder gets its files, and `chosen.json`: its rate, and the P@1 of each. No more than two models
lie on the disk at a time. A choice that was interrupted goes on.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from benchmarks import runs

METRIC = "p_at_1"
CHOSEN = "chosen.json"
LAST_OF_RATE = 0.05
"""What is left of a learning rate after its decay."""


def main() -> int:
    """Trains and chooses; returns the exit status of a training that failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rates", type=float, nargs="+", required=True)
    parser.add_argument("--model_dir", type=Path, required=True, metavar="DIR")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    given = parser.parse_args()
    found = scored(given.model_dir)
    for rate in given.rates:
        if f"{rate:g}" in found:
            continue
        folder = of_rate(given.model_dir, f"{rate:g}")
        filled = {"rate": f"{rate:g}", "last_rate": f"{LAST_OF_RATE * rate:g}", "model_dir": folder}
        command = [fill(word, filled) for word in given.command[1:]]  # without --
        if status := subprocess.run([sys.executable, *command], check=False).returncode:
            return status
        found[f"{rate:g}"] = runs.last(folder / "validation")[METRIC]
        keep_best(given.model_dir, found)
    take(given.model_dir)
    return 0


def fill(word: str, values: dict[str, object]) -> str:
    """A word of the command, its names in braces replaced."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", str(value))
    return word


def of_rate(model_dir: Path, rate: str) -> Path:
    """Where the model of one rate is trained."""
    return model_dir / f"rate_{rate}"


def scored(model_dir: Path) -> dict[str, float]:
    """P@1 of the rates that are trained."""
    path = model_dir / CHOSEN
    return json.loads(path.read_text())[METRIC] if path.exists() else {}


def keep_best(model_dir: Path, found: dict[str, float]) -> None:
    """Writes down what is found, and removes all models but the best."""
    best = max(found, key=lambda rate: found[rate])
    aside = model_dir / f".{CHOSEN}.new"
    aside.write_text(json.dumps({"rate": float(best), METRIC: found}, indent=1))
    aside.replace(model_dir / CHOSEN)
    for folder in model_dir.glob("rate_*"):
        if folder != of_rate(model_dir, best):
            shutil.rmtree(folder)


def take(model_dir: Path) -> None:
    """Gives the folder the files of the model that is left."""
    for folder in model_dir.glob("rate_*"):
        for path in sorted(folder.iterdir()):
            path.rename(model_dir / path.name)
        folder.rmdir()


if __name__ == "__main__":
    sys.exit(main())
