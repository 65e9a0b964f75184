"""A linear map of inputs, learned on pairs: the baseline MAP of Henderson et al. 2019.

"A Repository of Conversational Datasets", section 4: response selection with vectors of an encoder
that stays as it is. The score of a response is (u + u W) . v, with u and v of length 1. The map is
here on the inputs, theirs is on the responses: the products are the same. It is learned with their
loss, a softmax over the responses of a batch of 100, and chosen by the accuracy on held out pairs.
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf
import tf_keras

from common.errors import InputError
from evaluation.data.ranking_files import Pair, blocks
from evaluation.metrics.similarity import unit

LEARNING_RATES = (1e-2, 1e-3)
PENALTIES = (0.0, 1e-3)  # of the sum of squares of W
SCALE = 20.0  # of the scores in the softmax: cosines alone are too close to each other
BATCH = 100
MOST_PASSES = 10
PATIENCE = 2  # passes without a better P@1


class LinearMap:
    """An encoder with a learned linear map behind it, for response ranking alone."""

    tasks = ("response_ranking",)

    def __init__(self, encoder, training: Sequence[Pair], validation: Sequence[Pair]):
        """Keep the pairs to learn the map on and those to choose it on, 100 or more of each.

        The encoder gives dense vectors; if it has `fit`, that sees the texts of all pairs.
        """
        for name, pairs in (("training", training), ("validation", validation)):
            if len(pairs) < BATCH:
                said = f"{len(pairs)} {name} pairs; accepted: {BATCH} or more"
                raise InputError(f"--training_pairs: {said}")
        self.path = f"{encoder.path} mapped"
        self._encoder, self._training, self._validation = encoder, training, validation

    def fit(self, texts: Sequence[str]) -> "LinearMap":
        """Learn W, that of the highest P@1 on the validation pairs, or 0; return itself."""
        if hasattr(self._encoder, "fit"):
            known = [text for pair in (*self._training, *self._validation) for text in pair[:2]]
            self._encoder.fit([*known, *texts])
        learned_on, chosen_on = self._encoded(self._training), self._encoded(self._validation)
        dim = learned_on[0].shape[1]
        self.weights, about = np.zeros((dim, dim), dtype=np.float32), "W is 0"
        identity = reached = _p_at_1(self.weights, *chosen_on)
        for rate, penalty in itertools.product(LEARNING_RATES, PENALTIES):
            waited, highest = 0, -1.0
            for number, weights in enumerate(_passes(*learned_on, rate, penalty), start=1):
                score = _p_at_1(weights, *chosen_on)
                if score > reached:
                    self.weights, reached = weights, score
                    about = f"rate {rate:g}, penalty {penalty:g}, {number} passes"
                waited = 0 if score > highest else waited + 1
                highest = max(highest, score)
                if waited == PATIENCE:
                    break
        about += f", on {len(self._training):,} pairs; P@1 of {BATCH} on {len(self._validation):,}"
        self.about = f"{about} validation pairs {reached:.4f}, without the map {identity:.4f}"
        return self

    def encode_inputs(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the mapped inputs: float32 [len(sentences), dim]."""
        rows = unit(self._encoder.encode_inputs(sentences))
        return rows + rows @ self.weights

    def encode_responses(self, sentences: Sequence[str]) -> np.ndarray:
        """Return the responses, of length 1: float32 [len(sentences), dim]."""
        return unit(self._encoder.encode_responses(sentences))

    def provenance(self) -> dict:
        """Return that of the encoder, and how the map was learned."""
        of = self._encoder.provenance()
        digest = f"{of['fingerprint']}, {self.about}"
        return of | {"path": self.path, "fingerprint": digest, "about": self.about}

    def _encoded(self, pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray]:
        inputs, responses = zip(*(pair[:2] for pair in pairs), strict=True)
        return unit(self._encoder.encode_inputs(inputs)), self.encode_responses(responses)


def _passes(
    inputs: np.ndarray, responses: np.ndarray, rate: float, penalty: float
) -> Iterator[np.ndarray]:
    """Yield W after each pass over the pairs, both float32 [pairs, dim]."""
    weights = tf.Variable(tf.zeros([inputs.shape[1]] * 2))
    optimizer = tf_keras.optimizers.Adam(rate)

    @tf.function
    def step(u, v):
        with tf.GradientTape() as tape:
            scores = SCALE * tf.matmul(u + tf.matmul(u, weights), v, transpose_b=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(len(u)), scores)
            loss = tf.reduce_mean(losses) + penalty * tf.reduce_sum(weights**2)
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])

    pairs = tf.data.Dataset.from_tensor_slices(np.arange(len(inputs)))
    batches = pairs.shuffle(len(inputs), seed=0).batch(BATCH, drop_remainder=True)
    for _ in range(MOST_PASSES):
        for rows in batches.as_numpy_iterator():
            step(tf.constant(inputs[rows]), tf.constant(responses[rows]))
        yield weights.numpy()


def _p_at_1(weights: np.ndarray, inputs: np.ndarray, responses: np.ndarray) -> float:
    """Return how often the true response is first in its block of 100, in the pairs' order."""
    mapped = inputs + inputs @ weights
    first = [
        np.argmax(mapped[rows] @ responses[columns].T, axis=1) == np.arange(len(rows))
        for rows, columns in blocks(len(mapped), BATCH)
    ]
    return float(np.mean(np.concatenate(first)))
