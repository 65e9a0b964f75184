"""The DAN's training from TFRecords, text handling included, beside sentence-transformers.

    python -m benchmarks.speed.training --pairs 'DIR/train-*' --peer_python PYTHON

In turn, `--rounds` times: `python -m model` trains `laptop_dan_ngrams` at batch 256 as it is and
with 512-d words and embeddings, each beside sentence-transformers' StaticEmbedding (30,000 words)
of the same width with MultipleNegativesRankingLoss on the same pairs. Without `--peer_python` (an
interpreter that has sentence-transformers and datasets, which this project lacks) only ours trains.
Prints pairs per second without start-up, and the peak memory of the processes.
"""

import argparse
import json
import statistics
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tabulate import tabulate

from benchmarks import runs

PRESET = "laptop_dan_ngrams"
PEER = runs.REPOSITORY / "benchmarks" / "peers" / "training.py"
WIDTHS = (768, 512)
WIDTH = "task.model.encoder.averaging.{}_dim"


def main() -> None:
    """Trains, prints."""
    numbers = {"batch": 256, "steps": 600, "rounds": 3, "peer_steps": 100}
    given = runs.given(__doc__, "pairs", peer_python=None, **numbers)
    with TemporaryDirectory() as work:
        words = runs.vocabulary(Path(work), given.pairs)
        texts = Path(work, "pairs.jsonl")
        if given.peer_python:
            with texts.open("w") as file:
                for pair in runs.pairs(given.pairs):
                    file.write(json.dumps(dict(zip(runs.TEXTS, pair, strict=True))) + "\n")
        ways = {}
        for width in WIDTHS:
            ways[f"{PRESET}, {width}-d"] = partial(ours, given, words, width)
            if given.peer_python:
                ways[f"StaticEmbedding, {width}-d"] = partial(peer, given, texts, width)
        found = runs.in_turn(given.rounds, ways)
    print(runs.machine())
    rows = []
    for name, rounds in found.items():
        speeds, peaks = zip(*rounds, strict=True)
        rows.append((name, *speeds, statistics.median(speeds), max(peaks)))
    columns = [f"round {number + 1}" for number in range(given.rounds)]
    header = ("pairs/s in training", *columns, "median", "peak GB")
    formats = ("", *[",.0f"] * (given.rounds + 1), ".2f")
    print(tabulate(rows, header, floatfmt=formats))
    medians = [row[-2] for row in rows]
    if given.peer_python:
        for width, own, other in zip(WIDTHS, medians[::2], medians[1::2], strict=True):
            print(f"{width}-d: {own / other:.2f} of StaticEmbedding")


def ours(given: argparse.Namespace, words: str, width: int) -> tuple[float, float]:
    """Pairs per second and peak GB of `python -m model`."""
    override = runs.timed(given.pairs, words=words, batch=given.batch, steps=given.steps)
    override |= {WIDTH.format(part): width for part in ("word", "embedding")}
    with TemporaryDirectory() as name:
        folder = Path(name)
        peak = runs.wait(runs.start(folder, runs.training(folder, PRESET, override)))
        return runs.pairs_per_second(folder), peak


def peer(given: argparse.Namespace, texts: Path, width: int) -> tuple[float, float]:
    """Pairs per second and peak GB that the peer reports."""
    command = [given.peer_python, str(PEER), "--pairs", str(texts), "--dim", str(width)]
    command += ["--batch", str(given.batch), "--steps", str(given.peer_steps)]
    found = runs.report_of(command)
    return found["pairs_per_second"], found["peak_gb"]


if __name__ == "__main__":
    main()
