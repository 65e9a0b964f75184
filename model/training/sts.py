"""How well similarities of embeddings agree with people's, while training goes on.

One file of the STS Benchmark, its `sts-dev.csv`; `python -m evaluation sts` does the real thing.
"""

from typing import NamedTuple, Self

import numpy as np
import tensorflow as tf
from scipy import stats

from model.dual_encoder import DualEncoder
from model.errors import InputError
from model.text.preprocessing import TextToIds

_SCORE, _FIRST, _SECOND = 4, 5, 6
"""Columns, behind tabs; quotes are text (the readme of the STS Benchmark)."""
_AT_ONCE = 500


class StsPairs(NamedTuple):
    """Pairs of sentences and how similar people find them."""

    first: list[str]
    second: list[str]
    gold: list[float]
    """0 to 5."""
    text: TextToIds

    @classmethod
    def read(cls, path: str, text: TextToIds) -> Self:
        """Reads a file of the STS Benchmark.

        Raises:
          InputError: if it cannot be read, or a line is none of its lines.
        """
        pairs = cls([], [], [], text)
        try:
            with tf.io.gfile.GFile(path) as file:
                for line in file:
                    columns = line.rstrip("\n").split("\t")
                    pairs.first.append(columns[_FIRST])
                    pairs.second.append(columns[_SECOND])
                    pairs.gold.append(float(columns[_SCORE]))
        except (tf.errors.OpError, UnicodeDecodeError, ValueError, IndexError) as error:
            raise InputError(
                f"task.sts_dev: {path!r}, line {len(pairs.gold) + 1}: {error}; accepted are files "
                "of the STS Benchmark, such as sts-dev.csv"
            ) from error
        if len(pairs.gold) < 2:
            raise InputError(f"task.sts_dev: {path!r} has {len(pairs.gold)} pairs; at least 2")
        return pairs

    def pearson(self, model: DualEncoder) -> float:
        """Pearson's r between -arccos(cosine) and the gold scores (section 4.3)."""
        first, second = (self._embed(model, side) for side in (self.first, self.second))
        cosines = np.clip(np.sum(first * second, axis=1), -1, 1)
        return float(stats.pearsonr(-np.arccos(cosines), self.gold)[0])

    def _embed(self, model: DualEncoder, sentences: list[str]) -> np.ndarray:
        chunks = [sentences[i : i + _AT_ONCE] for i in range(0, len(sentences), _AT_ONCE)]
        return np.concatenate(
            [model.encode_inputs(self.text(tf.constant(chunk))).numpy() for chunk in chunks]
        )
