"""All encoders on the same number of real pairs: size, speed, P@N, STS.

    python -m benchmarks.quality.encoders --runs runs/reproduce --data_dir DIR

Trains the rows `benchmarks/laptop_*` of `rows.yaml`, one after the other, and validates once, at
the end, on validation pairs and STS-B dev.
"""

import argparse
import os
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import runs
from benchmarks.quality.rows import Run, Table
from model import dual_encoder
from model.configs import parsing


def main() -> None:
    """Trains, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", required=True, metavar="DIR", help="with pairs/")
    parser.add_argument("--data_dir", required=True, metavar="DIR", help="with stsb/")
    given = parser.parse_args()
    table = Table({"RUNS": given.runs, "DATA": given.data_dir})
    rows = []
    for run in table.runs.values():
        if run.row.name.startswith("benchmarks/laptop_"):
            with TemporaryDirectory() as folder:
                rows.append((run.row.preset, *train(table, run, Path(folder))))
    header = ("", "parameters", "without tables", "pairs/s", "P@1", "P@10", "STS-B dev Pearson")
    print(tabulate(rows, header, floatfmt=("", "", "", ",.0f", *[".3f"] * 3), intfmt=","))


def train(table: Table, run: Run, folder: Path) -> tuple[float, ...]:
    """Trains one row: parameters, those outside of the tables, pairs per second, three scores."""
    runs.wait(runs.start(folder, shlex.split(table.train(run, model_dir=str(folder)))))
    found = runs.last(folder / "validation")
    params = parsing.parse(experiment=run.row.experiment, config_files=[table.preset(run)])
    weights = dual_encoder.build(params.task.model, seed=0).trainable_variables
    sizes = {weight.name: int(weight.shape.num_elements()) for weight in weights}
    tables = [size for name, size in sizes.items() if {"words", "bigrams"} & {*name.split("/")}]
    scores = (found[key] for key in ("p_at_1", "p_at_10", "sts_dev_pearson"))
    total = sum(sizes.values())
    return total, total - sum(tables), runs.pairs_per_second(folder), *scores


if __name__ == "__main__":
    main()
