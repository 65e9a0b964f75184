"""The trained model of a folder, and weights to begin another run with."""

import numpy as np
import pytest
import tensorflow as tf

from common import sts
from common.errors import InputError
from model.checkpoints import model_dir, record, trained
from model.dual_encoder import build
from model.ema import WeightAverage
from model.training.validation import pearson


@pytest.fixture
def blank(parse):
    """Makes an untrained model."""

    def make(*experiment, **changes):
        return build(parse(*experiment, **changes).task.model, seed=9)

    return make


def assert_same(layer, expected):
    for weight, value in zip(layer.trainable_weights, expected, strict=True):
        np.testing.assert_array_equal(weight, value)


def save(model, params, folder, **more):
    """A model folder of a model."""
    checkpoint = tf.train.Checkpoint(model=model, **more).save(f"{folder}/ckpt")
    model_dir.write(params, folder, record.Record())
    return checkpoint


def test_a_model_is_the_average_that_was_validated(reddit_run, sts_dev):
    best = record.read(reddit_run / "best").best
    assert best.metric == "sts_dev_pearson"
    for folder in (reddit_run, reddit_run / "best"):
        model, _ = trained.load(folder)
        saved = tf.train.load_checkpoint(str(folder))
        for index, weight in enumerate(model.trainable_variables):
            name = f"average/values/{index}/.ATTRIBUTES/VARIABLE_VALUE"
            np.testing.assert_array_equal(weight, saved.get_tensor(name))
    pairs = sts.read(sts.sources(sts_dev)[0]).pairs
    assert pearson(model, pairs) == pytest.approx(best.value, abs=1e-5)


def test_another_run_gives_its_averaged_weights(reddit_run, blank):
    model = blank("reddit_nli", task__model__encoder__averaging__word_dropout=0.1)
    head = [value.numpy() for value in model.nli_head.weights]
    trained.initialize(model, str(reddit_run))
    other, _ = trained.load(reddit_run)
    for part in ("encoder", "response_network"):
        assert_same(getattr(model, part), getattr(other, part).weights)
    assert_same(model.nli_head, head)


def test_a_model_of_nli_alone_gives_its_encoder_and_head(parse, blank, tmp_path):
    params = parse("nli", trainer__average_decay=0.5)
    other = blank("nli")
    average = WeightAverage(other, params.trainer)
    for value in average.values:
        value.assign_add(tf.ones_like(value))
    checkpoint = save(other, params, tmp_path, average=average)
    model = blank("reddit_nli")
    trained.initialize(model, checkpoint)  # a checkpoint may be named too
    for part in ("encoder", "nli_head"):
        assert_same(getattr(model, part), [value + 1 for value in getattr(other, part).weights])


TRANSFORMER = {
    "task__model__encoder__type": "transformer",
    **{f"task__model__encoder__transformer__{name}": 1 for name in ("layers", "heads")},
    **{f"task__model__encoder__transformer__{name}": 8 for name in ("hidden", "filter")},
}


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        (TRANSFORMER, "encoder has type"),
        ({"task__model__encoder__averaging__word_dim": 8}, "word_dim"),
        ({"task__model__text__word_buckets": 100}, "table_sizes"),
        ({"task__model__response_network__residual": True}, "response_network has residual"),
        ({"task__model__encoder__averaging__bigram_weight": 0.25}, "bigram_weight"),
    ],
)
def test_weights_that_do_not_fit_are_refused(reddit_run, blank, changes, part):
    with pytest.raises(InputError, match=rf"ckpt-60' is of another model.*{part}"):
        trained.initialize(blank(**changes), str(reddit_run))


def test_what_is_no_model_folder_and_a_failed_run_are_named(blank, parse, tmp_path, capsys):
    model = blank()
    for path in (tmp_path / "nowhere", tmp_path / "ckpt-7"):
        with pytest.raises(InputError, match=str(path)):
            trained.initialize(model, str(path))
        with pytest.raises(InputError, match=str(path)):
            trained.load(path)
    checkpoint = save(model, parse(), tmp_path)
    record.write(tmp_path, record.Record(failure="the embeddings are one point"))
    trained.find_checkpoint(tmp_path)
    assert "the embeddings are one point" in capsys.readouterr().out
    (tmp_path / "params.yaml").unlink()
    with pytest.raises(InputError, match=r"params\.yaml"):
        trained.initialize(model, checkpoint)
    model_dir.write(parse(task__model__text__word_buckets=50), tmp_path, record.Record())
    with pytest.raises(InputError, match=checkpoint):
        trained.load(tmp_path)
