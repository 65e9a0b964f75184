"""A module of each variant, with its size and how it scores beside the first.

The scores come from `python -m evaluation sts`, run as a user runs it.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tabulate import tabulate

from export.saved_model import amend
from model.errors import InputError

REPOSITORY = Path(__file__).parents[2]


def score(module: Path, data: Path) -> dict[str, float]:
    """Pearson by data set; the results also go into the module's card.

    Raises:
      InputError: if `python -m evaluation sts` fails, with what it says.
    """
    with tempfile.TemporaryDirectory() as results:
        command = [sys.executable, "-m", "evaluation", "sts", "--module", str(module)]
        command += ["--data", str(data.resolve()), "--output", results]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise InputError(f"--sts: python -m evaluation sts: {reason.removeprefix('error: ')}")
        amend.with_scores(module, Path(results))
        found = [json.loads(path.read_text()) for path in sorted(Path(results).glob("*.json"))]
    return {result["name"]: result["metrics"]["pearson"] for result in found}


def size(module: Path) -> int:
    """Bytes on disk."""
    return sum(path.stat().st_size for path in module.rglob("*") if path.is_file())


def table(sizes: dict[str, int], pearsons: dict[str, dict[str, float]]) -> str:
    """A row a variant; differences are to the first one."""
    first = next(iter(sizes))
    rows = []
    for name in sizes:
        row: list[Any] = [name, sizes[name] / 1e6, sizes[name] / sizes[first]]
        for data, value in pearsons.get(name, {}).items():
            row += [value, value - pearsons[first][data]]
        rows.append(row)
    data_sets = pearsons.get(first, {})
    header = ["variant", "MB", "of the first"]
    header += [column for data in data_sets for column in (f"{data} Pearson", "change")]
    floats = ("", ".1f", ".2f", *(".4f", "+.4f") * len(data_sets))
    return tabulate(rows, header, floatfmt=floats)
