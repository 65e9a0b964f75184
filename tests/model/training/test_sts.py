"""The correlation on STS while training goes on."""

from types import SimpleNamespace

import numpy as np
import tensorflow as tf

from common.sts import Pair
from model.training.validation import pearson

VECTORS = {b"east": [1.0, 0.0], b"north": [0.0, 1.0], b"northeast": [0.5**0.5, 0.5**0.5]}


def test_pearsons_r_of_three_pairs_by_hand():
    # The angles are 0, 45 and 90 degrees.
    golds = {"east": 5.0, "northeast": 3.0, "north": 0.0}
    model = SimpleNamespace(
        text=lambda sentences: sentences,
        encode_inputs=lambda ids: tf.constant([VECTORS[sentence] for sentence in ids.numpy()]),
    )
    found = pearson(model, [Pair("", gold, "east", other) for other, gold in golds.items()])
    # 1, 0, -1 beside 7/3, 1/3, -8/3: 5 / sqrt(2 * 114/9)
    np.testing.assert_allclose(found, 5 / np.sqrt(2 * 114 / 9), rtol=1e-6)
