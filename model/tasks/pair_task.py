"""What all tasks have in common: model, input, training step, validation step."""

import abc
from typing import Any

import tensorflow as tf
import tf_keras
from official.core import base_task

from model import dual_encoder
from model.checkpoints import trained
from model.configs import schema
from model.data import input_pipeline, tfrecords
from model.data.task_sampler import TaskSampler
from model.dual_encoder import DualEncoder
from model.initializers import word_vectors
from model.losses import GRADIENT_NORM
from model.text.preprocessing import TextToIds


class PairTask(base_task.Task):
    """A Model Garden task on pairs: of texts, or of a text and a teacher's embedding of it.

    The Model Garden's trainers and those of `model.training` call the same `train_step` and
    `validation_step`.
    """

    default_name: str
    """Names the task in logs, unless another name is given."""
    id_feature: str
    """The feature of a record that identifies it."""
    metrics: tuple[str, ...]
    """Names of the metrics in a step's logs."""

    def __init__(
        self,
        params: schema.Training,
        logging_dir: str | None = None,
        name: str | None = None,
        *,
        section: str = "task",
        text: TextToIds | None = None,
    ):
        """Makes the task.

        Args:
          params: the task's configuration.
          logging_dir: as of every Model Garden task; not used.
          name: names the task in logs.
          section: of its data in the parameters: `task` or, of a multitask run, `task.nli`.
          text: the preprocessing, if another task has made it already.
        """
        super().__init__(params, logging_dir, name or self.default_name)
        self.section = section
        self.text = text or TextToIds(**params.model.text.as_dict())

    def build_model(self) -> DualEncoder:
        """A new model, its weights drawn by the task's seed."""
        return dual_encoder.build(self.task_config.model, seed=self.task_config.seed)

    def initialize(self, model: DualEncoder) -> None:
        """Gives a new model the weights of `init_checkpoint`, or word vectors, as configured.

        Raises:
          InputError: if the checkpoint, or the texts or file of the word vectors, cannot be used.
        """
        config = self.task_config
        if config.init_checkpoint:
            trained.initialize(model, config.init_checkpoint)
        else:
            word_vectors.begin(model, self)

    @abc.abstractmethod
    def parse(self, serialized: tf.Tensor) -> dict[str, Any]:
        """Serialized records, string [batch] -> a batch: ids of texts, and what labels them."""

    @abc.abstractmethod
    def forward(self, model: tf_keras.Model, batch: dict[str, Any], *, training: bool) -> Any:
        """The model's outputs for a batch."""

    @abc.abstractmethod
    def measure(self, batch: dict[str, Any], outputs: Any, *, training: bool) -> dict[str, Any]:
        """`loss` and `metrics` of a batch: float32 scalars, means over this replica's records."""

    def build_inputs(
        self, params: schema.Data, input_context: tf.distribute.InputContext | None = None
    ) -> tf.data.Dataset:
        """Batches for each replica: endless and shuffled to train on, one pass to validate."""
        context = input_context or tf.distribute.InputContext()
        if not params.is_training:
            return input_pipeline.validation_batches(self, params, context)
        seed = self.task_config.seed
        return input_pipeline.training_batches(
            input_pipeline.make_source(f"{self.section}.train_data", params, seed=seed),
            self,
            sampler=TaskSampler([params], shares=[], seed=seed),
            index=0,
            start=0,
            context=context,
        )

    def check_data(self, name: str, params: schema.Data) -> None:
        """Checks that there are records, of the task's kind, before a run starts.

        Args:
          name: of the section, such as `task.train_data`.
          params: where the records are.

        Raises:
          InputError: if there are no files, fewer records than a batch, or they are of another
            kind.
        """
        tfrecords.check(name, params, self.parse)

    def build_losses(
        self, labels: dict[str, Any], model_outputs: Any, aux_losses: Any = None
    ) -> tf.Tensor:
        """The training loss of a batch (`labels`): float32 scalar."""
        del aux_losses
        return self.measure(labels, model_outputs, training=True)[self.loss]

    def build_metrics(self, training: bool = True) -> list[tf_keras.metrics.Metric]:
        """Means over the batches; named alike in training and validation."""
        del training
        return [tf_keras.metrics.Mean(name, dtype=tf.float32) for name in self.metrics]

    def train_step(
        self,
        inputs: dict[str, Any],
        model: tf_keras.Model,
        optimizer: tf_keras.optimizers.legacy.Optimizer,
        metrics: list[tf_keras.metrics.Metric] | None = None,
        *,
        measure_norm: bool | tf.Tensor = False,
    ) -> dict[str, tf.Tensor]:
        """Trains on one replica's batch; called in replica context.

        The loss is the mean over this replica's records; gradients are divided by the number of
        replicas before the optimizer sums them.

        Args:
          inputs: a batch, as `parse` returns it.
          model: a `DualEncoder`.
          optimizer: with or without loss scaling.
          metrics: of `build_metrics`; updated with this batch.
          measure_norm: bool scalar, whether to compute the gradient's norm, otherwise NaN. Rows
            of a table that occur in both texts count twice.

        Returns:
          float32 scalars: `loss`, the task's metrics and `norm/gradient`.
        """
        replicas = tf.distribute.get_strategy().num_replicas_in_sync
        has_scaled_loss = isinstance(optimizer, tf_keras.mixed_precision.LossScaleOptimizer)
        with tf.GradientTape() as tape:
            outputs = self.forward(model, inputs, training=True)
            logs = self.measure(inputs, outputs, training=True)
            scaled = logs[self.loss] / replicas
            if has_scaled_loss:
                scaled = optimizer.get_scaled_loss(scaled)
        variables = model.trainable_variables
        gradients = tape.gradient(scaled, variables)
        if has_scaled_loss:
            gradients = optimizer.get_unscaled_gradients(gradients)
        # A task does not use another task's head.
        used = [
            (gradient, variable)
            for gradient, variable in zip(gradients, variables, strict=True)
            if gradient is not None
        ]
        norm = tf.cond(
            tf.convert_to_tensor(measure_norm),
            lambda: tf.linalg.global_norm([gradient for gradient, _ in used]) * replicas,
            lambda: tf.constant(float("nan")),
        )
        optimizer.apply_gradients(used)
        _update(metrics, logs)
        return logs | {GRADIENT_NORM: norm}

    def validation_step(
        self,
        inputs: dict[str, Any],
        model: tf_keras.Model,
        metrics: list[tf_keras.metrics.Metric] | None = None,
    ) -> dict[str, tf.Tensor]:
        """Loss and metrics of a batch, without dropout, margin or label smoothing."""
        outputs = self.inference_step(inputs, model)
        logs = self.measure(inputs, outputs, training=False)
        _update(metrics, logs)
        return logs

    def inference_step(self, inputs: dict[str, Any], model: tf_keras.Model) -> Any:
        """The model's outputs for a batch, without dropout."""
        return self.forward(model, inputs, training=False)


def _update(metrics: list[tf_keras.metrics.Metric] | None, logs: dict[str, tf.Tensor]) -> None:
    for metric in metrics or []:
        metric.update_state(logs[metric.name])
