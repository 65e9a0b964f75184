"""The whole of figure 1 of Prijatelj et al. 2017: words of two sentences -> a score."""

from collections.abc import Iterator, Sequence

import numpy as np
import tensorflow as tf

from model.sts_regression.choices import Choices
from model.sts_regression.data.pairs import HIGHEST
from model.sts_regression.data.vectors import PADDING
from model.sts_regression.experiments import Experiment
from model.sts_regression.layers.embeddings import Embedded, Materials, Words

IDS = tf.TensorSpec([None, None], tf.int32)


class Regressor(tf.Module):
    """Word vectors, a sentence embedding on each side, a comparator."""

    def __init__(
        self,
        experiment: Experiment,
        choices: Choices,
        *,
        table: np.ndarray,
        training: Sequence[Sequence[int]],
        seed: int,
    ):
        """`table` and `training` as in `Materials`; the same seed starts the same weights."""
        super().__init__(name="regressor")
        materials = Materials(
            choices, choices.units or table.shape[1], table, training, _seeds(seed)
        )
        self._table = tf.Variable(table, trainable=choices.train_vectors, name="word_vectors")
        self._embedders = [
            experiment.embedding(materials) for _ in range(2 if choices.encoders == "two" else 1)
        ]
        self._compare = experiment.comparator(materials, width=self._embedders[0].width)

    def __call__(self, first: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
        """int32 [batch, words] twice, `PADDING` behind -> float32 [batch], any numbers."""
        sides = (self._embedders[0], self._embedders[-1])
        embedded = [self._embed(e, ids) for e, ids in zip(sides, (first, second), strict=True)]
        return self._compare(*embedded)

    @tf.function(input_signature=[IDS, IDS])
    def score(self, first: tf.Tensor, second: tf.Tensor) -> tf.Tensor:
        """As `__call__`, but in [0, 5]: what is finite outside is put at the nearer end."""
        scores = self(first, second)
        clipped = tf.clip_by_value(scores, 0.0, HIGHEST)
        return tf.where(tf.math.is_finite(scores), clipped, scores)

    def _embed(self, embedder, ids: tf.Tensor) -> Embedded:
        by_time = tf.transpose(ids)
        real = tf.cast(by_time != PADDING, tf.float32)[:, :, tf.newaxis]
        return embedder(Words(by_time, tf.gather(self._table, by_time), real))


def _seeds(seed: int) -> Iterator[int]:
    """Different ones for all weights."""
    numbers = np.random.default_rng(seed)
    while True:
        yield int(numbers.integers(2**31))
