"""Decays of the learning rate: over all steps of the run unless their own are named."""

import pytest
import tensorflow as tf

from model.errors import InputError
from model.training import monitoring, optimizer

RATE = "trainer__optimizer_config__learning_rate"


def decay(parse, kind, **changes):
    return parse(
        **{f"{RATE}__type": kind, f"{RATE}__{kind}__initial_learning_rate": 0.1},
        **{
            name if name.startswith("trainer") else f"{RATE}__{kind}__{name}": value
            for name, value in changes.items()
        },
    )


def rate_at(params, number):
    built = optimizer.build(params)
    built.iterations.assign(number)
    return monitoring.learning_rate(built)


@pytest.mark.parametrize("named", [{}, {"decay_steps": 0}, {"decay_steps": 200}])
def test_a_linear_decay_takes_all_steps(parse, named):
    params = decay(parse, "polynomial", end_learning_rate=0.02, trainer__train_steps=200, **named)
    rates = [rate_at(params, number) for number in (0, 100, 200)]
    assert rates == pytest.approx([0.1, 0.06, 0.02])
    assert optimizer.notice(params.trainer) is None
    assert params.trainer.optimizer_config.learning_rate.get().decay_steps == named.get(
        "decay_steps"
    )


@pytest.mark.parametrize(("kind", "half"), [("cosine", 0.05), ("power_linear", 0.1 * 100**-0.5)])
def test_so_do_the_others(parse, kind, half):
    params = decay(parse, kind, trainer__train_steps=200)
    assert rate_at(params, 100) == pytest.approx(half)
    assert rate_at(params, 200) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("kind", ["cosine", "polynomial"])
def test_an_offset_begins_behind_the_warm_up_at_most(parse, kind):
    with pytest.raises(InputError, match=rf"{kind}.offset: 50; accepted: at most the steps of the"):
        decay(parse, kind, offset=50)
    warmup = "trainer__optimizer_config__warmup"
    linear = {f"{warmup}__type": "linear", f"{warmup}__linear__warmup_steps": 50}
    params = decay(parse, kind, offset=50, trainer__train_steps=200, **linear)
    assert rate_at(params, 50) == pytest.approx(0.1)
    if kind == "cosine":
        assert rate_at(params, 125) == pytest.approx(0.05)  # halfway from 50 to 200
        assert rate_at(params, 200) == pytest.approx(0, abs=1e-9)


def test_the_rate_is_that_of_the_optimizer_with_its_own_decay(parse):
    of_sgd = "trainer__optimizer_config__optimizer"
    params = parse(**{f"{of_sgd}__type": "sgd", f"{of_sgd}__sgd__decay": 1.0})
    assert rate_at(params, 19) == pytest.approx(rate_at(params, 0) / 20)


def test_steps_at_the_end_rate_are_said(parse):
    params = decay(parse, "polynomial", decay_steps=60, trainer__train_steps=200)
    assert optimizer.notice(params.trainer) == (
        "trainer.optimizer_config.learning_rate.polynomial.decay_steps is 60: the steps from 60 to "
        "200 train at the end rate; 0 stands for all steps of the run"
    )
    assert optimizer.notice(parse().trainer) is None
    params = decay(parse, "polynomial", decay_steps=300, trainer__train_steps=200)
    assert "the run ends at step 200, before the learning rate has fallen" in optimizer.notice(
        params.trainer
    )


def test_a_warm_up_that_does_not_end_is_said(parse):
    warmup = "trainer__optimizer_config__warmup"
    linear = {f"{warmup}__type": "linear", f"{warmup}__linear__warmup_steps": 40}
    assert optimizer.notice(parse(**linear, trainer__train_steps=41).trainer) is None
    assert optimizer.notice(parse(**linear, trainer__train_steps=40).trainer) == (
        "trainer.optimizer_config.warmup.linear.warmup_steps is 40 in a run of 40 steps: the "
        "learning rate never reaches its full value"
    )


@pytest.mark.slow
def test_the_rate_goes_on_where_a_run_is_prolonged(ends, tmp_path):
    """20 steps from 0.1 to 0, then 20 more: at step 40 of 40 the rate is 0 again, not before."""
    folder = tmp_path / "run"
    changes = {
        f"{RATE}__type": "polynomial",
        f"{RATE}__polynomial__initial_learning_rate": 0.1,
        f"{RATE}__polynomial__end_learning_rate": 0.0,
        "trainer__steps_per_loop": 10,
        "trainer__summary_interval": 10,
    }
    assert ends(folder, **changes, trainer__train_steps=20)[0] == 0
    assert ends(folder, **changes, trainer__train_steps=40)[0] == 0
    assert rates(folder) == pytest.approx({10: 0.05, 20: 0.0, 30: 0.025, 40: 0.0})


def rates(folder):
    found = {}
    for path in sorted((folder / "train").glob("events.*")):
        for record in tf.data.TFRecordDataset(str(path)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                if value.tag == "learning_rate":
                    found[event.step] = float(tf.make_ndarray(value.tensor))
    return found
