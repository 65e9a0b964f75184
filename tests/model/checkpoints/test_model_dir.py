"""The folder of a run is refused for another run; its model, and weights to begin another with."""

import numpy as np
import pytest
import tensorflow as tf

from common import sts
from common.errors import InputError
from model.checkpoints import files, model_dir, trained
from model.checkpoints.model_dir import Best, Record
from model.dual_encoder import build
from model.ema import WeightAverage
from model.training.validation import pearson
from tests.model.training.test_resume import TRANSFORMER

SECTION = "task.train_data"
DATA = {SECTION: {"a": [3, "ab"], "b": [5, None]}}
RATE = "trainer__optimizer_config__learning_rate"


def begin(folder, params):
    tf.train.Checkpoint(variable=tf.Variable(1.0)).save(f"{folder}/ckpt")
    model_dir.write(params, folder, Record(data=DATA))
    return folder


@pytest.fixture
def begun(parse, tmp_path):
    """A folder with parameters, a record and a checkpoint."""
    return begin(tmp_path, parse())


@pytest.mark.parametrize(
    "changes",
    [
        {"task__seed": 5},
        {"task__model__score_scale": 5.0},
        {"task__train_data__global_batch_size": 16},
        {"task__objective__margin": 0.5},
        {f"{RATE}__constant__learning_rate": 0.1},
        {"trainer__average_decay": 0.5},
        {"trainer__optimizer_config__optimizer__type": "sgd"},
    ],
)
def test_what_decides_the_weights_may_not_change(begun, parse, changes):
    (name,) = (name.replace("__", ".") for name in changes)
    with pytest.raises(InputError, match=f"{name} was .*, now "):
        model_dir.prepare(parse(**changes), mode="train", folder=begun)


def test_its_length_and_machine_may_change_and_to_evaluate_all_but_the_model(begun, parse):
    changes = {
        "trainer__train_steps": 500,
        "trainer__checkpoint_interval": 7,
        "trainer__max_to_keep": 1,
        "runtime__distribution_strategy": "mirrored",
    }
    model_dir.prepare(parse(**changes), mode="train_and_eval", folder=begun, data=DATA)
    model_dir.prepare(parse(task__seed=5), mode="eval", folder=begun)
    for changes in ({"task__model__score_scale": 5.0}, {"trainer__average_decay": 0.5}):
        with pytest.raises(InputError, match=next(iter(changes)).replace("__", ".")):
            model_dir.prepare(parse(**changes), mode="eval", folder=begun)


@pytest.mark.parametrize(
    ("records", "name"),
    [
        ({"a": [3, "ac"], "b": [5, None]}, "a"),
        ({"a": [3, "ab"], "b": [6, None]}, "b"),
        ({"a": [3, "ab"]}, "b"),
        ({"a": [3, "ab"], "b": [5, None], "c": [1, None]}, "c"),
    ],
)
def test_a_run_goes_on_with_the_records_that_it_began_with(begun, parse, records, name):
    with pytest.raises(InputError, match=f"{SECTION}.input_path: '{name}' is"):
        model_dir.prepare(parse(), mode="train", folder=begun, data={SECTION: records})


def test_the_folders_that_no_run_goes_on_in(begun, parse, tmp_path, capsys):
    (begun / files.RUN_FILE).rename(begun / "elsewhere")
    with pytest.raises(InputError, match=files.RUN_FILE):
        model_dir.prepare(parse(), mode="train", folder=begun)
    model_dir.prepare(parse(), mode="eval", folder=begun)
    for path in begun.glob("ckpt*"):
        path.unlink()
    with pytest.raises(InputError, match=files.RUN_FILE):
        model_dir.prepare(parse(), mode="train", folder=begun)
    (begun / "elsewhere").rename(begun / files.RUN_FILE)
    # As a run that was killed at once has left it.
    model_dir.prepare(parse(), mode="train", folder=begun)
    with pytest.raises(InputError, match="no checkpoint to evaluate"):
        model_dir.prepare(parse(), mode="eval", folder=begun)
    # A best checkpoint alone: the run begins anew, unless it is another one.
    best = begin(begun / "best", parse())
    Record(best=Best(step=1, metric="p_at_1", value=0.5)).write(best)
    model_dir.prepare(parse(), mode="train", folder=begun)
    assert "restarts at step 0" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"task\.seed was 0, now 5"):
        model_dir.prepare(parse(task__seed=5), mode="train", folder=begun)
    for mode in ("train", "train_and_eval"):
        with pytest.raises(InputError, match="best checkpoint"):
            model_dir.prepare(parse(), mode=mode, folder=best)
    model_dir.prepare(parse(), mode="eval", folder=best)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("params.yaml", b"\xff\xfe\x00"),
        ("params.yaml", b"[]"),
        ("run.json", b"{"),
        ("run.json", b'{"best": {"step": "x"}}'),
    ],
)
def test_a_damaged_file_is_named(begun, parse, name, content):
    (begun / name).write_bytes(content)
    with pytest.raises(InputError, match=name):
        model_dir.prepare(parse(), mode="train", folder=begun)


STEPS, ALL = f"{RATE}__polynomial__decay_steps", "trainer__train_steps"


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ({}, {ALL: 90}),
        ({STEPS: 60}, {STEPS: 0, ALL: 90}),
        ({STEPS: 60}, {STEPS: 90, ALL: 90}),
        ({}, {STEPS: 60}),
        ({STEPS: 60}, {STEPS: 60, ALL: 90}),
        ({STEPS: 60}, {STEPS: 30}),
    ],
)
def test_a_decay_over_all_steps_follows_a_longer_run(tmp_path, parse, earlier, now):
    decay = {f"{RATE}__type": "polynomial", f"{RATE}__polynomial__initial_learning_rate": 0.1}
    begin(tmp_path, parse(**decay, **earlier))
    params = parse(**decay, **now)
    if now.get(STEPS) == 30:
        with pytest.raises(InputError, match="decay_steps was 60, now 30"):
            model_dir.prepare(params, mode="train", folder=tmp_path)
    else:
        model_dir.prepare(params, mode="train", folder=tmp_path)


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
    model_dir.write(params, folder, Record())
    return checkpoint


def test_a_model_is_the_average_that_was_validated(reddit_run, sts_dev):
    best = Record.read(reddit_run / "best").best
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


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        (TRANSFORMER, "encoder.type"),
        ({"task__model__encoder__averaging__word_dim": 8}, "word_dim"),
        ({"task__model__text__word_buckets": 100}, "text.word_buckets"),
        ({"task__model__response_network__residual": True}, "response_network.residual"),
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
    with pytest.raises(InputError, match=f"{tmp_path}/best"):
        trained.find_checkpoint(tmp_path, "best")  # it was not validated
    Record(failure="the embeddings are one point").write(tmp_path)
    trained.find_checkpoint(tmp_path)
    assert "the embeddings are one point" in capsys.readouterr().out
    (tmp_path / "params.yaml").unlink()
    with pytest.raises(InputError, match=r"params\.yaml"):
        trained.initialize(model, checkpoint)
    model_dir.write(parse(task__model__text__word_buckets=50), tmp_path, Record())
    with pytest.raises(InputError, match=checkpoint):
        trained.load(tmp_path)
