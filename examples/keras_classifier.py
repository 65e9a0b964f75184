"""Trains a classifier of texts on top of a module, frozen or trained along.

    python examples/keras_classifier.py module/ train.tsv test.tsv classifier/ --trainable

The files have a label and a text on each line, separated by a tab. Without `--trainable` only the
layer on top is trained.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import tensorflow as tf
import tensorflow_hub as hub
import tensorflow_text  # noqa: F401  (registers the ops that the module uses)
import tf_keras


def read(path: Path) -> tuple[list[str], list[str]]:
    """The labels and the texts of a file."""
    rows = [line.partition("\t") for line in path.read_text(encoding="utf-8").split("\n") if line]
    bad = next((line for line, tab, _ in rows if not tab), None if rows else "")
    if bad is not None:
        raise SystemExit(f"{path}: {bad!r}; accepted: a label, a tab and a text on each line")
    return [label for label, _, _ in rows], [text for _, _, text in rows]


def main(argv: Sequence[str] | None = None) -> None:
    """Trains, prints the accuracy on the test file, and saves the classifier."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("module", help="folder of a module")
    for name in ("train", "test"):
        parser.add_argument(name, type=Path, help="label and text on each line, separated by a tab")
    parser.add_argument("output", help="folder of the SavedModel to write: text to probabilities")
    parser.add_argument("--trainable", action="store_true", help="train the module too")
    parser.add_argument("--epochs", type=int, default=10, help="default: %(default)s")
    given = parser.parse_args(argv)

    (labels, texts), (test_labels, test_texts) = read(given.train), read(given.test)
    names = sorted(set(labels))
    if unknown := sorted(set(test_labels) - set(names)):
        raise SystemExit(f"{given.test}: {unknown[0]!r} is none of the labels of {given.train}")
    number = {name: i for i, name in enumerate(names)}
    module = hub.load(given.module)
    if given.trainable and any(weight.dtype == tf.int8 for weight in module.variables):
        raise SystemExit(f"--trainable: the int8 tables of {given.module} cannot be trained")
    layers = [
        tf_keras.layers.Input([], dtype=tf.string),
        hub.KerasLayer(module, trainable=given.trainable),
        tf_keras.layers.Dense(len(names), activation="softmax"),
    ]
    model = tf_keras.Sequential(layers)
    # Adagrad updates only the rows of the embedding tables that a batch reads; Adam updates all.
    optimizer = tf_keras.optimizers.Adagrad(0.01 if given.trainable else 0.1, 0.01)
    model.compile(optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    answers = tf.constant([number[label] for label in labels])
    model.fit(tf.constant(texts), answers, epochs=given.epochs, verbose=0)
    test_answers = tf.constant([number[label] for label in test_labels])
    _, accuracy = model.evaluate(tf.constant(test_texts), test_answers, verbose=0)
    print(f"accuracy {accuracy:.3f} on {len(test_texts)} texts; labels: {', '.join(names)}")
    model.save(given.output)


if __name__ == "__main__":
    main()
