"""What TensorBoard shows of a run: described scalars, and sentences in the embedding projector."""

import io
from collections.abc import Sequence
from posixpath import join

import numpy as np
import orbit
import tensorflow as tf
from tensorboard.plugins import projector

from model.checkpoints import model_dir
from model.tasks.losses import GRADIENT_NORM
from model.training.monitoring import LOSS

PROJECTED = 2_000
"""Sentences in the projector, which lays out some thousands in a browser."""
_EMBEDDINGS, _SENTENCES = "projector_embeddings.tsv", "projector_sentences.tsv"
_OF_BATCH = "How often the true response is {} of the batch's responses; in validation too"
DESCRIPTIONS = {
    LOSS: "Loss of the step's task, the mean over the steps of a loop",
    "validation_loss": "Loss of the first task on validation records, by the plain objective",
    "p_at_1": _OF_BATCH.format("the best"),
    "p_at_3": _OF_BATCH.format("among the best 3"),
    "p_at_10": _OF_BATCH.format("among the best 10"),
    "sts_dev_pearson": "Pearson's r of -arccos(cosine) and the gold scores of task.sts_dev",
    "nli_loss": "Cross-entropy of the inference labels, the mean over the classifiers",
    "nli_accuracy": "How often the inference label is right",
    "nli_share": "Fraction of a loop's steps that trained inference",
    "teacher_loss": "Softmax over the teacher's embeddings of the batch plus the cosine term",
    "teacher_cosine": "Mean cosine of the model's and the teacher's embedding of a text",
    "teacher_share": "Fraction of a loop's steps that learned from the teacher",
    GRADIENT_NORM: "Global norm of the gradient before clipping, of one step a loop",
    "learning_rate": "The optimizer's rate at the end of a loop",
    "pairs_per_second": "Records of all tasks that training reads a second",
    "steps_per_second": "Training steps a second, validation left out",
}
"""What each scalar is, as TensorBoard shows it beside the chart."""


def summary_manager(
    folder: str | None, global_step: tf.Variable
) -> orbit.utils.SummaryManagerInterface:
    """Writes scalars with their descriptions to a folder; nothing where it is None."""
    return orbit.utils.SummaryManager(folder, _scalar, global_step=global_step)


def _scalar(name: str, value: float, step: tf.Variable) -> None:
    tf.summary.scalar(name, value, step=step, description=DESCRIPTIONS.get(name))


def write_projector(folder: str, sentences: Sequence[str], embeddings: np.ndarray) -> None:
    """Writes sentences for TensorBoard's projector; those of an earlier validation are replaced.

    Args:
      folder: of events.
      sentences: one or more.
      embeddings: float32 [sentences, dim].

    Raises:
      TrainingError: if they cannot be written.
    """
    tf.io.gfile.makedirs(folder)
    table = io.StringIO()
    np.savetxt(table, embeddings, fmt="%.4f", delimiter="\t")
    model_dir.write(join(folder, _EMBEDDINGS), table.getvalue())
    lines = [" ".join(sentence.split()) + "\n" for sentence in sentences]
    model_dir.write(join(folder, _SENTENCES), "".join(lines))
    config = projector.ProjectorConfig()
    config.embeddings.add(
        tensor_name="sentences", tensor_path=_EMBEDDINGS, metadata_path=_SENTENCES
    )
    projector.visualize_embeddings(folder, config)
