"""What TensorBoard shows of a run."""

from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf
from tensorboard.plugins import base_plugin
from tensorboard.plugins.projector import projector_plugin

from model.data.task_sampler import TaskSampler
from model.training import tensorboard


def summaries(folder):
    """(step, value) of each summary."""
    files = sorted(map(str, folder.glob("events.*")))
    for record in tf.data.TFRecordDataset(files):
        event = tf.compat.v1.Event.FromString(record.numpy())
        for value in event.summary.value:
            yield event.step, value


def events(folder):
    """The values of each tag by step."""
    found = {}
    for step, value in summaries(folder):
        found.setdefault(value.tag, {})[step] = tf.make_ndarray(value.tensor)
    return found


def test_every_loop_says_how_training_goes(reddit_run):
    found = events(reddit_run / "train")
    names = {"training_loss", "p_at_1", "p_at_3", "p_at_10", "norm/gradient"}
    assert found.keys() >= names | {"learning_rate", "pairs_per_second", "steps_per_second"}
    for values in found.values():
        assert list(values) == [20, 40, 60]
        assert np.isfinite(list(values.values())).all()
    assert found["training_loss"][60] < found["training_loss"][20]
    assert found["p_at_1"][60] > found["p_at_1"][20]
    np.testing.assert_allclose(list(found["learning_rate"].values()), 0.05, rtol=1e-6)
    assert min(found["pairs_per_second"].values()) > 0
    assert min(found["norm/gradient"].values()) > 0


def test_every_validation_says_its_metrics_and_shows_mistakes(reddit_run):
    found = events(reddit_run / "validation")
    names = {"validation_loss", "p_at_1", "p_at_3", "p_at_10", "sts_dev_pearson"}
    assert found.keys() == names | {"mistakes/response_selection"}
    assert all(list(values) == [20, 40, 60] for values in found.values())
    mistakes = found["mistakes/response_selection"][20].item().decode()
    assert mistakes.startswith("**question")
    assert "true, rank " in mistakes
    assert "preferred: answer" in mistakes


@pytest.mark.slow
def test_a_run_of_two_tasks_says_both_and_their_share(reddit_nli_run, parse):
    found = events(reddit_nli_run / "train")
    assert {"training_loss", "p_at_1", "nli_loss", "nli_accuracy", "nli_share"} <= found.keys()
    shares = list(found["nli_share"].values())
    task = parse("reddit_nli").task
    drawn = TaskSampler([task.train_data, task.nli.train_data], [0.3], 0).tasks(0, 100)
    np.testing.assert_allclose(shares, drawn.reshape(-1, 20).mean(axis=1))
    assert np.mean(shares) == pytest.approx(0.3, abs=0.14)  # 3 standard deviations
    validated = events(reddit_nli_run / "validation")
    assert {"validation_loss", "p_at_1", "nli_loss", "nli_accuracy"} <= validated.keys()
    assert "mistakes/nli" in validated or validated["nli_accuracy"][100] == 1


@pytest.mark.parametrize("folder", ["train", "validation"])
def test_every_scalar_is_described(reddit_nli_run, folder):
    described = {
        value.tag: value.metadata.summary_description
        for _, value in summaries(reddit_nli_run / folder)
        if value.metadata.plugin_data.plugin_name == "scalars"
    }
    assert len(described) >= 5
    assert all(described.values()), described
    assert described["nli_accuracy"] == "How often the inference label is right"


def test_the_projector_shows_validation_sentences(reddit_run):
    """TensorBoard's own plugin reads what was written."""
    folder = reddit_run / "validation"
    runs = [SimpleNamespace(run_name="validation")]
    data_provider = SimpleNamespace(list_runs=lambda *_, **__: runs)
    context = base_plugin.TBContext(logdir=str(reddit_run), data_provider=data_provider)
    plugin = projector_plugin.ProjectorPlugin(context)
    plugin._update_configs()
    shown = plugin._configs["validation"].embeddings[0]  # before the tables of the checkpoint
    assert shown.tensor_name == "sentences"
    sentences = (folder / shown.metadata_path).read_text().splitlines()
    embeddings = np.loadtxt(folder / shown.tensor_path, delimiter="\t")
    assert list(shown.tensor_shape) == list(embeddings.shape)
    assert len(sentences) == len(set(sentences)) == len(embeddings) > 10
    assert all(sentence.startswith("question") for sentence in sentences)
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1, atol=1e-3)


def test_a_sentence_is_one_line_in_the_projector(tmp_path):
    tensorboard.write_projector(str(tmp_path), ["one\ttwo\nthree", "four"], np.eye(2, 3))
    assert (tmp_path / "projector_sentences.tsv").read_text() == "one two three\nfour\n"
    assert (tmp_path / "projector_embeddings.tsv").read_text().splitlines() == [
        "1.0000\t0.0000\t0.0000",
        "0.0000\t1.0000\t0.0000",
    ]
