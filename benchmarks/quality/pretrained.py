"""Puts the small module into the repository: `make pretrained` calls it.

    python -m benchmarks.quality.pretrained --runs runs/pretrained --output pretrained

Adds the scores to the model cards of the small and the full module. Writes the small one to
`conversations-small/`, the checksums of its files to `SHA256SUMS` and a page that compares the two
to `README.md`. A module that is too large, or scores too far below the full one, is refused.
"""

import argparse
import hashlib
import os
import shutil
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import page
from evaluation.data.sts_files import OFFICIAL_COUNTS
from export import add_scores
from export.card import identity, scores
from model import output_folder
from model.errors import InputError

SMALL, FULL = "small", "full"
NAME = "conversations-small"
MOST_BYTES = 20_000_000
MOST_BELOW = 0.01
"""Pearson's r on STS-B dev, below that of the full module. No test set decides anything."""
SHOWN = {
    ("sts", "sts-test"): {"pearson": "STS Benchmark, test: Pearson's r"},
    ("sts", "sts-dev"): {"pearson": "STS Benchmark, dev: Pearson's r"},
    ("response_ranking", "response_ranking"): {
        "p_at_1": "replies of validation threads: P@1 of 100",
        "p_at_10": "the same: P@10 of 100",
    },
    ("snli", "snli-test"): {"accuracy": "SNLI, test: accuracy"},
    ("cqa", "cqa-SemEval2016-Task3-CQA-QL-dev"): {"map": "SemEval 2016 task 3, dev: MAP"},
}
"""(task, name of the result) -> its metrics, and what the page calls them."""


def main() -> None:
    """Writes the folder; exits with one line and status 1 if the module is not good enough."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR", help="with modules/")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="to write")
    given = parser.parse_args()
    try:
        publish(given.runs, given.output)
    except (InputError, OSError) as error:
        sys.exit(f"error: {error}")


def publish(runs: Path, output: Path) -> None:
    """Writes the module, its checksums and its page.

    Args:
      runs: the folder of `make pretrained`, with `modules/` and `results/`.
      output: the folder to write; what it holds is replaced.

    Raises:
      InputError: if the small module is too large or too far below the full one.
    """
    modules = {row: runs / "modules" / "pretrained" / f"{row}-0" for row in (SMALL, FULL)}
    for row, module in modules.items():
        add_scores(module, runs / "results" / "pretrained" / f"{row}-0")
    found = {row: _scores(module) for row, module in modules.items()}
    _require_good(found, size=_size(modules[SMALL]))
    with output_folder.aside(output) as new:
        shutil.copytree(modules[SMALL], new / NAME)
        (new / "SHA256SUMS").write_text(_checksums(new))
        (new / "README.md").write_text(_page(modules, found))
    print(f"-> {output}/{NAME}, {_size(output / NAME) / 1e6:.1f} MB; full: {modules[FULL]}")


def _scores(module: Path) -> dict[tuple[str, str], dict[str, Any]]:
    stored = scores.load(module / identity.FOLDER / identity.SCORES)
    return {(one["task"], one["name"]): one for one in stored}


def _require_good(found: dict[str, dict], *, size: int) -> None:
    if size > MOST_BYTES:
        raise InputError(f"{NAME} has {size:,} bytes; accepted: {MOST_BYTES:,}")
    small, full = (found[row]["sts", "sts-dev"]["metrics"]["pearson"] for row in (SMALL, FULL))
    if small < full - MOST_BELOW:
        raise InputError(
            f"{NAME}: Pearson's r of STS-B dev is {small:.4f}, of the full module {full:.4f}; "
            f"accepted: {MOST_BELOW} less"
        )


def _size(module: Path) -> int:
    return sum(file.stat().st_size for file in module.rglob("*") if file.is_file())


def _checksums(folder: Path) -> str:
    """As `sha256sum` writes and checks them."""
    files = sorted(file for file in (folder / NAME).rglob("*") if file.is_file())
    digests = (hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
    return "".join(
        f"{digest}  {file.relative_to(folder)}\n"
        for digest, file in zip(digests, files, strict=True)
    )


def _page(modules: dict[str, Path], found: dict[str, dict]) -> str:
    teacher = next(
        data["encoder"]["name"]
        for data in identity.read(modules[SMALL])["training_data"]
        if "encoder" in data
    )
    rows = []
    for key, metrics in SHOWN.items():
        for metric, title in metrics.items():
            row = [title]
            for name in (SMALL, FULL):
                low, high = found[name][key]["intervals"][metric]
                row.append(f"{found[name][key]['metrics'][metric]:.3f} ({low:.3f} to {high:.3f})")
            rows.append([*row, f"{found[SMALL][key]['n']:,}"])
    sizes = (f"{_size(module) / 1e6:,.1f} MB" for module in modules.values())
    rows.append(["size on disk", *sizes, ""])
    table = tabulate(rows, ("", f"`{NAME}`", "the full module", "n"), tablefmt="github")
    pairs = OFFICIAL_COUNTS["sts-test"]
    return PAGE.format(
        name=NAME,
        teacher=teacher,
        table=table,
        about=page.about(),
        pairs=pairs,
        of_teacher=OF_TEACHER.get(teacher, ""),
    )


PAGE = """# Pretrained modules

`{name}` maps English text to 512-dimensional vectors. Its [model card]({name}/README.md)
says how to load it, what it was trained on and what it cannot do.

    cd pretrained && sha256sum --check SHA256SUMS

{table}

In parentheses: 95% intervals over the items. `make pretrained DATA=DIR` made both modules, on
{about}. The small one has fewer words
(those in at least 20 responses of the training pairs), fewer n-grams, shorter vectors, a smaller
NLI classifier and weights of 8 bits. Neither was trained on a text of the STS Benchmark or of
SNLI's test set.

## Licence

The module has the licence of the project, Apache 2.0. It learned from

- Reddit comments and their replies. The texts belong to their authors. The module holds no text,
  only words that occur in at least 20 responses.
- sentence pairs with inference labels: a part of SNLI (CC BY-SA 4.0) and of its counterfactually
  augmented revisions (Apache 2.0).
- the embeddings that `{teacher}` gives to some of these texts.{of_teacher}
"""
OF_TEACHER = {
    "all-MiniLM-L6-v2": """ all-MiniLM-L6-v2 has the
  licence Apache 2.0. It was trained on Reddit comments of 2015 to 2018, among other data, so it may
  know the ranked replies."""
}
"""What the page says of a teacher, besides its name."""


if __name__ == "__main__":
    main()
