"""What a training step does, as Model Garden tasks."""

import tensorflow as tf
import tf_keras
from official.core import base_task, config_definitions, task_factory

from model import configs, inputs, losses
from model.dual_encoder import DualEncoder, Encoded
from model.text import TextToIds


@task_factory.register_task_cls(configs.ResponseSelection)
class ResponseSelectionTask(base_task.Task):
    """Picks the true response among the responses of the batch (section 2.1).

    Under a strategy with several replicas each uses the responses of its own part of the
    batch as negatives.
    """

    def build_model(self) -> tf_keras.Model:
        """The dual encoder, with its variables made."""
        tf_keras.utils.set_random_seed(self.task_config.seed)
        model = DualEncoder(self.task_config.model)
        ids = TextToIds(self.task_config.model.text)(tf.constant(["any text"]))
        model({"input": ids, "response": ids})
        return model

    def build_inputs(
        self,
        params: config_definitions.DataConfig,
        input_context: tf.distribute.InputContext | None = None,
    ) -> tf.data.Dataset:
        """Batches of ids, from the files that `params` names."""
        name = "train_data" if params.is_training else "validation_data"
        return inputs.build_dataset(
            inputs.find_files(name, params),
            params,
            text=TextToIds(self.task_config.model.text),
            seed=self.task_config.seed,
            context=input_context,
        )

    def build_losses(
        self, labels: None, model_outputs: Encoded, aux_losses: list[tf.Tensor] | None = None
    ) -> tf.Tensor:
        """Mean over the replica's pairs: float32 scalar."""
        del labels
        loss = losses.in_batch_softmax(model_outputs, configs.Objective()).loss
        return tf.add_n([loss, *aux_losses]) if aux_losses else loss

    def build_metrics(self, training: bool = True) -> list[tf_keras.metrics.Metric]:
        """`p_at_1`: how often the true response scores highest in its batch."""
        del training
        return [tf_keras.metrics.SparseCategoricalAccuracy(name="p_at_1")]

    def process_metrics(
        self, metrics: list[tf_keras.metrics.Metric], labels: None, model_outputs: Encoded
    ) -> None:
        """Updates `p_at_1`."""
        del labels
        scored = losses.in_batch_softmax(model_outputs, configs.Objective())
        for metric in metrics:
            metric.update_state(scored.labels, scored.scores)
