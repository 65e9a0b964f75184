"""A step of our Transformer beside the Model Garden's dual encoder.

    python -m benchmarks.speed.transformer

Both dual encoders have the same layers, heads, hidden and filter sizes, vocabulary, dropout and
optimizer (Adam), and train on the same ids: made-up sentences of the same length without
padding. The Model Garden's is the one of its `DualEncoderTask`, with its BERT encoder; what is
beyond the blocks differs (BERT: token types, pooler; ours: projection, response network), and
where there is dropout, ours has it inside the feed-forward layers too, as tensor2tensor does.
Steps alternate, so that other work on the machine disturbs all; the times are medians.
"""

import argparse
import os
import statistics
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf
from official.modeling import optimization
from official.nlp.configs import encoders
from official.nlp.tasks import dual_encoder as garden_task
from tabulate import tabulate

from benchmarks import runs
from benchmarks.options import at_least
from data_pipeline.pairs import tfrecord
from model.configs import schema
from model.tasks.response_selection import ResponseSelectionTask
from model.text.preprocessing import (
    BIGRAMS,
    WORDS,
)

SIDES = (tfrecord.INPUT, tfrecord.RESPONSE)
Step = Callable[[Any], Any]


def main() -> None:
    """Measures, prints."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--layers", type=at_least(1), default=2, metavar="N")
    parser.add_argument("--hidden", type=at_least(1), default=256, metavar="N")
    parser.add_argument("--heads", type=at_least(1), default=4, metavar="N")
    parser.add_argument("--filter", type=at_least(1), default=1024, metavar="N")
    parser.add_argument("--words", type=at_least(2), default=30_000, metavar="N", help="vocabulary")
    parser.add_argument("--batch", type=at_least(2), default=64, metavar="N")
    parser.add_argument("--length", type=at_least(1), default=32, metavar="N")
    parser.add_argument(
        "--steps", type=at_least(1), default=20, metavar="N", help="timed ones of each"
    )
    arguments = parser.parse_args()
    if arguments.hidden % arguments.heads:
        parser.error(f"--hidden {arguments.hidden}: no multiple of --heads {arguments.heads}")
    for dropout in (0.0, 0.1):
        beside_the_garden(arguments, dropout)


def beside_the_garden(arguments: argparse.Namespace, dropout: float) -> None:
    """Prints the times of a step."""
    ids = {
        side: tf.random.stateless_uniform(
            [arguments.batch, arguments.length], [0, number], 1, arguments.words, tf.int32
        )
        for number, side in enumerate(SIDES)
    }
    ours, garden = our_step(arguments, dropout), garden_step(arguments, dropout)
    our_ids, garden_ids = our_batch(ids), garden_batch(ids)
    ways = {
        "ours": lambda: ours(our_ids).numpy(),
        "Model Garden's": lambda: garden(garden_ids).numpy(),
    }
    seconds = runs.in_turns(ways, arguments.steps, warm_up=3)
    medians = {name: statistics.median(some) for name, some in seconds.items()}
    base = medians["Model Garden's"]
    rows = [(name, 1000 * each, each / base) for name, each in medians.items()]
    print(
        f"{arguments.layers} layers, hidden {arguments.hidden}, {arguments.heads} heads, "
        f"filter {arguments.filter}, batch {arguments.batch}, length {arguments.length}, "
        f"dropout {dropout}"
    )
    header = ("dual encoder", "ms a step", "of the Garden's")
    print(tabulate(rows, header, floatfmt=("", ".0f", ".2f")), end="\n\n")


def our_step(arguments: argparse.Namespace, dropout: float) -> Step:
    """A step of our training."""
    config = our_config(arguments, dropout)
    task = ResponseSelectionTask(schema.ResponseSelection(model=config))
    model, optimizer = task.build_model(), adam()

    @tf.function(reduce_retracing=True)
    def train(batch: dict) -> tf.Tensor:
        return task.train_step(batch, model, optimizer)[task.loss]

    return train


def our_config(arguments: argparse.Namespace, dropout: float) -> schema.DualEncoder:
    """Our model, as like the Model Garden's as it can be."""
    text = schema.Text(word_buckets=arguments.words, max_tokens=arguments.length)
    transformer = schema.Transformer(
        layers=arguments.layers,
        heads=arguments.heads,
        hidden=arguments.hidden,
        filter=arguments.filter,
        embedding_dim=arguments.hidden,
        dropout=dropout,
    )
    return schema.DualEncoder(
        text=text,
        encoder=schema.Encoder(type="transformer", transformer=transformer),
        response_network=schema.ResponseNetwork(hidden=[], normalize=True),
        score_scale=20.0,
    )


def adam() -> tf.keras.optimizers.Optimizer:
    """The optimizer of both."""
    config = optimization.OptimizationConfig(
        {
            "optimizer": {"type": "adam"},
            "learning_rate": {"type": "constant", "constant": {"learning_rate": 0.0001}},
        }
    )
    factory = optimization.OptimizerFactory(config)
    return factory.build_optimizer(factory.build_learning_rate())


def our_batch(ids: dict[str, tf.Tensor]) -> dict[str, Any]:
    """A batch as our task parses it."""
    keys = {f"{side}_key": tf.range(len(of_side), dtype=tf.int64) for side, of_side in ids.items()}
    return {side: {WORDS: of_side, BIGRAMS: of_side} for side, of_side in ids.items()} | keys


def garden_step(arguments: argparse.Namespace, dropout: float) -> Step:
    """A step of the Model Garden's task."""
    bert = encoders.BertEncoderConfig(
        vocab_size=arguments.words,
        hidden_size=arguments.hidden,
        num_layers=arguments.layers,
        num_attention_heads=arguments.heads,
        intermediate_size=arguments.filter,
        hidden_activation="relu",
        dropout_rate=dropout,
        attention_dropout_rate=dropout,
        max_position_embeddings=arguments.length,
    )
    model_config = garden_task.ModelConfig(
        max_sequence_length=arguments.length,
        logit_scale=20.0,
        encoder=encoders.EncoderConfig(type="bert", bert=bert),
    )
    task = garden_task.DualEncoderTask(garden_task.DualEncoderConfig(model=model_config))
    model, optimizer = task.build_model(), adam()

    @tf.function
    def train(batch: dict) -> tf.Tensor:
        return task.train_step((batch, None), model, optimizer)[task.loss]

    return train


def garden_batch(ids: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """A batch as the Model Garden's task takes it."""
    batch = {}
    for name, of_side in zip(("left", "right"), ids.values(), strict=True):
        batch[f"{name}_word_ids"] = of_side
        batch[f"{name}_mask"] = tf.ones_like(of_side)
        batch[f"{name}_type_ids"] = tf.zeros_like(of_side)
    return batch


if __name__ == "__main__":
    main()
