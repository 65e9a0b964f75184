"""The folder of a run: refused for another run, its best model, its weights for another run."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
import yaml

from model.checkpoints import model_dir, trained
from model.checkpoints.manager import BestCheckpoint
from model.dual_encoder import build
from model.errors import InputError
from model.training import run
from model.training.ema import WeightAverage
from model.training.validation import StsPairs


def values(folder, part):
    """The variables of the last checkpoint under a name such as `model/encoder`."""
    reader = tf.train.load_checkpoint(str(folder))
    names = [name for name in reader.get_variable_to_shape_map() if name.startswith(f"{part}/")]
    return {name: reader.get_tensor(name) for name in names}


def assert_same(layer, expected):
    for weight, value in zip(layer.trainable_weights, expected, strict=True):
        np.testing.assert_array_equal(weight, value)


@pytest.fixture
def begun(parse, tmp_path):
    """A folder with parameters and a checkpoint."""
    folder = str(tmp_path / "begun")
    tf.train.Checkpoint(variable=tf.Variable(1.0)).save(f"{folder}/ckpt")
    model_dir.write_params(parse(), folder)
    return folder


RATE = "trainer__optimizer_config__learning_rate__constant__learning_rate"


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"task__seed": 5}, "task.seed was 0, now 5"),
        ({"task__model__score_scale": 5.0}, "task.model.score_scale was 20.0, now 5.0"),
        ({"task__train_data__global_batch_size": 16}, "global_batch_size was 32, now 16"),
        ({"task__objective__margin": 0.5}, "task.objective.margin was 0.0, now 0.5"),
        ({RATE: 0.1}, r"trainer\.optimizer_config\..*learning_rate was 0.05, now 0.1"),
        ({"trainer__average_decay": 0.5}, "trainer.average_decay was 0.0, now 0.5"),
        ({"trainer__optimizer_config__optimizer__type": "sgd"}, "type was 'adagrad', now 'sgd'"),
    ],
)
def test_what_decides_the_weights_may_not_change(begun, parse, changes, difference):
    with pytest.raises(InputError, match=rf"holds a run with other parameters: .*{difference}"):
        model_dir.prepare(parse(**changes), mode="train", folder=begun)


@pytest.mark.parametrize(
    "changes",
    [
        {"trainer__train_steps": 500},
        {"trainer__checkpoint_interval": 7, "trainer__validation_interval": 9},
        {"trainer__steps_per_loop": 5, "trainer__summary_interval": 10},
        {"trainer__max_to_keep": 1, "trainer__validation_steps": 3},
        {"runtime__distribution_strategy": "mirrored"},
    ],
)
def test_how_long_and_on_what_machine_it_trains_may_change(begun, parse, changes):
    model_dir.prepare(parse(**changes), mode="train_and_eval", folder=begun)


def test_to_evaluate_only_the_model_must_be_the_same(begun, parse):
    model_dir.prepare(parse(task__seed=5), mode="eval", folder=begun)
    with pytest.raises(InputError, match="score_scale was"):
        model_dir.prepare(parse(task__model__score_scale=5.0), mode="eval", folder=begun)
    # Without an average in the checkpoint, its initial weights would be validated.
    for mode in ("eval", "continuous_eval"):
        with pytest.raises(InputError, match=r"average_decay was 0\.0, now 0\.5"):
            model_dir.prepare(parse(trainer__average_decay=0.5), mode=mode, folder=begun)


def test_nothing_trains_in_the_folder_of_a_best_checkpoint(parse, tmp_path):
    Best(parse(), tmp_path / "run").offer(1, p_at_1=0.5)
    best = str(tmp_path / "run" / "best")
    for mode in ("train", "train_and_eval", "continuous_eval"):
        with pytest.raises(InputError, match="holds the best checkpoint of a run, without what"):
            model_dir.prepare(parse(), mode=mode, folder=best)
    model_dir.prepare(parse(), mode="eval", folder=best)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"a": [3, "ab"], "b": [5, None]}, None),
        ({"a": [3, "ac"], "b": [5, None]}, "'a' has changed"),
        ({"a": [3, "ab"], "b": [6, None]}, "'b' has changed"),
        ({"a": [3, "ab"]}, "'b' is gone"),
        ({"a": [3, "ab"], "b": [5, None], "c": [1, None]}, "'c' is new"),
    ],
)
def test_a_run_goes_on_with_the_records_that_it_began_with(begun, now, said):
    section = "task.train_data"
    model_dir.require_data({section: now}, begun)  # of an earlier version
    model_dir.write_data({section: {"a": [3, "ab"], "b": [5, None]}}, begun)
    if said is None:
        model_dir.require_data({section: now}, begun)
        return
    said = rf"holds a run on other records: {section}\.input_path: {said}\. Name another folder"
    with pytest.raises(InputError, match=said):
        model_dir.require_data({section: now}, begun)


def test_a_users_file_of_parameters_is_not_replaced(parse, tmp_path):
    model_dir.write_params(parse(), str(tmp_path))  # as a run that was killed at once has
    model_dir.prepare(parse(), mode="train", folder=str(tmp_path))
    own = tmp_path / "params.yaml"
    own.write_text(f"# my choice\n{own.read_text()}")
    with pytest.raises(InputError, match=r"params\.yaml' was not written by training, which would"):
        model_dir.prepare(parse(), mode="train", folder=str(tmp_path))


def test_many_differences_are_counted(begun, parse):
    with pytest.raises(InputError, match=r"; and \d+ more\. Go on with those, or name another"):
        changes = {"task__seed": 5, "task__model__score_scale": 5.0, RATE: 0.1}
        model_dir.prepare(parse("reddit_nli", **changes), mode="train", folder=begun)


class Best:
    """The best of a model of one number, kept over resumes."""

    def __init__(self, params, folder):
        self._params, self._folder = params, folder
        self.step, self.weight = tf.Variable(0, dtype=tf.int64), tf.Variable(0.0)
        self.resume()

    def resume(self):
        self._best = BestCheckpoint(
            tf.train.Checkpoint(model=self.weight),
            global_step=self.step,
            folder=str(self._folder),
            params=self._params,
            writes=True,
        )

    def offer(self, step, **logs):
        self.step.assign(step)
        self.weight.assign(step)
        self._best.offer(logs)

    def kept(self):
        said = json.loads((self._folder / "best" / "best.json").read_text())
        (weight,) = values(self._folder / "best", "model").values()
        assert said["step"] == weight
        return said["step"], said["metric"], said["value"]


def test_a_worse_validation_does_not_replace_the_best_also_after_a_resume(parse, tmp_path):
    best = Best(parse(), tmp_path)
    best.offer(20, p_at_1=0.5, validation_loss=1.0)
    best.offer(40, p_at_1=0.4, validation_loss=0.1)
    assert best.kept() == (20, "p_at_1", 0.5)
    best.resume()
    best.offer(60, p_at_1=0.5)
    assert best.kept() == (20, "p_at_1", 0.5)
    best.offer(80, p_at_1=0.6)
    assert best.kept() == (80, "p_at_1", 0.6)
    assert [path.name for path in (tmp_path / "best").glob("*.index")] == ["ckpt-80.index"]


def test_sts_decides_where_it_is_measured_and_a_metric_can_be_named(parse, tmp_path):
    best = Best(parse(), tmp_path / "a")
    best.offer(20, p_at_1=0.5, sts_dev_pearson=0.7)
    best.offer(40, p_at_1=0.9, sts_dev_pearson=0.6)
    assert best.kept() == (20, "sts_dev_pearson", 0.7)
    best = Best(parse(trainer__best_checkpoint_eval_metric="p_at_3"), tmp_path / "b")
    best.offer(20, p_at_1=0.5, p_at_3=0.6)
    best.offer(40, p_at_1=0.4, p_at_3=0.7)
    assert best.kept() == (40, "p_at_3", 0.7)


LOSS = {
    "trainer__best_checkpoint_eval_metric": "validation_loss",
    "trainer__best_checkpoint_metric_comp": "lower",
}


def test_where_lower_is_better_the_lowest_is_kept_also_after_a_resume(parse, tmp_path):
    best = Best(parse(**LOSS), tmp_path)
    best.offer(20, validation_loss=4.52)
    best.offer(40, validation_loss=4.14)
    assert best.kept() == (40, "validation_loss", 4.14)
    best.resume()
    best.offer(60, validation_loss=4.3)
    best.offer(80, validation_loss=math.nan)
    best.offer(100, validation_loss=4.14)
    assert best.kept() == (40, "validation_loss", 4.14)
    best.offer(120, validation_loss=4.0)
    assert best.kept() == (120, "validation_loss", 4.0)


def test_a_best_of_another_metric_is_replaced_and_that_is_said(parse, tmp_path, capfd):
    best = Best(parse(), tmp_path)
    best.offer(20, p_at_1=0.5, validation_loss=1.0)
    json_file = tmp_path / "best" / "best.json"
    earlier = json.loads(json_file.read_text())
    del earlier["comp"]  # as runs wrote it before there was a choice
    json_file.write_text(json.dumps(earlier))
    best = Best(parse(**LOSS), tmp_path)
    assert "p_at_1" not in capfd.readouterr().out
    best.offer(40, p_at_1=0.4, validation_loss=3.0)
    assert best.kept() == (40, "validation_loss", 3.0)
    said = capfd.readouterr().out
    assert "was kept for the higher p_at_1 (0.5000 at step 20)" in said
    assert "from now on the lower validation_loss decides" in said


def test_a_parameter_that_an_earlier_version_did_not_have_was_at_its_default(begun, parse):
    path = f"{begun}/params.yaml"
    params = model_dir.read_params(begun)
    del params["task"]["model"]["nli"]["scale_by_root_of_dim"]
    del params["task"]["objective"]
    model_dir.write(path, yaml.safe_dump(params))
    model_dir.prepare(parse(), mode="train", folder=begun)
    with pytest.raises(InputError, match="scale_by_root_of_dim was True, now False"):
        model_dir.prepare(
            parse(task__model__nli__scale_by_root_of_dim=False), mode="train", folder=begun
        )


DECAY = {
    "trainer__optimizer_config__learning_rate__type": "polynomial",
    "trainer__optimizer_config__learning_rate__polynomial__initial_learning_rate": 0.1,
}
STEPS = "trainer__optimizer_config__learning_rate__polynomial__decay_steps"


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ({}, {"trainer__train_steps": 90}),
        ({STEPS: 60}, {STEPS: 0, "trainer__train_steps": 90}),
        ({STEPS: 60}, {STEPS: 90, "trainer__train_steps": 90}),
        ({}, {STEPS: 60}),
        ({STEPS: 60}, {STEPS: 60, "trainer__train_steps": 90}),
    ],
)
def test_a_decay_over_all_steps_follows_a_longer_run(tmp_path, parse, earlier, now):
    folder = str(tmp_path)
    tf.train.Checkpoint(variable=tf.Variable(1.0)).save(f"{folder}/ckpt")
    model_dir.write_params(parse(**DECAY | earlier), folder)
    model_dir.prepare(parse(**DECAY | now), mode="train", folder=folder)


def test_a_decay_over_other_steps_is_another(tmp_path, parse):
    folder = str(tmp_path)
    tf.train.Checkpoint(variable=tf.Variable(1.0)).save(f"{folder}/ckpt")
    model_dir.write_params(parse(**DECAY | {STEPS: 60}), folder)
    with pytest.raises(InputError, match="decay_steps was 60, now 30"):
        model_dir.prepare(parse(**DECAY | {STEPS: 30}), mode="train", folder=folder)


def test_what_is_no_number_is_never_the_best(parse, tmp_path):
    best = Best(parse(), tmp_path)
    best.offer(20, sts_dev_pearson=math.nan)
    assert not (tmp_path / "best").exists()
    best.offer(40, sts_dev_pearson=0.1)
    best.offer(60, sts_dev_pearson=math.nan)
    best.offer(80, sts_dev_pearson=0.05)
    assert best.kept() == (40, "sts_dev_pearson", 0.1)


@pytest.mark.slow
def test_the_best_of_a_run_can_be_loaded_and_exported(reddit_run, sts_dev):
    said = json.loads((reddit_run / "best" / "best.json").read_text())
    assert said["metric"] == "sts_dev_pearson"
    model, text = trained.load(reddit_run / "best")
    averaged = [value for _, value in sorted(values(reddit_run / "best", "average").items())]
    assert_same(model, averaged)
    pearson = StsPairs.read(str(sts_dev), text).pearson(model)
    assert pearson == pytest.approx(said["value"], abs=1e-5)


@pytest.fixture
def blank(parse):
    """Makes an untrained model."""

    def make(*experiment, **changes):
        return build(parse(*experiment, **changes).task.model, seed=9)

    return make


def test_another_run_gives_its_averaged_weights(reddit_run, blank):
    model = blank("reddit_nli")
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
    folder = str(tmp_path / "nli")
    saved = tf.train.Checkpoint(model=other, average=average).save(f"{folder}/ckpt")
    model_dir.write_params(params, folder)
    model = blank("reddit_nli")
    trained.initialize(model, saved)  # a checkpoint may be named too
    for part in ("encoder", "nli_head"):
        assert_same(getattr(model, part), [value + 1 for value in getattr(other, part).weights])


@pytest.mark.parametrize(
    "changes",
    [
        {
            "task__model__encoder__type": "transformer",
            **{f"task__model__encoder__transformer__{name}": 1 for name in ("layers", "heads")},
            **{f"task__model__encoder__transformer__{name}": 8 for name in ("hidden", "filter")},
        },
        {"task__model__encoder__averaging__word_dim": 8},
        {"task__model__encoder__averaging__hidden": "[7]"},
        {"task__model__text__word_buckets": 100},
        {"task__model__response_network__hidden": "[5]"},
        {"task__model__response_network__residual": True},  # of the same shapes
        {"task__model__encoder__averaging__activation": "relu"},
        {"task__model__encoder__averaging__bigram_weight": 0.25},
    ],
)
def test_weights_that_do_not_fit_are_refused(reddit_run, blank, changes):
    with pytest.raises(InputError, match=r"task.init_checkpoint: .*ckpt-60' is of another model"):
        trained.initialize(blank(**changes), str(reddit_run))


def test_parts_that_the_new_model_lacks_are_named(parse, tmp_path, capsys):
    changes = {"task__model__learned_score_scale": True, "task__model__context_turns": 1}
    params = parse(trainer__average_decay=0.0, **changes)
    other = build(params.task.model, seed=0)
    folder = str(tmp_path / "run")
    saved = tf.train.Checkpoint(model=other).save(f"{folder}/ckpt")
    model_dir.write_params(params, folder)
    trained.initialize(build(params.task.model, seed=1), saved)
    assert "warning" not in capsys.readouterr().out
    trained.initialize(build(parse().task.model, seed=1), saved)
    assert capsys.readouterr().out.splitlines() == [
        f"warning: task.init_checkpoint: {saved} has a learned score scale, which is not used here",
        f"warning: task.init_checkpoint: {saved} has a network of earlier messages, which is not "
        "used here",
    ]


def test_dropout_may_differ(reddit_run, blank):
    trained.initialize(blank(task__model__encoder__averaging__word_dropout=0.1), str(reddit_run))


def test_parameters_that_are_no_text_are_named(begun):
    (Path(begun) / "params.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"no params.yaml that says what it is of: .*utf-8"):
        model_dir.read_params(begun)


def test_who_loads_a_failed_run_is_told(reddit_run, tmp_path, capsys):
    folder = shutil.copytree(reddit_run, tmp_path / "failed")
    model_dir.write_failure(str(folder), "the embeddings are one point")
    trained.last_checkpoint(folder)
    said = f"warning: {folder}: the run failed: the embeddings are one point\n"
    assert said in capsys.readouterr().out
    trained.last_checkpoint(reddit_run)
    assert "failed" not in capsys.readouterr().out


def test_there_is_no_checkpoint_to_begin_from(blank, parse, tmp_path):
    model = blank()
    for path in (tmp_path, tmp_path / "ckpt-7"):
        with pytest.raises(
            InputError, match=rf"task.init_checkpoint: '{path}' holds no checkpoint"
        ):
            trained.initialize(model, str(path))
    tf.train.Checkpoint(model=model).save(str(tmp_path / "ckpt"))
    with pytest.raises(InputError, match=r"task.init_checkpoint: .*but no params.yaml"):
        trained.initialize(model, str(tmp_path))
    params = parse(task__init_checkpoint=tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"task.init_checkpoint: '.*nowhere' holds no checkpoint"):
        run.run_experiment(params, mode="train", folder=str(tmp_path / "run"))


@pytest.mark.slow
def test_a_run_goes_on_when_the_one_it_began_from_is_gone(reddit_run, parse, tmp_path):
    other, folder = tmp_path / "other", tmp_path / "run"
    shutil.copytree(reddit_run, other)
    params = parse(task__init_checkpoint=other, trainer__train_steps=20)
    run.run_experiment(params, mode="train", folder=str(folder))
    shutil.rmtree(other)
    params = parse(task__init_checkpoint=other, trainer__train_steps=40)
    run.run_experiment(params, mode="train", folder=str(folder))
    assert tf.train.latest_checkpoint(str(folder)).endswith("ckpt-40")
