"""The page of ablations, from the models that the workflow trained: `make ablations` calls it.

    python -m benchmarks.quality.ablations --runs runs/reproduce --output ablations.md

Reads the last validation of each ablation in `rows.yaml`. Three seeds of the unchanged row show
which differences mean something.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import page, runs
from benchmarks.options import file_to_write
from benchmarks.quality.rows import Ablation, Table
from evaluation.data.sts_files import OFFICIAL_COUNTS
from evaluation.metrics import from_size

STS = "sts_dev_pearson"
NLI_BATCH = 100
"""Dev pairs are validated in whole batches."""
OFFICIAL_PAIRS = sum(OFFICIAL_COUNTS["sts-dev"].values())

LEGEND = (
    "P@N of 100 is on validation pairs, which are from the training months: do not compare it with "
    "RESULTS.md, which ranks the held-out month. In brackets: the change from the mean of the "
    "unchanged row's seeds, one run each; a change smaller than their spread means nothing. "
    "Accuracy is that of whole batches of 100 of the dev pairs."
)


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR", help="with models/")
    parser.add_argument("--output", type=file_to_write, required=True, metavar="FILE.md")
    given = parser.parse_args()
    parts = ["# Ablations", f"`make ablations DATA=DIR`, {page.about()}", LEGEND]
    for ablation in Table().ablations.values():
        found = {
            change: runs.last(given.runs / "models" / run.name / "validation")
            for change, run in ablation.runs.items()
        }
        parts += [f"## {ablation.title}", table(ablation, found)]
        parts.append(reach(ablation, next(iter(found.values())), sizes(given.runs)))
    page.write_whole(given.output, "\n\n".join(parts) + "\n")


def sizes(runs_folder: Path) -> dict[str, int]:
    """How many items each figure of a validation is over, by the data sets' manifests."""
    pairs, nli = (
        json.loads((runs_folder / name / "COMPLETED").read_text())["outputs"]
        for name in ("pairs", "nli/dev")
    )
    validation = sum(of["records"] for name, of in pairs.items() if name.startswith("validation-"))
    labelled = sum(of["records"] for name, of in nli.items() if name.startswith("nli-"))
    labelled -= labelled % NLI_BATCH
    precisions = dict.fromkeys(("p_at_1", "p_at_10"), validation)
    return precisions | {"nli_accuracy": labelled, STS: OFFICIAL_PAIRS}


def reach(ablation: Ablation, figures: dict[str, float], items: dict[str, int]) -> str:
    """A line on the 95% intervals of the unchanged row's figures."""
    said = []
    for key, label in ablation.figures.items():
        of = from_size.of_correlation if key == STS else from_size.of_proportion
        low, high = of(figures[key], items[key])
        said.append(f"{label} [{low:.3f}, {high:.3f}]")
    return (
        f"95% intervals of the first row, from the number of items: {', '.join(said)}. Rows are "
        "scored on the same items, so a difference between two of them varies less."
    )


def table(ablation: Ablation, found: dict[str, dict[str, float]]) -> str:
    """The rows as Markdown, each with its change from the mean of the unchanged row's seeds."""
    base = ablation.runs[next(iter(ablation.runs))].row
    seeds = [figures for change, figures in found.items() if ablation.runs[change].row is base]
    body = []
    for change, figures in found.items():
        cells = [change]
        for key in ablation.figures:
            difference = figures[key] - sum(one[key] for one in seeds) / len(seeds)
            cells.append(f"{figures[key]:.3f} ({difference:+.3f})")
        body.append(cells)
    aligned = ["left"] + ["right"] * len(ablation.figures)
    headers = ["", *ablation.figures.values()]
    return tabulate(body, headers, "pipe", disable_numparse=True, colalign=aligned)


if __name__ == "__main__":
    main()
