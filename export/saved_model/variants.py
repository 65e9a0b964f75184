"""A module in each format of the weights, compared by size and by score."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tabulate import tabulate

from common.errors import InputError
from common.files import claim
from export import VARIANTS
from export.card import model_card
from export.saved_model import write

REPOSITORY = Path(__file__).parents[2]


def compare_variants(
    model_dir: str | Path, output: str | Path, *, sts: str | Path | None = None, **options: Any
) -> str:
    """Exports a module of each variant to `output/VARIANT`, and compares them.

    Args:
      model_dir: as for `export`.
      output: the folder of the modules.
      sts: STS Benchmark, a file or a folder; `python -m evaluation sts` computes the scores.
      **options: as for `export`, but for `variant` and `results`.

    Returns:
      A table of sizes and, with `sts`, of Pearson's r.

    Raises:
      InputError: as `export`, or if `sts` cannot be used.
      VerificationError: as `export`.
    """
    if sts and not Path(sts).exists():
        raise InputError(f"--sts: {str(sts)!r}: no such file or folder")
    output = Path(output).resolve()
    sizes, pearsons = {}, {}
    with claim(output):
        for variant in VARIANTS:
            module = output / variant
            write.export(model_dir, module, variant=variant, **options)
            sizes[variant] = model_card.size(module)
            if sts:
                pearsons[variant] = score(module, Path(sts))
            print(f"{variant}: verified in a fresh process", flush=True)
    return table(sizes, pearsons)


def score(module: Path, data: Path) -> dict[str, float]:
    """Pearson's r by data set; the results are also added to the module's card.

    Raises:
      InputError: if `python -m evaluation sts` fails, with its message.
    """
    with tempfile.TemporaryDirectory() as results:
        command = [sys.executable, "-m", "evaluation", "sts", "--module", str(module)]
        command += ["--data", str(data.resolve()), "--output", results]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise InputError(f"--sts: python -m evaluation sts: {reason.removeprefix('error: ')}")
        write.add_scores(module, results)
        found = [json.loads(path.read_text()) for path in sorted(Path(results).glob("*.json"))]
    return {result["name"]: result["metrics"]["pearson"] for result in found}


def table(sizes: dict[str, int], pearsons: dict[str, dict[str, float]]) -> str:
    """A row for each variant; changes are relative to the first."""
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
