"""All encoders on the same number of real pairs: size, speed, P@N, STS.

    python -m benchmarks.encoders --pairs DIR --sts_dev DIR/sts-dev.csv

Trains each `laptop_` preset with `python -m model`, its warm-up and decay brought to the number
of pairs, and validates once, at the end: on held-out pairs (`validation-*` where the pipeline
was asked for them, `test-*` else) and on STS-B dev.
"""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from official.core.config_definitions import ExperimentConfig
from tabulate import tabulate

from benchmarks import runs
from benchmarks.options import at_least
from model import dual_encoder

PRESETS = ("laptop_dan", "laptop_transformer", "laptop_lstm", "laptop_bilstm")
TABLES = ("words", "bigrams")


def main() -> None:
    """Trains one after the other, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", required=True, metavar="DIR", help="with train-* and others")
    parser.add_argument("--sts_dev", required=True, metavar="FILE", help="STS Benchmark's")
    parser.add_argument("--train_pairs", type=at_least(1), default=100_000, metavar="N")
    parser.add_argument(
        "--presets", nargs="+", choices=runs.presets(), default=PRESETS, metavar="NAME"
    )
    arguments = parser.parse_args()
    for preset in arguments.presets:
        recipe(preset, arguments)  # refuses too few pairs
    rows = []
    for preset in arguments.presets:
        with TemporaryDirectory() as folder:
            rows.append((preset, *train(preset, arguments, Path(folder))))
        print(f"{preset} done", flush=True)
    header = ("", "parameters", "without tables", "pairs/s", "P@1", "P@10", "STS-B dev Pearson")
    print(f"\n{arguments.train_pairs:,} pairs each")
    print(tabulate(rows, header, floatfmt=("", "", "", ",.0f", ".3f", ".3f", ".3f"), intfmt=","))


def recipe(
    preset: str, arguments: argparse.Namespace
) -> tuple[ExperimentConfig, dict[str, object]]:
    """A preset's parameters, and those that bring it to the number of pairs."""
    return runs.brought_to(
        preset, arguments.train_pairs, folder=arguments.pairs, sts_dev=arguments.sts_dev
    )


def train(preset: str, arguments: argparse.Namespace, folder: Path) -> tuple[float, ...]:
    """What stands in a preset's row."""
    params, override = recipe(preset, arguments)
    runs.wait(runs.start(folder, preset, override, mode="train_and_eval"))
    found = runs.last(folder / "validation")
    weights = dual_encoder.build(params.task.model, seed=0).trainable_variables
    sizes = [(weight.name, int(weight.shape.num_elements())) for weight in weights]
    return (
        sum(size for _, size in sizes),
        sum(size for name, size in sizes if not any(f"/{table}/" in name for table in TABLES)),
        runs.pairs_per_second(folder),
        found["p_at_1"],
        found["p_at_10"],
        found["sts_dev_pearson"],
    )


if __name__ == "__main__":
    main()
