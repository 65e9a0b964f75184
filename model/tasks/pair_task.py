"""What all tasks have in common: model, input, training step, validation step."""

import abc
from typing import Any

import tensorflow as tf
import tf_keras

from model import gradients
from model.configs import schema
from model.data.tfrecords import Records
from model.losses import GRADIENT_NORM
from model.text.preprocessing import TextToIds


class PairTask(abc.ABC):
    """A task on pairs: of texts, or of a text and a teacher's embedding of it.

    Its data and its objective are in the section `task` of the parameters or, if it is a further
    task of a run, in one of its name, such as `task.nli`. `text` is the preprocessing, if another
    task has made it already.
    """

    name: str
    loss = "loss"
    """Its name in a step's logs."""
    metrics: tuple[str, ...]
    """Names of the metrics in a step's logs; a loss ends in `loss` and is better when lower."""
    main: str
    """The metric that is shown, tells of overfitting and by default chooses the best checkpoint."""

    def __init__(
        self, params: schema.Training, *, is_further: bool = False, text: TextToIds | None = None
    ):
        self.params = params
        section = f"task.{self.name}" if is_further else "task"
        given = getattr(params, self.name) if is_further else params
        self.objective = given.objective
        self.train = Records(f"{section}.train_data", given.train_data, self.parse)
        self.validation = Records(f"{section}.validation_data", given.validation_data, self.parse)
        self.text = text or TextToIds(**params.model.text.as_dict())

    @abc.abstractmethod
    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """Serialized records, string [batch] -> a batch: ids of texts, and what labels them."""

    @abc.abstractmethod
    def measure(
        self, model: tf_keras.Model, batch: dict[str, Any], *, training: bool
    ) -> dict[str, tf.Tensor]:
        """`loss` and `metrics` of a batch: float32 scalars, means over this replica's records.

        For validation without dropout, margin and label smoothing.
        """

    def check(self, records: Records) -> dict[str, Any]:
        """As `Records.check`, before a run starts, of `train` or `validation`."""
        return records.check()

    def train_step(
        self,
        inputs: dict[str, Any],
        model: tf_keras.Model,
        optimizer: tf_keras.optimizers.legacy.Optimizer,
        *,
        measure_norm: bool | tf.Tensor = False,
        exchange_dtype: str = "float32",
    ) -> dict[str, tf.Tensor]:
        """Trains on one replica's batch; called in replica context.

        The loss is the mean over this replica's records; gradients are divided by the number of
        replicas before `gradients.Step` sums them.

        Returns:
          float32 scalars: `loss`, the task's metrics and `norm/gradient`, the norm of the gradient
          of all replicas if it is measured, otherwise NaN.
        """
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        tape = tf.GradientTape()
        with tape, gradients.Step(tape, exchange_dtype=exchange_dtype).watching() as step:
            logs = self.measure(model, inputs, training=True)
            scaled = logs[self.loss] / replicas
        norm = step.train(scaled, model.trainable_variables, optimizer, measure_norm=measure_norm)
        return logs | {GRADIENT_NORM: norm}
