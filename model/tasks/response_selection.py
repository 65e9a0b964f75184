"""Response selection: picking the true response among those of the batch (section 2.1)."""

from typing import Any

import tensorflow as tf

from common import tfrecord
from model import losses
from model.configs import schema
from model.data.tfrecords import Records, read_records
from model.dual_encoder import DualEncoder
from model.tasks.pair_task import PairTask

_STRING = tf.io.FixedLenFeature([], tf.string)
_PAIR = {tfrecord.INPUT: _STRING, tfrecord.RESPONSE: _STRING}
_CONTEXT = "context"
_EMPTY = tf.io.FixedLenFeature([], tf.string, default_value="")
_LOOKED_AT = 1000
"""Records of each file in which a context is looked for."""
_HASHES = 2**62
"""Equal texts are found by hashes below this."""
_AT = (1, 3, 10)


class ResponseSelectionTask(PairTask):
    """Trains on input-response pairs.

    A batch has the ids of `input` and `response`, and `input_key` and `response_key`, hashes of
    the texts: int64 [batch]. With `context_turns` it has those of `context`, too: the messages
    before the input in one text, the nearest first.
    """

    name = schema.RESPONSE_SELECTION
    metrics = ("p_at_1", "p_at_3", "p_at_10")
    """Precision at N: how often the true response is among the N with the highest scores."""
    main = "p_at_1"

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        turns = range(self.params.model.context_turns)
        self._context = {tfrecord.CONTEXT.format(turn): _EMPTY for turn in turns}

    def check(self, records: Records) -> dict[str, Any]:
        """Also checks that pairs have a context, if the model reads it.

        Raises:
          InputError: also if none of the first 1,000 records of any file has one.
        """
        firsts = super().check(records)
        if not self._context:
            return firsts
        for file in firsts:
            for some in read_records([file]).batch(_LOOKED_AT).take(1):
                turns = tf.io.parse_example(some, self._context)
                if tf.reduce_any(self._joined(turns) != ""):
                    return firsts
        raise records.error(
            f"no record from {next(iter(firsts))!r} on has a context, which "
            "task.model.context_turns needs; `python -m data_pipeline` writes it with "
            "--context_turns"
        )

    def _joined(self, turns: dict[str, tf.Tensor]) -> tf.Tensor:
        """The messages before each input in one text, the nearest first: string [batch]."""
        joined = tf.strings.join([turns[name] for name in self._context], separator=" ")
        return tf.strings.strip(joined)

    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """Pairs, string [batch] -> a batch."""
        texts = tf.io.parse_example(serialized, _PAIR | self._context)
        ids = {name: self.text(texts[name]) for name in _PAIR}
        keys = {
            f"{name}_key": tf.strings.to_hash_bucket_fast(texts[name], _HASHES) for name in _PAIR
        }
        if self._context:
            ids[_CONTEXT] = self.text(self._joined(texts))
        return ids | keys

    def measure(
        self, model: DualEncoder, batch: dict[str, Any], *, training: bool
    ) -> dict[str, tf.Tensor]:
        """In-batch softmax loss and P@N; validation has the paper's loss, whatever is trained."""
        encoded = model(batch, training=training)
        objective = self.objective if training else schema.Objective()
        keys = losses.Keys(batch[f"{tfrecord.INPUT}_key"], batch[f"{tfrecord.RESPONSE}_key"])
        scored = losses.in_batch_softmax(encoded, objective, keys=keys)
        ranks = losses.ranks(scored)
        precisions = [tf.reduce_mean(tf.cast(ranks < at, tf.float32)) for at in _AT]
        return {self.loss: scored.loss} | dict(zip(self.metrics, precisions, strict=True))
