"""What each choice of the recipe does to the scores, on pairs of held-out threads and STS-B dev.

    python -m benchmarks.ablations --pairs runs/reproduce/pairs --sts_dev stsb/sts-dev.csv \
        --work_dir runs/ablations --output benchmarks/ablations.md

Trains `laptop_dan` with words of 500 numbers by `python -m model`, once a row: with three seeds as
it stands, then with one choice changed. Validates once, at the end, on `validation-*` and on STS-B
dev; no test set is read. What seeds differ by, no choice shows. Rows that are done stay done, in
`--work_dir`; with `--at_once N` so many train beside each other, each on cores of its own.
"""

import argparse
import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from tabulate import tabulate

from benchmarks import machine, runs

PRESET = "laptop_dan"
MODEL = "task.model"
DAN = f"{MODEL}.encoder.averaging"
OBJECTIVE = "task.objective"
OPTIMIZER = "trainer.optimizer_config"
RATE = f"{OPTIMIZER}.learning_rate.polynomial"
BASE: dict[str, object] = {f"{DAN}.word_dim": 500}
AS_IT_STANDS = ("as it stands", "seed 1", "seed 2")
TWICE = "pairs"
"""Not a parameter: how many times as many pairs a row trains on."""


def _rate(start: float, end: float) -> dict[str, object]:
    return {f"{RATE}.initial_learning_rate": start, f"{RATE}.end_learning_rate": end}


WAYS: dict[str, dict[str, object]] = {
    "as it stands": {},
    "seed 1": {"task.seed": 1},
    "seed 2": {"task.seed": 2},
    "response network not added to its input": {f"{MODEL}.response_network.residual": False},
    "word vectors begin at random": {"task.word_cooccurrence_records": 0},
    "vectors of frequent words begin as long as others": {"task.word_frequency_records": 0},
    "word vectors begin at random and equally long": {
        "task.word_cooccurrence_records": 0,
        "task.word_frequency_records": 0,
    },
    "none of these": {
        f"{MODEL}.response_network.residual": False,
        "task.word_cooccurrence_records": 0,
        "task.word_frequency_records": 0,
    },
    "words of 300 numbers": {f"{DAN}.word_dim": 300},
    "embeddings of 768, words of 768": {f"{DAN}.word_dim": 768, f"{DAN}.embedding_dim": 768},
    "two hidden layers of 500 in the encoder": {f"{DAN}.hidden": "[500,500]"},
    "a hidden layer of 500 in the response network": {f"{MODEL}.response_network.hidden": "[500]"},
    "no bigrams": {f"{DAN}.bigram_dropout": 0.999},
    "half of the bigrams dropped, not 0.9": {f"{DAN}.bigram_dropout": 0.5},
    "no word dropout": {f"{DAN}.word_dropout": 0.0},
    "word dropout 0.4": {f"{DAN}.word_dropout": 0.4},
    "word dropout 0.4 and twice the passes": {f"{DAN}.word_dropout": 0.4, TWICE: 2},
    "tables of 400,000 words and 1,000,000 bigrams": {
        f"{MODEL}.text.word_buckets": 400_000,
        f"{MODEL}.text.bigram_buckets": 1_000_000,
    },
    "batches of 1,024": {
        "task.train_data.global_batch_size": 1024,
        **_rate(0.0085, 0.00042),
    },
    "batches of 256": {"task.train_data.global_batch_size": 256, **_rate(0.0042, 0.00021)},
    "score scale 10": {f"{MODEL}.score_scale": 10.0},
    "score scale 30": {f"{MODEL}.score_scale": 30.0},
    "learned score scale": {f"{MODEL}.learned_score_scale": True},
    "both directions": {f"{OBJECTIVE}.both_directions": True},
    "margin 0.1": {f"{OBJECTIVE}.margin": 0.1},
    "duplicates masked": {f"{OBJECTIVE}.mask_duplicates": True},
    "average of the weights, decay 0.99": {"trainer.average_decay": 0.99},
    "rate 0.003": _rate(0.003, 0.00015),
    "rate 0.012": _rate(0.012, 0.0006),
    "no warm-up": {f"{OPTIMIZER}.warmup.linear.warmup_steps": 1},
    "SGD at 3": {f"{OPTIMIZER}.optimizer.type": "sgd", **_rate(3.0, 0.15)},
    "SGD at 0.01, the paper's": {f"{OPTIMIZER}.optimizer.type": "sgd", **_rate(0.01, 0.01)},
}
"""Each row, and the parameters that make it."""
FIGURES = {"p_at_1": "P@1", "p_at_10": "P@10", "sts_dev_pearson": "STS-B dev, Pearson"}


def train(
    name: str, folder: Path, *, pairs: str, sts_dev: str, count: int, cores: str | None
) -> dict[str, float]:
    """Trains one row, or reads what it came to earlier: the figures of its validation."""
    done = folder / "ablation.json"
    preset = (runs.CONFIGS / f"{PRESET}.yaml").read_text()
    asked = {"way": BASE | WAYS[name], "preset": preset, "pairs": pairs, "count": count}
    if done.exists() and (stored := json.loads(done.read_text()))["asked"] == asked:
        return stored["found"]
    shutil.rmtree(folder, ignore_errors=True)
    way = BASE | WAYS[name]
    many = count * int(str(way.pop(TWICE, 1)))
    if "task.train_data.global_batch_size" in way:
        many = many * 512 // int(str(way["task.train_data.global_batch_size"]))
    _, override = runs.brought_to(PRESET, many, folder=pairs, sts_dev=sts_dev)
    runs.wait(runs.start(folder, PRESET, override | way, mode="train_and_eval", cores=cores))
    last = runs.last(folder / "validation")
    found = {key: last[key] for key in FIGURES}
    for path in (*folder.glob("ckpt*"), *folder.glob("best/ckpt*")):
        path.unlink()
    machine.write_whole(done, json.dumps({"asked": asked, "found": found}))
    return found


def table(found: dict[str, dict[str, float]]) -> str:
    """The rows as Markdown, each with what it changes of the mean of the seeds."""
    known = [found[name] for name in AS_IT_STANDS if name in found]
    mean = {key: sum(row[key] for row in known) / len(known) for key in FIGURES} if known else {}
    body = []
    for name, row in found.items():
        cells = [
            f"{row[key]:.3f}" + (f" ({row[key] - mean[key]:+.3f})" if mean else "")
            for key in FIGURES
        ]
        body.append([name, *cells])
    aligned = ["left"] + ["right"] * len(FIGURES)
    headers = ["", *FIGURES.values()]
    return tabulate(body, headers, "pipe", disable_numparse=True, colalign=aligned)


def page(made: str, arguments: Sequence[str], *, about: str, data_dir: str) -> str:
    """The table under the command that made it, in Markdown; `data_dir` stands as `DIR` on it."""
    command = shlex.join(["python", "-m", "benchmarks.ablations", *arguments])
    if data_dir:
        command = command.replace(data_dir.rstrip("/"), "DIR")
    return f"# Ablations\n\n{about}\n\n    {command}\n\n{made}\n"


def train_all(
    names: Sequence[str], work_dir: Path, *, pairs: str, sts_dev: str, count: int, at_once: int
) -> dict[str, dict[str, float]]:
    """Trains rows beside each other, each on cores of its own."""
    free: SimpleQueue[str | None] = SimpleQueue()
    for group in machine.core_groups(at_once):
        free.put(group)

    def one(name: str) -> dict[str, float]:
        cores = free.get()
        try:
            folder = work_dir / name.replace(" ", "_").replace(",", "")
            found = train(name, folder, pairs=pairs, sts_dev=sts_dev, count=count, cores=cores)
            print(f"{name}: {found}", flush=True)
            return found
        finally:
            free.put(cores)

    with ThreadPoolExecutor(at_once) as pool:
        return dict(zip(names, pool.map(one, names), strict=True))


def main() -> None:
    """Trains what is not done yet, prints and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", required=True, metavar="DIR", help="with train-*, validation-*")
    parser.add_argument("--sts_dev", required=True, metavar="FILE", help="STS Benchmark's")
    parser.add_argument("--train_pairs", type=int, default=548_000, metavar="N")
    parser.add_argument("--rows", nargs="+", default=list(WAYS), choices=WAYS, metavar="NAME")
    parser.add_argument("--work_dir", type=Path, default=Path("runs/ablations"), metavar="DIR")
    parser.add_argument("--at_once", type=int, default=1, metavar="N", help="rows, in processes")
    parser.add_argument("--output", type=Path, metavar="FILE.md")
    parser.add_argument("--data_dir", default="", help="stands as DIR on the page")
    arguments = parser.parse_args()
    if arguments.at_once < 1:
        parser.error(f"--at_once {arguments.at_once}; accepted are numbers from 1 on")
    found = train_all(
        arguments.rows,
        arguments.work_dir,
        pairs=arguments.pairs,
        sts_dev=arguments.sts_dev,
        count=arguments.train_pairs,
        at_once=arguments.at_once,
    )
    made = table(found)
    print(made)
    if arguments.output:
        about = f"{machine.about()}; {arguments.train_pairs:,} pairs a row."
        text = page(made, sys.argv[1:], about=about, data_dir=arguments.data_dir)
        machine.write_whole(arguments.output, text)


if __name__ == "__main__":
    main()
