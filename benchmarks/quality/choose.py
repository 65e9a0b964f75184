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
from common.files import write_json

METRIC = "p_at_1"
LAST_OF_RATE = 0.05
"""What is left of a learning rate after its decay."""


def main() -> int:
    """Trains and chooses; returns the exit status of a training that failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rates", type=float, nargs="+", required=True)
    parser.add_argument("--model_dir", type=Path, required=True, metavar="DIR")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    given = parser.parse_args()
    chosen = given.model_dir / "chosen.json"
    found: dict[str, float] = json.loads(chosen.read_text())[METRIC] if chosen.exists() else {}
    for rate in (f"{rate:g}" for rate in given.rates):
        if rate in found:
            continue
        folder = given.model_dir / f"rate_{rate}"
        last_rate = f"{LAST_OF_RATE * float(rate):g}"
        values = {"rate": rate, "last_rate": last_rate, "model_dir": str(folder)}
        command = [fill(word, values) for word in given.command[1:]]  # without --
        if status := subprocess.run([sys.executable, *command], check=False).returncode:
            return status
        found[rate] = runs.last(folder / "validation")[METRIC]
        best = max(found, key=lambda rate: found[rate])
        write_json(chosen, {"rate": float(best), METRIC: found})
        for other in given.model_dir.glob("rate_*"):
            if other.name != f"rate_{best}":
                shutil.rmtree(other)
    for folder in given.model_dir.glob("rate_*"):  # the best one
        for path in sorted(folder.iterdir()):
            path.rename(given.model_dir / path.name)
        folder.rmdir()
    return 0


def fill(word: str, values: dict[str, str]) -> str:
    """Returns a word of the command, its names in braces replaced."""
    for name, value in values.items():
        word = word.replace(f"{{{name}}}", value)
    return word


if __name__ == "__main__":
    sys.exit(main())
