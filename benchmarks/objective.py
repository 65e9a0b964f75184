"""What each option of the objective and of the optimizer does to the scores, on real pairs.

    python -m benchmarks.objective --pairs DIR --sts_dev DIR/sts-dev.csv

Trains `laptop_dan` with `python -m model` once a row: with two seeds as it stands, then with one
option changed. Validates once, at the end: on held-out pairs (`validation-*` where the pipeline
was asked for them, `test-*` else) and on STS-B dev. What two seeds differ by, no option shows.
"""

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import runs

PRESET = "laptop_dan"
MODEL = "task.model"
OBJECTIVE = "task.objective"
OPTIMIZER = "trainer.optimizer_config"
RATE = f"{OPTIMIZER}.learning_rate.polynomial"
WAYS: dict[str, dict[str, object]] = {
    "as it stands: score scale fixed at 20": {},
    "another seed": {"task.seed": 1},
    "learned score scale": {f"{MODEL}.learned_score_scale": True},
    "score scale fixed at 10": {f"{MODEL}.score_scale": 10.0},
    "both directions": {f"{OBJECTIVE}.both_directions": True},
    "margin 0.1": {f"{OBJECTIVE}.margin": 0.1},
    "duplicates masked": {f"{OBJECTIVE}.mask_duplicates": True},
    "response network added to its input": {f"{MODEL}.response_network.residual": True},
    "vectors of frequent words begin short": {"task.word_frequency_records": 100_000},
    "both of these": {
        f"{MODEL}.response_network.residual": True,
        "task.word_frequency_records": 100_000,
    },
    "no word dropout": {f"{MODEL}.encoder.averaging.word_dropout": 0.0},
    "word dropout 0.4": {f"{MODEL}.encoder.averaging.word_dropout": 0.4},
    "no warm-up": {f"{OPTIMIZER}.warmup.linear.warmup_steps": 1},
    "Adam at 0.001": {
        f"{OPTIMIZER}.optimizer.type": "adam",
        f"{RATE}.initial_learning_rate": 0.001,
        f"{RATE}.end_learning_rate": 0.00005,
    },
    "SGD at 0.01, the paper's": {
        f"{OPTIMIZER}.optimizer.type": "sgd",
        f"{RATE}.initial_learning_rate": 0.01,
        f"{RATE}.end_learning_rate": 0.01,
    },
    "SGD at 3": {
        f"{OPTIMIZER}.optimizer.type": "sgd",
        f"{RATE}.initial_learning_rate": 3.0,
        f"{RATE}.end_learning_rate": 0.15,
    },
}


def main() -> None:
    """Trains one after the other, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", required=True, metavar="DIR", help="with train-* and others")
    parser.add_argument("--sts_dev", required=True, metavar="FILE", help="STS Benchmark's")
    parser.add_argument("--train_pairs", type=int, default=900_000, metavar="N")
    parser.add_argument("--rows", nargs="+", default=WAYS, choices=WAYS, metavar="NAME")
    arguments = parser.parse_args()
    _, override = runs.brought_to(
        PRESET, arguments.train_pairs, folder=arguments.pairs, sts_dev=arguments.sts_dev
    )
    rows = []
    for name in arguments.rows:
        with TemporaryDirectory() as folder:
            started = runs.start(Path(folder), PRESET, override | WAYS[name], mode="train_and_eval")
            runs.wait(started)
            found = runs.last(Path(folder) / "validation")
        rows.append((name, *(found[key] for key in ("p_at_1", "p_at_10", "sts_dev_pearson"))))
        print(f"{name}: {rows[-1][1:]}", flush=True)
    print(f"\n{PRESET}, {arguments.train_pairs:,} pairs each")
    header = ("", "P@1", "P@10", "STS-B dev Pearson")
    print(tabulate(rows, header, floatfmt=("", ".3f", ".3f", ".3f")))


if __name__ == "__main__":
    main()
